/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/pod.h"

/*
 * Who had which GPU when: the plan that a Gantt chart draws. A node has a lane for each GPU; which one a pod of whole GPUs
 * gets is made up here, lowest first, since it does not matter to anyone. Lanes count in hundredths of a GPU.
 */
enum { GANTT_LANE = 100, GANTT_SEGMENTS_MAX = 300000 };

enum gantt_end { GANTT_RUNS, GANTT_DONE, GANTT_EVICTED, GANTT_FAILED };

struct gantt_segment {
    uint32_t node;
    uint32_t job;
    uint32_t next;  // of the same pod, NO_ID
    uint32_t top;   // hundredths of a GPU from the top of the node
    uint32_t height;
    enum gantt_end how;
    nsec_t start;
    nsec_t end;
};

struct gantt_lane {
    gpu_group group;    // that shares it, 0 when nobody or a whole pod is on it
    uint64_t taken[2];  // a bit a hundredth
};

struct gantt_node {
    VEC(struct gantt_lane) lanes;
};

struct gantt {
    VEC(struct gantt_segment) segments;
    VEC(struct gantt_node) nodes;  // by node id
    VEC(uint32_t) open;            // by pod id: its first open segment, NO_ID when it has none
    bool is_cut;                   // there were more than GANTT_SEGMENTS_MAX
    bool is_off;
};

void gantt_done(struct gantt *gantt);

/* Where a pod starts: on so many billionths of the node's GPUs, or on a part of each of the groups. */
struct gantt_place {
    node_id node;
    uint32_t lanes;  // GPUs of the node
    int64_t gpus;
    const struct group_list *groups;
};

void gantt_start(struct gantt *gantt, pod_id pod, uint32_t job, const struct gantt_place *place, nsec_t now);

/* The pod is gone. Nothing when it was not there. */
void gantt_stop(struct gantt *gantt, pod_id pod, enum gantt_end how, nsec_t now);

/* Ends all that still run. */
void gantt_finish(struct gantt *gantt, nsec_t now);
