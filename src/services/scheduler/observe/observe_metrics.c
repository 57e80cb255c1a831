/* SPDX-License-Identifier: Apache-2.0 */

/* The metrics of a scheduler under the names that KAI's have, so that dashboards and alerts go on. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/config.h"
#include "engine/engine.h"
#include "frame/service.h"
#include "model/state.h"
#include "services/scheduler/observe/metrics_internal.h"
#include "services/scheduler/observe/observers.h"

enum { LATENCY_BUCKETS = 10, SEARCH_BUCKETS = 16 };

static void double_up(double first, double *buckets, size_t count)
{
    double bound = first;

    for (size_t i = 0; i < count; i++) {
        buckets[i] = bound;
        bound *= 2;
    }
}

static void make_latencies(struct scheduler_metrics *m, struct metrics *metrics)
{
    double buckets[LATENCY_BUCKETS];

    double_up(5, buckets, LATENCY_BUCKETS);
    m->e2e = metrics_gauge(metrics, "e2e_scheduling_latency_milliseconds", "Duration of the last cycle.", NULL);
    m->open_session = metrics_gauge(metrics, "open_session_latency_milliseconds",
                                    "Duration of the last cycle before its first action.", NULL);
    m->close_session = metrics_gauge(metrics, "close_session_latency_milliseconds",
                                     "Duration of the last cycle after its last action.", NULL);
    m->plugin = metrics_gauge(metrics, "plugin_scheduling_latency_milliseconds",
                              "Duration of a plugin in the last cycle, apart from the actions.",
                              METER_LABELS("plugin", "OnSession"));
    m->action = metrics_gauge(metrics, "action_scheduling_latency_milliseconds",
                              "Duration of an action in the last cycle.", METER_LABELS("action"));
    m->task_latency = metrics_histogram(metrics, "task_scheduling_latency_milliseconds",
                                        "From the creation of a pod until it was bound or its BindRequest created.",
                                        NULL, buckets, LATENCY_BUCKETS);
    m->bind_latency = metrics_histogram(metrics, "task_bind_latency_milliseconds",
                                        "From the decision until the pod was bound or its BindRequest created.", NULL,
                                        buckets, LATENCY_BUCKETS);
    (void)meter_series(m->task_latency, NULL);
    (void)meter_series(m->bind_latency, NULL);
    m->usage_latency = metrics_histogram(metrics, "usage_query_latency_milliseconds",
                                         "Duration of a query for past use.", NULL, buckets, LATENCY_BUCKETS);
    (void)meter_series(m->usage_latency, NULL);
}

static void make_counts(struct scheduler_metrics *m, struct metrics *metrics)
{
    const char *const *action = METER_LABELS("action");

    m->scheduled = metrics_counter(metrics, "podgroups_scheduled_by_action",
                                   "Pod groups that an action found places for.", action);
    m->acted_on =
        metrics_counter(metrics, "podgroups_acted_on_by_action", "Pod groups that an action tried to place.", action);
    m->simulated = metrics_counter(metrics, "scenarios_simulation_by_action",
                                   "Scenarios (sets of victims) that were simulated.", action);
    m->filtered = metrics_counter(metrics, "scenarios_filtered_by_action",
                                  "Scenarios (sets of victims) that were ruled out without a simulation.", action);
    m->preemptions = metrics_counter(metrics, "total_preemption_attempts",
                                     "Pod groups for which preempt searched for victims.", NULL);
    (void)meter_series(m->preemptions, NULL);
    m->evicted = metrics_counter(metrics, "pod_group_evicted_pods_total", "Pods of a pod group that were evicted.",
                                 METER_LABELS("podgroup", "namespace", "uid", "nodepool", "action"));
}

static void make_searches(struct scheduler_metrics *m, struct metrics *metrics)
{
    double buckets[SEARCH_BUCKETS];

    double_up(0.001, buckets, SEARCH_BUCKETS);
    m->searches = metrics_counter(metrics, "scenario_search_jobs_total", "Searches for victims by result.",
                                  METER_LABELS("action", "result", "reduced_budget"));
    m->exhausted = metrics_counter(metrics, "scenario_search_action_budget_exhausted_total",
                                   "Cycles in which an action reached its time limit.", METER_LABELS("action"));
    m->duration = metrics_histogram(metrics, "scenario_search_duration_seconds",
                                    "Duration of a search, from its first to its last scenario.",
                                    METER_LABELS("action", "generator", "result"), buckets, SEARCH_BUCKETS);
    m->scenarios = metrics_counter(metrics, "scenario_search_scenarios_total", "Scenarios (sets of victims) by state.",
                                   METER_LABELS("action", "generator", "state"));
}

static double seconds(nsec_t duration)
{
    return (double)duration / 1e9;
}

/* Budgets are configured once. */
static void set_budgets(const struct scheduler_metrics *m, struct metrics *metrics)
{
    static const char *const generators[] = {"NodeLocalGreedy", "MultiNodeGang"};
    const struct config *config = m->view->config;
    struct meter *action =
        metrics_gauge(metrics, "scenario_search_action_budget_configured_seconds",
                      "Time that an action may search in a cycle; 0 for no limit.", METER_LABELS("action"));
    struct meter *job = metrics_gauge(metrics, "scenario_search_job_budget_configured_seconds",
                                      "Time that a search for one pod group may take; 0 for no limit.", NULL);
    struct meter *generator =
        metrics_gauge(metrics, "scenario_search_generator_budget_configured_seconds",
                      "Time that a generator may take for one pod group; 0 for no limit.", METER_LABELS("generator"));

    for (uint32_t i = 0; i < config->action_count; i++) {
        enum action at = config->actions[i];

        if (at == ACTION_CONSOLIDATION || at == ACTION_RECLAIM || at == ACTION_PREEMPT)
            meter_set(meter_series(action, METER_LABELS(action_name(at))), seconds(config->budgets.action[at]));
    }
    meter_set(meter_series(job, NULL), seconds(config->budgets.job));
    for (uint32_t g = 0; g < config->generator_count; g++)
        meter_set(meter_series(generator, METER_LABELS(generators[config->generators[g] != PLUGIN_NODE_LOCAL_GREEDY])),
                  seconds(config->budgets.generator[g]));
}

