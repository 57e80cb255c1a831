/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/work_meters.h"

#include "frame/process_internal.h"

#define NAMED METER_LABELS("name", "controller")
#define OF_CONTROLLER METER_LABELS("controller")

/* From 10 ns on, each ten times as long; and those of whole reconciliations. */
static const double work_buckets[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
static const double reconcile_buckets[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3,  0.35,
                                           0.4,   0.45, 0.5,   0.6,  0.7, 0.8,  0.9, 1,    1.25, 1.5,
                                           1.75,  2,    2.5,   3,    4,   5,    10,  20,   30,   60};

void work_meters_init(struct work_meters *meters, const struct service *service, const char *controller,
                      uint32_t workers)
{
    struct metrics *all = service_registry(service, "");
    const char *const *named = METER_LABELS(controller, controller);
    const char *const *one = METER_LABELS(controller);

    *meters = (struct work_meters){
        .depth = meter_series(
            metrics_gauge(all, "workqueue_depth", "Current depth of workqueue by workqueue name.", NAMED), named),
        .adds = meter_series(
            metrics_counter(all, "workqueue_adds_total", "Total number of adds handled by workqueue.", NAMED), named),
        .retries = meter_series(
            metrics_counter(all, "workqueue_retries_total", "Total number of retries handled by workqueue.", NAMED),
            named),
        .unfinished = meter_series(
            metrics_gauge(all, "workqueue_unfinished_work_seconds", "How many seconds of work are in progress.", NAMED),
            named),
        .longest = meter_series(metrics_gauge(all, "workqueue_longest_running_processor_seconds",
                                              "How many seconds the longest work in progress has taken.", NAMED),
                                named),
        .wait_seconds = meter_series(metrics_histogram(all, "workqueue_queue_duration_seconds",
                                                       "How long in seconds an item stays in the workqueue.", NAMED,
                                                       work_buckets, ARRAY_LEN(work_buckets)),
                                     named),
        .work_seconds = meter_series(metrics_histogram(all, "workqueue_work_duration_seconds",
                                                       "How long in seconds processing an item takes.", NAMED,
                                                       work_buckets, ARRAY_LEN(work_buckets)),
                                     named),
        .errors = meter_series(metrics_counter(all, "controller_runtime_reconcile_errors_total",
                                               "Total number of reconciliation errors.", OF_CONTROLLER),
                               one),
        .active = meter_series(
            metrics_gauge(all, "controller_runtime_active_workers", "Number of workers in use.", OF_CONTROLLER), one),
        .workers = meter_series(metrics_gauge(all, "controller_runtime_max_concurrent_reconciles",
                                              "Maximum number of concurrent reconciles.", OF_CONTROLLER),
                                one),
        .reconcile_seconds = meter_series(metrics_histogram(all, "controller_runtime_reconcile_time_seconds",
                                                            "Duration of a reconciliation.", OF_CONTROLLER,
                                                            reconcile_buckets, ARRAY_LEN(reconcile_buckets)),
                                          one),
    };
    struct meter *results = metrics_counter(all, "controller_runtime_reconcile_total",
                                            "Total number of reconciliations.", METER_LABELS("controller", "result"));
    meters->succeeded = meter_series(results, METER_LABELS(controller, "success"));
    meters->failed = meter_series(results, METER_LABELS(controller, "error"));
    meter_set(meters->workers, workers);
}

static double seconds(nsec_t time)
{
    return (double)time / (double)NSEC_PER_SEC;
}

void work_meters_added(struct work_meters *meters)
{
    meter_add(meters->adds, 1);
}

void work_meters_started(struct work_meters *meters, nsec_t waited)
{
    meter_observe(meters->wait_seconds, seconds(waited));
}

void work_meters_ended(struct work_meters *meters, nsec_t worked, bool is_good)
{
    meter_observe(meters->work_seconds, seconds(worked));
    meter_observe(meters->reconcile_seconds, seconds(worked));
    meter_add(is_good ? meters->succeeded : meters->failed, 1);
    if (is_good)
        return;
    meter_add(meters->errors, 1);
    meter_add(meters->retries, 1);
}

void work_meters_show(struct work_meters *meters, uint64_t depth, uint64_t active, nsec_t unfinished, nsec_t longest)
{
    meter_set(meters->depth, (double)depth);
    meter_set(meters->active, (double)active);
    meter_set(meters->unfinished, seconds(unfinished));
    meter_set(meters->longest, seconds(longest));
}
