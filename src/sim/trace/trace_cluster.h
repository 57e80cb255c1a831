/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "sim/trace/trace.h"

/*
 * The cluster that a trace is for: what nodes it has and which queues its work goes to. Names are the trace's.
 */
struct trace_node {
    trace_name name;
    trace_name labels;  // "key=value;key=value", 0: none
    uint32_t gpus;
    int64_t cpu_milli;
    int64_t memory_bytes;
};

/* A queue below the one parent that all of them have. */
struct trace_queue {
    trace_name name;
    double quota;  // GPUs; -1: unlimited
};

struct trace_cluster {
    VEC(struct trace_node) nodes;
    VEC(struct trace_queue) queues;
};

void trace_cluster_done(struct trace_cluster *cluster);

/* GPUs of all nodes. */
uint64_t trace_cluster_gpus(const struct trace_cluster *cluster);

/*
 * Writes Kubernetes manifests: the nodes, the queues below one called "all", and settings by which each queue has victims
 * looked for on behalf of one workload at a time.
 */
void trace_cluster_write(const struct trace_cluster *cluster, const struct trace *trace, FILE *out);