static void on_cycle_begin(void *arg, const struct scheduler_cycle *cycle)
{
    (void)cycle;
    metrics_cycle_begin(arg);
}

static void on_decision(void *arg, const struct scheduler_cycle *cycle, const struct decision *decision)
{
    (void)cycle;
    metrics_cycle_decision(arg, decision);
}

static void on_cycle_end(void *arg, const struct scheduler_cycle *cycle)
{
    metrics_cycle_end(arg, cycle);
    metrics_queues_keep(arg);
}

static void on_carried_out(void *arg, const struct decision *decision, nsec_t took, const struct err *err)
{
    struct scheduler_metrics *m = arg;
    const struct state *state = m->view->state;
    const struct pod *pod = decision->pod < state->pods.len ? &state->pods.items[decision->pod] : NULL;

    if (err || decision->kind != DECISION_BIND)
        return;
    meter_observe(meter_series(m->bind_latency, NULL), (double)took / (double)NSEC_PER_MSEC);
    if (pod && pod->is_present && pod->created > 0)
        meter_observe(meter_series(m->task_latency, NULL),
                      (double)(nsec_now_wall() - pod->created) / (double)NSEC_PER_MSEC);
}

static void free_metrics(void *arg)
{
    struct scheduler_metrics *m = arg;

    map64_done(&m->seen);
    vec_done(&m->queues);
    vec_done(&m->times);
    free(m);
}

static void on_usage(void *arg, nsec_t took)
{
    struct scheduler_metrics *m = arg;

    meter_observe(meter_series(m->usage_latency, NULL), (double)took / (double)NSEC_PER_MSEC);
}

int observe_for_metrics(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err)
{
    struct scheduler_metrics *m = xcalloc(1, sizeof *m);
    struct metrics *metrics = view->service->metrics;

    (void)err;
    m->view = view;
    map64_init(&m->seen);
    make_latencies(m, metrics);
    make_counts(m, metrics);
    make_searches(m, metrics);
    set_budgets(m, metrics);
    metrics_queues_init(m, metrics);
    metrics_follow_clock(m);
    *ret = (struct scheduler_observer){
        .arg = m,
        .on_cycle_begin = on_cycle_begin,
        .on_decision = on_decision,
        .on_cycle_end = on_cycle_end,
        .on_carried_out = on_carried_out,
        .on_usage = on_usage,
        .free = free_metrics,
    };
    return 1;
}
