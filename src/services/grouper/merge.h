/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

/*
 * A pod group that is there, changed into what it should be. Some of it belongs to others once it exists, and is kept:
 * the queue, the node pool, whether pods are marked and backed off, and a topology that the workload does not name.
 */
struct merge_keys {
    const char *queue_label;
    const char *node_pool_label;
};

/* Changes `group`, the root of `doc` as the server has it, in place. Returns whether anything had to be changed. */
bool merge_group(yyjson_mut_doc *doc, yyjson_mut_val *group, yyjson_val *wanted, const struct merge_keys *keys);
