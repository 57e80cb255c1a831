/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/time.h"

#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"

/* The members of a pod that decide what its controller does; a hundred bytes instead of some kilobytes. */
struct pod_life {
    nsec_t ready_since;  // while it is ready
    nsec_t finished;     // when its last container ended; 0: not yet, or unknown
    int32_t deletion_cost;
    int32_t restarts;  // of all containers
    bool is_pending;   // not running yet
    bool is_succeeded;
    bool is_failed;
    bool is_ready;
    bool has_node;
    bool is_tracked;  // has the finalizer of Jobs
};

void pod_life_read(yyjson_val *pod, struct pod_life *ret_facts);

static inline bool pod_is_finished(const struct pod_life *facts)
{
    return facts->is_succeeded || facts->is_failed;
}

/* Whether it has been ready for `min_ready` by `now`. Otherwise `*ret_due` is when it will have been, if it stays ready;
 * 0 for one that is not ready. */
bool pod_is_available(const struct pod_life *facts, nsec_t min_ready, nsec_t now, nsec_t *ret_due);
