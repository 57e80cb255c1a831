/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct err;
struct trace;
struct trace_cluster;

/*
 * Made-up traces that look like the life of a GPU cluster: teams of different size that work by day and rest at weekends,
 * sweeps of many like jobs at once, jobs from a fraction of a GPU to gangs of 64 pods, run times from seconds to days.
 * The same settings and seed give the same trace, byte for byte, on every machine.
 */
struct trace_recipe {
    uint64_t seed;
    double days;
    uint32_t gpus;  // of the cluster
    uint32_t gpus_per_node;
    uint32_t jobs;
    const char *const *queues;  // names
    uint32_t queue_count;
    double load;              // GPU time asked for / GPU time there is
    double failures_per_day;  // of nodes; each is back after some hours
};

enum { RECIPE_JOBS_MAX = 10000000, RECIPE_QUEUES_MAX = 1000, RECIPE_GPUS_MAX = 1000000 };

/* 30 days of 2,000 GPUs, 100,000 jobs, load 0.9; no queues yet. */
void trace_recipe_init(struct trace_recipe *recipe);

/* Fills an empty trace. Fails with -EINVAL for settings that make no sense. */
MUST_CHECK int trace_generate(struct trace *trace, const struct trace_recipe *recipe, struct err *err);

/* Adds the cluster that the trace is for: equal nodes in racks, and a queue for each team. */
void trace_recipe_cluster(const struct trace_recipe *recipe, struct trace *trace, struct trace_cluster *cluster);

/* GPUs of each team, halfway between what it asks for and an equal part; together they are all there are. */
void trace_team_quotas(const struct trace_recipe *recipe, uint32_t *ret);

/* The name of node `i`, which is also what failures name. Returns `text`. */
enum { TRACE_NODE_NAME_MAX = 24 };
const char *trace_node_name(uint32_t i, char text[static TRACE_NODE_NAME_MAX]);
