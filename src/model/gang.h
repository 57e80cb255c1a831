/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/resources.h"

/* Where the pods of a group must or should be together. Levels are label keys; aliases are resolved when it is read. */
struct topology_constraint {
    name_id topology;   // by name, since it may not exist; 0: no constraint
    name_id required;   // 0: none
    name_id preferred;  // 0: none
};

/*
 * A gang is a tree: inner groups, and pod sets as leaves. Groups are kept in one array, parents before children, the root
 * at 0. Counts follow every change of a pod's status, simulated ones too.
 */
struct group {
    name_id name;
    uint32_t parent;       // NO_ID for the root
    uint32_t first_child;  // NO_ID for pod sets and empty groups
    uint32_t next_sibling;
    uint32_t child_count;
    bool is_pod_set;
    int32_t min;  // pod sets: pods needed; groups: children needed, -1 for all of them
    struct topology_constraint topology;
    /* Pod sets only, from here on. */
    uint32_t pending;
    uint32_t active_allocated;
    uint32_t active_used;
    uint32_t alive;
    uint32_t gated;
    uint32_t pipelined;
    uint32_t virtual_releasing;  // evicted by a simulation: may be placed again in it
    VEC(pod_id) pods;            // in task order
};

struct gang {
    name_id name;
    name_id namespace;
    name_id uid;
    name_id queue_name;
    queue_id queue;  // NO_ID when there is no such queue
    bool is_present;
    bool is_preemptible;
    bool has_tree_error;  // its groups made no tree: it is one set that needs one pod
    bool has_grace;
    int32_t priority;
    nsec_t created;
    nsec_t last_start;     // 0: never
    nsec_t last_eviction;  // 0: never
    nsec_t stale_since;    // 0: not stale
    nsec_t preemption_delay;
    nsec_t staleness_grace;  // with has_grace; negative: never evicted for being stale
    struct group *groups;    // owned
    uint32_t group_count;
    uint32_t pending;  // sums over its pod sets
    uint32_t active_allocated;
    uint32_t active_used;
    uint32_t succeeded;
    uint32_t gated;
    uint32_t allocated;      // pods in ALLOCATED_SET
    uint32_t short_sets;     // pod sets with fewer active_used pods than they need
    uint32_t changed;        // a number that grows whenever one of its pods changes
    VEC(pod_id) stray_pods;  // name a pod set that is not there
    /* Kept by the model: what its pods count for in its queue, as of the last state_settle. */
    struct amounts own_allocated;
    struct amounts own_requested;
    int64_t own_requested_memory_mib;
    bool is_unsettled;
    bool places_are_stale;  // some pod's `place`
};
