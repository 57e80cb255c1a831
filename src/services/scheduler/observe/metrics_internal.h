/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "services/scheduler/observe/observer.h"
#include "text/metrics.h"

/* Where a queue stood in the last cycle; names are the state's. */
struct queue_figures {
    name_id name;
    name_id display_name;
    double fair[SHARE_COUNT];
    double usage[SHARE_COUNT];
};

/* One run of a generator for a gang, as far as the questions to the clock show it. */
struct search_time {
    enum action action;
    gang_id gang;
    uint32_t generator;
    nsec_t began;
    nsec_t last;
};

/* The meters of the scheduler, by KAI's names. */
struct scheduler_metrics {
    const struct scheduler_view *view;

    struct meter *e2e;
    struct meter *open_session;
    struct meter *close_session;
    struct meter *plugin;
    struct meter *action;
    struct meter *scheduled;
    struct meter *acted_on;
    struct meter *simulated;
    struct meter *filtered;
    struct meter *preemptions;
    struct meter *evicted;
    struct meter *searches;
    struct meter *exhausted;
    struct meter *duration;
    struct meter *scenarios;
    struct meter *task_latency;
    struct meter *bind_latency;
    struct meter *usage_latency;
    struct meter *fair[SHARE_COUNT];
    struct meter *usage[SHARE_COUNT];

    struct map64 seen;                 // action << 32 | gang: those that were scheduled in this cycle
    VEC(struct queue_figures) queues;  // for whoever asks
    VEC(struct search_time) times;     // of this cycle's searches
    should_stop_fn should_stop;        // that we stand before
    void *stop_context;
    enum action asked_action;
    gang_id asked_gang;
};

/* metrics_cycle.c: what a cycle did. */
void metrics_cycle_begin(struct scheduler_metrics *m);
void metrics_cycle_decision(struct scheduler_metrics *m, const struct decision *decision);
void metrics_cycle_end(struct scheduler_metrics *m, const struct scheduler_cycle *cycle);
void metrics_follow_clock(struct scheduler_metrics *m);

/* metrics_queues.c: shares and past use, kept when a cycle ends and rendered when somebody looks. */
void metrics_queues_init(struct scheduler_metrics *m, struct metrics *metrics);
void metrics_queues_keep(struct scheduler_metrics *m);
