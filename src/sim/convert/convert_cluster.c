/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The cluster that goes with a converted trace. Queues are those that work went to; their quotas are parts of all GPUs by
 * the GPU time that each has used, unless a file gave them. Nodes that no file lists are made up: for each set of labels
 * that work selected by, as many as held all of that work which ran at one time, as it was recorded.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "model/resources.h"
#include "sim/convert/convert_internal.h"

enum { CORES_A_GPU = 16, GIB_A_GPU = 128, CORES_A_NODE = 64, GIB_A_NODE = 256, NODES_MAX = 1000000 };

/* Work that one set of nodes has to hold, at most at one time, and the largest pod of it. */
struct pool {
    trace_name selector;
    double now[SHARE_COUNT];
    double most[SHARE_COUNT];
    double pod[SHARE_COUNT];
};

/* Something that starts or ends. */
struct change {
    nsec_t time;
    uint32_t pool;
    int sign;
    uint32_t job;
};

struct planner {
    struct trace *trace;
    VEC(struct pool) pools;
    VEC(struct change) changes;
    struct map64 pool_by_selector;
};

/* Ends before starts of the same moment. */
static int compare_changes(const void *l_, const void *r_)
{
    const struct change *l = l_;
    const struct change *r = r_;

    if (l->time != r->time)
        return l->time < r->time ? -1 : 1;
    if (l->sign != r->sign)
        return l->sign < r->sign ? -1 : 1;
    return (l->job > r->job) - (l->job < r->job);
}

static void sum_job(const struct trace *trace, const struct trace_job *job, double ret[SHARE_COUNT])
{
    ret[SHARE_CPU] = ret[SHARE_MEMORY] = 0;
    ret[SHARE_GPU] = gpu_to_double(trace_job_gpus(trace, job));
    for (uint32_t i = 0; i < MAX(job->part_count, 1u); i++) {
        struct trace_part part = trace_part(trace, job, i);

        ret[SHARE_CPU] += (double)part.cpu_milli * part.pods;
        ret[SHARE_MEMORY] += (double)part.memory_bytes * part.pods;
    }
}

static uint32_t pool_of(struct planner *p, const struct trace_job *job)
{
    uint64_t index;

    if (!map64_get(&p->pool_by_selector, job->node_selector, &index)) {
        index = p->pools.len;
        map64_put(&p->pool_by_selector, job->node_selector, index);
        vec_push(&p->pools, (struct pool){.selector = job->node_selector});
    }
    return (uint32_t)index;
}

/* What never started asks for room as well: it came when it was submitted. */
static void add_job(struct planner *p, const struct trace_event *event)
{
    const struct trace_job *job = &p->trace->jobs.items[event->job];
    nsec_t start = job->recorded_start ? job->recorded_start : event->time;
    uint32_t index = pool_of(p, job);

    BUG_ON(index >= p->pools.len);
    struct pool *pool = &p->pools.items[index];
    for (uint32_t i = 0; i < MAX(job->part_count, 1u); i++) {
        struct trace_part part = trace_part(p->trace, job, i);

        pool->pod[SHARE_GPU] =
            MAX(pool->pod[SHARE_GPU], (double)MAX(part.gpus, (uint32_t)(job->kind != REQUEST_REGULAR)));
        pool->pod[SHARE_CPU] = MAX(pool->pod[SHARE_CPU], (double)part.cpu_milli);
        pool->pod[SHARE_MEMORY] = MAX(pool->pod[SHARE_MEMORY], (double)part.memory_bytes);
    }
    vec_push(&p->changes, (struct change){start, index, 1, event->job});
    if (job->run != TRACE_RUNS_ON)
        vec_push(&p->changes, (struct change){start + job->run, index, -1, event->job});
}

static void find_most(struct planner *p)
{
    if (p->changes.len > 0)
        qsort(p->changes.items, p->changes.len, sizeof *p->changes.items, compare_changes);
    vec_foreach (&p->changes, change) {
        struct pool *pool = &p->pools.items[change->pool];
        double amounts[SHARE_COUNT];

        sum_job(p->trace, &p->trace->jobs.items[change->job], amounts);
        for (int i = 0; i < SHARE_COUNT; i++) {
            pool->now[i] += change->sign * amounts[i];
            pool->most[i] = MAX(pool->most[i], pool->now[i]);
        }
    }
}

/* Labels that meet a selector: the first of several values. */
static trace_name labels_for(struct trace *trace, const char *selector)
{
    char text[254];
    size_t len = 0;
    bool is_other = false;

    for (; *selector && len + 1 < sizeof text; selector++) {
        is_other = *selector == ';' ? false : is_other || *selector == '|';
        if (!is_other)
            text[len++] = *selector;
    }
    text[len] = '\0';
    return trace_intern(trace, text);
}

