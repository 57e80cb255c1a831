/* SPDX-License-Identifier: Apache-2.0 */

/* What the page shows of one simulation. Numbers are cut to what a plot can show. */
#include <math.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "engine/action.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/report/report.h"
#include "sim/report/standing.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"

enum { WORST_EVICTIONS = 25, EVICTIONS_SHOWN = 1000, NAME_MAX_BYTES = 1024 };
#define NSEC_HOUR 3.6e12

/* Four digits are finer than any screen. */
static void emit_short(struct emit *e, double value)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.4g", value);
    emit_double(e, NULL, strtod(text, NULL));
}

static void write_means(struct emit *e, const char *key, const struct timeline *timeline, const struct series *series)
{
    emit_open(e, key, '[');
    for (uint32_t i = 0; i < timeline_steps(timeline); i++)
        emit_short(e, series_mean(timeline, series, i));
    emit_close(e, ']');
}

static void write_sums(struct emit *e, const char *key, const struct timeline *timeline, const struct series *series,
                       double unit)
{
    emit_open(e, key, '[');
    for (uint32_t i = 0; i < timeline_steps(timeline); i++)
        emit_short(e, series->steps[i] / unit);
    emit_close(e, ']');
}

/* Where it stands at the end, in GPUs, and its place in the tree. Every queue is in the list. */
static void write_standing(struct emit *e, const struct queue_standings *list, uint32_t queue)
{
    const struct queue_standing *at = list->items;

    while (at->queue != queue)
        at++;
    emit_int(e, "rank", at - list->items);
    emit_int(e, "depth", at->depth);
    emit_open(e, "now", '{');
    emit_double(e, "fairShare", at->fair_share);
    emit_double(e, "allocated", at->allocated);
    emit_double(e, "borrowed", at->borrowed);
    emit_double(e, "lent", at->lent);
    emit_double(e, "pending", at->pending);
    emit_close(e, '}');
}

static void write_queue(struct emit *e, const struct sim_run *run, const struct queue_standings *standings,
                        uint32_t index)
{
    const struct sim_run_queue *queue = &run->queues.items[index];
    const struct queue *of = &run->state->queues.items[queue->id];
    const char *name = state_name(run->state, queue->name);

    emit_open(e, NULL, '{');
    emit_str(e, "name", name);
    emit_str(e, "parent", state_name(run->state, of->parent_name));
    emit_bool(e, "leaf", queue->is_leaf);
    write_standing(e, standings, index);
    emit_double(e, "quota", of->deserved[SHARE_GPU]);
    emit_double(e, "limit", of->limit[SHARE_GPU]);
    emit_double(e, "weight", of->weight[SHARE_GPU]);
    write_means(e, "allocated", &run->timeline, queue->used);
    write_means(e, "fairShare", &run->timeline, queue->share);
    write_means(e, "pending", &run->timeline, queue->pending);
    write_sums(e, "evicted", &run->timeline, queue->evictions, 1);
    write_sums(e, "lost", &run->timeline, queue->lost, NSEC_HOUR);
    metrics_write(e, run, name);
    emit_close(e, '}');
}

static int ascending(const void *l, const void *r)
{
    double a = *(const double *)l;
    double b = *(const double *)r;

    return (a > b) - (a < b);
}

/* A box plot's numbers for the waits of one group of jobs. */
static void write_box(struct emit *e, const struct sim_run *run, uint32_t queue, uint32_t size)
{
    static const double parts[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    VEC(double) waits = {0};

    for (uint32_t i = 0; i < run->jobs.len; i++) {
        const struct sim_run_job *job = &run->jobs.items[i];

        if (metric_counts(run, job) && (queue == NO_ID || job->queue == queue) &&
            (size == NO_ID || size_class_of(gpu_to_double(job->gpus)) == size))
            vec_push(&waits, metric_wait(run, job));
    }
    if (waits.len > 0) {
        qsort(waits.items, waits.len, sizeof *waits.items, ascending);
        emit_open(e, NULL, '{');
        if (queue != NO_ID)
            emit_str(e, "queue", state_name(run->state, run->queues.items[queue].name));
        if (size != NO_ID)
            emit_str(e, "size", size_classes[size].name);
        emit_int(e, "jobs", waits.len);
        emit_open(e, "p", '[');
        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
            emit_short(e, metric_percentile(waits.items, waits.len, parts[i]));
        emit_close(e, ']');
        emit_close(e, '}');
    }
    vec_done(&waits);
}

static void write_waits(struct emit *e, const struct sim_run *run)
{
    emit_open(e, "waitsByQueue", '[');
    for (uint32_t i = 0; i < run->queues.len; i++)
        if (run->queues.items[i].is_leaf)
            write_box(e, run, i, NO_ID);
    emit_close(e, ']');
    emit_open(e, "waitsBySize", '[');
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++)
        write_box(e, run, NO_ID, i);
    emit_close(e, ']');
    emit_open(e, "waitsByBoth", '[');
    for (uint32_t q = 0; q < run->queues.len; q++)
        for (uint32_t s = 0; run->queues.items[q].is_leaf && s < SIZE_CLASS_COUNT; s++)
            write_box(e, run, q, s);
    emit_close(e, ']');
}

