/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/meters.h"

#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"
#include "frame/service.h"
#include "frame/work_meters.h"
#include "services/binder/binder_internal.h"
#include "text/metrics.h"

struct binder_meters {
    struct meter_series *bound, *failed, *duration, *due, *running, *reserved, *pods;
    struct work_meters work;
};

static void collect(void *arg, struct metrics *metrics)
{
    struct binder *binder = arg;
    struct binder_meters *meters = binder->meters;

    (void)metrics;
    meter_set(meters->due, (double)binder->items.due.len);
    meter_set(meters->running, (double)binder->items.running);
    meter_set(meters->reserved, (double)binder->roster.groups);
    meter_set(meters->pods, (double)binder->roster.pods);
    struct items_work work = items_work(&binder->items, nsec_now_monotonic());
    work_meters_show(&meters->work, binder->items.due.len, binder->items.running, work.sum, work.longest);
}

struct binder_meters *meters_new(struct binder *binder)
{
    static const double buckets[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};
    struct metrics *metrics = binder->service->metrics;
    struct binder_meters *meters = xcalloc(1, sizeof *meters);
    struct meter *attempts = metrics_counter(metrics, "binder_attempts_total", "Attempts to bind a pod, by outcome.",
                                             METER_LABELS("result"));

    *meters = (struct binder_meters){
        .bound = meter_series(attempts, METER_LABELS("bound")),
        .failed = meter_series(attempts, METER_LABELS("failed")),
        .duration =
            meter_series(metrics_histogram(metrics, "binder_attempt_duration_seconds",
                                           "Duration of an attempt to bind a pod.", NULL, buckets, ARRAY_LEN(buckets)),
                         NULL),
        .due = meter_series(
            metrics_gauge(metrics, "binder_requests_waiting", "BindRequests that wait to be processed.", NULL), NULL),
        .running =
            meter_series(metrics_gauge(metrics, "binder_requests_running", "BindRequests in progress.", NULL), NULL),
        .reserved =
            meter_series(metrics_gauge(metrics, "binder_gpu_groups", "Known GPU groups (shared GPUs).", NULL), NULL),
        .pods = meter_series(metrics_gauge(metrics, "binder_known_pods", "Pods that the binder keeps in memory.", NULL),
                             NULL),
    };
    work_meters_init(&meters->work, binder->service, "bindrequest", (uint32_t)binder->flags->reconciles_max);
    metrics_on_collect(metrics, collect, binder);
    return meters;
}

void meters_free(struct binder_meters *meters)
{
    free(meters);
}

void meters_added(struct binder_meters *meters)
{
    work_meters_added(&meters->work);
}

void meters_started(struct binder_meters *meters, nsec_t waited)
{
    work_meters_started(&meters->work, waited);
}

void meters_observe(struct binder_meters *meters, bool is_bound, nsec_t duration)
{
    meter_add(is_bound ? meters->bound : meters->failed, 1);
    meter_observe(meters->duration, (double)duration / (double)NSEC_PER_SEC);
    work_meters_ended(&meters->work, duration, is_bound);
}
