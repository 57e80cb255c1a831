/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

/*
 * What of a pod its grouping looks at, as JSON: a queue of thousands of whole pods would be most of the memory of the
 * service.
 */
struct pod_text {
    char *text;  // to be freed by the caller
    size_t len;
    uint64_t digest;  // the same while nothing of it changes that matters; never 0
    bool has_owner;
};

struct pod_text pod_text_of(yyjson_val *pod);
