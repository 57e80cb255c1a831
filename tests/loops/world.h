/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct state;

/* A world: equal nodes, queues, and workloads in the order in which they arrive, all of one priority and preemptible. */
enum { NO_PARENT = -1, QUEUES_MAX = 5, WORKLOADS_MAX = 8 };

struct queue_row {
    int parent;  // index in the world's queues
    double quota;
};

struct workload {
    uint32_t queue;
    uint32_t gpus;
    bool is_gang;  // pods of one GPU each; else one pod
};

struct world {
    const char *name;  // NULL: one of all small ones
    uint32_t nodes;
    uint32_t node_gpus;
    uint32_t queue_count;
    struct queue_row queues[QUEUES_MAX];
    uint32_t count;
    struct workload workloads[WORKLOADS_MAX];
};

/* The time of all cycles. */
#define WORLD_NOW (INT64_C(1700000000) * NSEC_PER_SEC)

/* Nodes and queues, without workloads. The caller frees the state. */
struct state *world_begin(const struct world *world);

/* The workload with this number arrives. */
void world_submit(struct state *state, uint32_t number, const struct workload *workload);

/* Eviction loops that were reported for Kueue, with a GPU for each unit and the numbers of the issues. */
extern const struct world reported[];
extern const size_t reported_count;
