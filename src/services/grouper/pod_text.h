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
    char *text;
    size_t len;
};

/* To be freed by the caller. */
struct pod_text pod_text_of(yyjson_val *pod);

/* The same while nothing of it changes that matters; never 0. */
uint64_t pod_digest_of(yyjson_val *pod);

/* Where the pod stands, which its text does not say. */
struct pod_stand {
    bool has_owner;
    bool has_group;         // says which one it is in
    bool is_bound;          // or needs no node any more
    bool is_unschedulable;  // the scheduler has found no place for it
};

struct pod_stand pod_stand_of(yyjson_val *pod);
