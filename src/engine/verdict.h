/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "engine/action.h"
#include "model/ids.h"

/*
 * Why a workload does not run yet: the record that the last attempt at it left. Events, conditions, `why`, tables and
 * metrics all render it; no reason is kept as text. docs/verdicts.md says what each code means and what to do.
 */
enum verdict_code {
    VERDICT_NONE,       // nothing waits, or nothing was tried yet
    VERDICT_PLACED,     // bound in this cycle
    VERDICT_PROMISED,   // waits for pods that are leaving
    VERDICT_NOT_READY,  // too few of its pods exist
    VERDICT_NO_QUEUE,
    VERDICT_QUEUE_NOT_LEAF,
    VERDICT_OVER_LIMIT,       // a queue's limit
    VERDICT_OVER_QUOTA,       // a queue's quota, which non-preemptible work may not exceed
    VERDICT_OVER_FAIR_SHARE,  // no room, and its queue has its share already: nothing may be taken for it
    VERDICT_TOO_LARGE,        // no node has that much, even empty
    VERDICT_NO_NODE_ALLOWED,  // selectors, taints, conditions leave no node
    VERDICT_NO_ROOM,          // nodes that it may use are full
    VERDICT_NO_VICTIMS,       // no room, and nothing that may be evicted would make enough
    VERDICT_MISSING_VOLUME,
    VERDICT_MISSING_CONFIG_MAP,
    VERDICT_MISSING_CLAIM,
    VERDICT_NO_TOPOLOGY,         // the topology that it names does not exist
    VERDICT_TOPOLOGY_FULL,       // room enough, but not together
    VERDICT_PREEMPTION_DELAY,    // may not evict others yet
    VERDICT_SEARCH_LIMIT,        // a limit on the search ended it
    VERDICT_QUEUE_DEPTH,         // beyond the number of jobs that its queue offers to an action
    VERDICT_TOPOLOGY_TOO_SMALL,  // no domain has that much, even empty
    _VERDICT_CODE_MAX            // new codes go before it: journals count them
};

enum verdict_class {
    VERDICT_CLASS_FINE,
    VERDICT_CLASS_SOON,       // victims are leaving
    VERDICT_CLASS_NOT_NOW,    // quota, limit, fair share, capacity
    VERDICT_CLASS_BY_CHOICE,  // topology, delay, limits on the search
    VERDICT_CLASS_NEVER,      // not on this cluster, whatever leaves
};

struct verdict {
    enum verdict_code code;
    enum action action;  // that left it
    pod_id pod;          // the first pod that found no place, NO_ID when it did not come to that
    uint32_t placed;     // pods of its set that had found one
    uint32_t group;      // its pod set, or the group whose topology could not be met
    queue_id queue;      // that stands in the way, NO_ID when none does
    int resource;        // SHARE_* of a queue's limit or quota; a dimension for TOO_LARGE
    double requested;    // the numbers of that resource
    double allocated;
    double bound;  // limit, quota, fair share, or the largest node's capacity
    nsec_t until;  // PREEMPTION_DELAY: when it ends
};

const char *verdict_code_name(enum verdict_code code);  // "over_limit"
enum verdict_class verdict_class(enum verdict_code code);
const char *verdict_class_name(enum verdict_class class);  // "fine", "soon", "not now", "by choice", "never"
