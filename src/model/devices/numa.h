/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

/* A node's NUMA zones as its NodeResourceTopology reports them, with what decisions have drawn from them. */
enum numa_policy { NUMA_NONE, NUMA_BEST_EFFORT, NUMA_RESTRICTED, NUMA_SINGLE_NODE };
enum { NUMA_ZONES_MAX = 64 };

struct numa_zone {
    name_id name;
    int64_t *allocatable;  // vectors over the state's dimensions, -1 where the zone does not report the resource
    int64_t *available;
    int64_t *reported;  // what `available` starts from before pods draw from it
};

struct numa {
    enum numa_policy policy;
    bool is_pod_scope;
    bool reconstructs_available;  // pods on the node draw from what is reported
    uint32_t zone_count;
    uint32_t dims;  // length of each vector
    struct numa_zone *zones;
};

/* What a pod draws from the zones of its node: `amount` of dimension `dim` from the zone called `zone`. */
struct numa_draw {
    name_id zone;
    uint32_t dim;
    int64_t amount;
};

struct numa_placement {
    uint32_t count;
    struct numa_draw draws[];
};