static double round_up(double amount, double unit)
{
    return ceil(amount / unit) * unit;
}

static void make_nodes(struct trace *trace, struct conversion *conversion, const struct pool *pool)
{
    bool has_gpus = pool->most[SHARE_GPU] > 0;
    double gpus = has_gpus ? MAX((double)conversion->gpus_per_node, pool->pod[SHARE_GPU]) : 0;
    double cpu = MAX(has_gpus ? gpus * CORES_A_GPU * 1000 : CORES_A_NODE * 1000.0, pool->pod[SHARE_CPU]);
    double memory = MAX((has_gpus ? gpus * GIB_A_GPU : GIB_A_NODE) * 0x1p30, pool->pod[SHARE_MEMORY]);
    double count = has_gpus ? ceil(pool->most[SHARE_GPU] / gpus) : 0;
    char name[64];

    /* Nodes of GPUs have the CPUs that their work needs; nodes without are as many as CPUs and memory take. */
    if (has_gpus) {
        cpu = MAX(cpu, pool->most[SHARE_CPU] / count);
        memory = MAX(memory, pool->most[SHARE_MEMORY] / count);
    } else {
        count = MAX(ceil(pool->most[SHARE_CPU] / cpu), ceil(pool->most[SHARE_MEMORY] / memory));
    }
    count = CLAMP(count, 1.0, (double)NODES_MAX - MIN(conversion->cluster.nodes.len, (uint32_t)NODES_MAX - 1));
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        (void)snprintf(name, sizeof name, "node-%04u", conversion->cluster.nodes.len + 1);
        vec_push(&conversion->cluster.nodes, (struct trace_node){
                                                 .name = trace_intern(trace, name),
                                                 .labels = labels_for(trace, trace_str(trace, pool->selector)),
                                                 .gpus = (uint32_t)gpus,
                                                 .cpu_milli = (int64_t)round_up(cpu, 1000),
                                                 .memory_bytes = (int64_t)round_up(memory, 0x1p30),
                                             });
    }
    conversion->nodes_made_up += (uint32_t)count;
}

static void plan_nodes(struct trace *trace, struct conversion *conversion)
{
    struct planner p = {.trace = trace};

    vec_foreach (&trace->events, event)
        if (event->kind == TRACE_SUBMIT)
            add_job(&p, event);
    find_most(&p);
    vec_foreach (&p.pools, pool)
        make_nodes(trace, conversion, pool);
    vec_done(&p.pools);
    vec_done(&p.changes);
    map64_done(&p.pool_by_selector);
}

/* The queues of the trace in the order of its jobs, with the GPU time that each has used; `index` is by name. */
static void plan_queues(struct trace *trace, struct conversion *conversion)
{
    struct trace_cluster *cluster = &conversion->cluster;
    uint32_t given = cluster->queues.len;
    uint64_t gpus = trace_cluster_gpus(cluster);
    nsec_t end = trace->events.len > 0 ? vec_last(&trace->events).time : 0;
    struct map64 index = {0};
    double sum = 0;

    for (uint32_t i = 0; i < given; i++)
        map64_put(&index, cluster->queues.items[i].name, i);
    vec_foreach (&trace->events, event) {
        const struct trace_job *job = event->kind == TRACE_SUBMIT ? &trace->jobs.items[event->job] : NULL;
        uint64_t at;

        if (!job)
            continue;
        if (!map64_get(&index, job->queue, &at)) {
            at = cluster->queues.len;
            map64_put(&index, job->queue, at);
            vec_push(&cluster->queues, (struct trace_queue){job->queue, 0});
        }
        if (at < given)
            continue;
        nsec_t run = job->run != TRACE_RUNS_ON ? job->run : end - event->time + NSEC_PER_SEC;
        double used = gpu_to_double(trace_job_gpus(trace, job)) * ((double)run / 1e9);

        cluster->queues.items[at].quota += used;
        sum += used;
    }
    /* Without any use of GPUs, and beside queues whose quotas are known, there is nothing to divide by. */
    for (uint32_t i = given; i < cluster->queues.len; i++) {
        double *quota = &cluster->queues.items[i].quota;

        *quota = sum > 0 && given == 0 ? floor(*quota / sum * (double)gpus * 10) / 10 : 0;
    }
    map64_done(&index);
}

void convert_cluster(struct trace *trace, struct conversion *conversion)
{
    if (conversion->cluster.nodes.len == 0)
        plan_nodes(trace, conversion);
    plan_queues(trace, conversion);
}