static int costliest(const void *l, const void *r)
{
    const struct sim_run_eviction *a = *(const struct sim_run_eviction *const *)l;
    const struct sim_run_eviction *b = *(const struct sim_run_eviction *const *)r;

    if (a->lost != b->lost)
        return a->lost > b->lost ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void write_job_names(struct emit *e, const struct sim_run *run, const char *name_key, const char *queue_key,
                            uint32_t index)
{
    const struct sim_run_job *job = index == NO_ID ? NULL : &run->jobs.items[index];
    const char *queue = "";
    struct strbuf name;

    strbuf_init(&name, NAME_MAX_BYTES);
    if (job)
        sim_run_job_name(run, job, &name);
    if (job && job->queue != NO_ID)
        queue = state_name(run->state, run->queues.items[job->queue].name);
    emit_str(e, name_key, name.text);
    emit_str(e, queue_key, queue);
    strbuf_done(&name);
}

static void write_evictions(struct emit *e, const struct sim_run *run)
{
    VEC(const struct sim_run_eviction *) worst = {0};

    for (uint32_t i = 0; i < run->evictions.len; i++)
        vec_push(&worst, &run->evictions.items[i]);
    /* Without a trace nothing is lost: the order in which they happened says more. */
    if (worst.len > 0 && run->has_trace)
        qsort(worst.items, worst.len, sizeof *worst.items, costliest);
    emit_open(e, "evictions", '[');
    for (uint32_t i = 0; i < MIN(worst.len, (uint32_t)(run->has_trace ? WORST_EVICTIONS : EVICTIONS_SHOWN)); i++) {
        const struct sim_run_eviction *eviction = worst.items[i];

        emit_open(e, NULL, '{');
        emit_double(e, "time", (double)(eviction->time - run->start) / 1e9);
        write_job_names(e, run, "workload", "queue", eviction->job);
        write_job_names(e, run, "for", "forQueue", eviction->for_job);
        emit_int(e, "pods", eviction->pods);
        emit_double(e, "lost", eviction->lost / NSEC_HOUR);
        emit_str(e, "action", action_name((enum action)eviction->action));
        emit_close(e, '}');
    }
    emit_close(e, ']');
    vec_done(&worst);
}

static void write_cluster(struct emit *e, const struct sim_run *run)
{
    const struct timeline *timeline = &run->timeline;

    emit_double(e, "start", (double)run->start / 1e9);
    emit_double(e, "seconds", (double)(run->end - run->start) / 1e9);
    emit_double(e, "step", (double)timeline->step / 1e9);
    emit_int(e, "nodes", run->state->nodes_by_rank.len);
    emit_double(e, "gpus", gpu_to_double(run->state->total.v[SHARE_GPU]));
    emit_int(e, "cycles", (int64_t)run->cycles);
    emit_bool(e, "isCut", run->is_cut);
    emit_int(e, "evictedPods", (int64_t)run->evicted_pods);
    write_means(e, "capacity", timeline, run->capacity);
    write_means(e, "allocated", timeline, run->used);
    write_means(e, "empty", timeline, run->idle_empty);
    write_means(e, "partly", timeline, run->idle_partly);
    write_means(e, "shared", timeline, run->idle_shared);
    write_means(e, "waiting", timeline, run->waiting);
}

void report_write_run(struct emit *e, const struct report_run *of)
{
    const struct sim_run *run = of->run;
    struct queue_standings standings = {0};

    emit_open(e, NULL, '{');
    emit_str(e, "title", of->title ? of->title : "");
    write_cluster(e, run);
    metrics_write(e, run, NULL);
    queue_standings(run, &standings);
    emit_open(e, "queues", '[');
    for (uint32_t i = 0; i < run->queues.len; i++)
        write_queue(e, run, &standings, i);
    emit_close(e, ']');
    vec_done(&standings);
    write_waits(e, run);
    write_evictions(e, run);
    report_write_gantt(e, run);
    report_write_workloads(e, run);
    emit_close(e, '}');
}
