/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "views/workloads.h"

/* A workload while its objects are put together. */
struct joined {
    struct workload_row row;
    yyjson_val *group;    // the first of its PodGroups
    yyjson_val *waiting;  // its first pod that waits
    struct asked of_pods;
    int64_t pod_count, pods_pending, pods_ending, pods_nominated;
    VEC(const char *) nodes;
};

/* Adds what the pod says: its phase, node, times and exit code. */
void joined_add_pod(struct joined *joined, yyjson_val *pod);

/* Fills in the state with its reason, when everything has been added. Messages that are made are in `arena`. */
void joined_judge(struct joined *joined, struct arena *arena);

/* The time at a member; 0 when there is none. */
nsec_t view_time(const char *text);
