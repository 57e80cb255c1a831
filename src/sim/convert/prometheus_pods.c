/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pods that Prometheus knew, as workloads. Pods of one owner that were created within minutes of each other are a gang: it
 * came with the first of them, ran from when the last one started, and ended with the last. Later ones of the same owner
 * are its next attempt, and a workload of their own.
 */
#include <stdlib.h>

#include "sim/convert/convert_internal.h"
#include "sim/convert/prometheus_internal.h"

enum { GANG_SECONDS = 300 };

struct ordered_pod {
    const struct prometheus_pod *pod;
    const struct trace *trace;
    uint32_t place;
};

/* The pods of one workload stand together, in the order of time; names are ordered by themselves, not by their ids. */
static int compare_pods(const void *l_, const void *r_)
{
    const struct ordered_pod *l = l_;
    const struct ordered_pod *r = r_;
    int order = strcmp(trace_str(l->trace, l->pod->namespace), trace_str(r->trace, r->pod->namespace));

    if (order == 0)
        order = strcmp(trace_str(l->trace, l->pod->owner), trace_str(r->trace, r->pod->owner));
    if (order == 0)
        order = (l->pod->created > r->pod->created) - (l->pod->created < r->pod->created);
    return order ? order : (l->place > r->place) - (l->place < r->place);
}

static bool is_same_gang(const struct prometheus_pod *first, const struct prometheus_pod *pod)
{
    return first->owner != 0 && first->owner == pod->owner && first->namespace == pod->namespace &&
           pod->created - first->created <= GANG_SECONDS;
}

/* Seconds since 1970, of which a sample may have any number; those beyond all time are refused with their workload. */
static nsec_t moment(double seconds)
{
    const double most = 9e9;

    return (nsec_t)((seconds > 0 ? MIN(seconds, most) : 0) * 1e3) * NSEC_PER_MSEC;
}

/* A pod that is not seen any more, though later samples are there, was deleted when it was last seen. */
static double end_of(const struct prometheus *p, const struct prometheus_pod *pod)
{
    if (pod->completed > 0)
        return pod->completed;
    return p->step > 0 && pod->last_seen + 2 * p->step < p->last_seen ? pod->last_seen : 0;
}

static int compare_parts(const void *l_, const void *r_)
{
    const struct trace_part *l = l_;
    const struct trace_part *r = r_;

    if (l->gpus != r->gpus)
        return l->gpus < r->gpus ? 1 : -1;
    if (l->cpu_milli != r->cpu_milli)
        return l->cpu_milli < r->cpu_milli ? 1 : -1;
    return (l->memory_bytes < r->memory_bytes) - (l->memory_bytes > r->memory_bytes);
}

/* Equal pods are put together, larger ones first. */
static void set_parts(struct converter *c, struct trace_job *job, const struct ordered_pod *pods, uint32_t count)
{
    VEC(struct trace_part) parts = {0};

    for (uint32_t i = 0; i < count; i++) {
        const struct prometheus_pod *pod = pods[i].pod;
        const uint32_t gpus = (uint32_t)MIN(pod->gpus, (int64_t)TRACE_GPUS_MAX);

        vec_push(&parts, (struct trace_part){1, gpus, pod->cpu_milli, pod->memory_bytes});
    }
    qsort(parts.items, parts.len, sizeof *parts.items, compare_parts);
    trace_set_parts(c->trace, job, parts.items, parts.len);
    vec_done(&parts);
}

static int add_gang(struct converter *c, const struct ordered_pod *pods, uint32_t count, struct err *err)
{
    const struct prometheus_pod *first = pods[0].pod;
    struct trace_job job = TRACE_JOB_INIT;
    double started = 0;
    double ended = 0;
    bool is_started = true;
    bool is_ended = true;

    for (uint32_t i = 0; i < count; i++) {
        double end = end_of(c->prometheus, pods[i].pod);

        is_started &= pods[i].pod->started > 0;
        is_ended &= end > 0;
        started = MAX(started, pods[i].pod->started);
        ended = MAX(ended, end);
    }
    job.name = first->owner ? first->owner : first->name;
    job.namespace = first->namespace;
    job.queue = first->queue ? first->queue : convert_queue(c, trace_str(c->trace, first->namespace));
    set_parts(c, &job, pods, count);
    if (!is_started)
        return convert_waited(c, moment(first->created), is_ended ? moment(ended) : 0, &job, err);
    if (is_ended && ended <= started) {
        convert_skip(c);
        return 0;
    }
    return convert_ran(c, moment(first->created), moment(started),
                       is_ended ? moment(ended) - moment(started) : TRACE_RUNS_ON, &job, err);
}

int convert_prometheus_finish(struct converter *c, struct err *err)
{
    VEC(struct ordered_pod) pods = {0};
    int r = 0;

    if (!c->prometheus)
        return 0;
    vec_foreach (&c->prometheus->pods, pod) {
        if (pod->created > 0 && !pod->is_of_node)
            vec_push(&pods, (struct ordered_pod){pod, c->trace, pods.len});
        else if (!pod->is_of_node)
            convert_skip(c);
    }
    if (pods.len > 0)
        qsort(pods.items, pods.len, sizeof *pods.items, compare_pods);
    for (uint32_t i = 0, next; r >= 0 && i < pods.len; i = next) {
        for (next = i + 1;
             next < pods.len && next - i < TRACE_PODS_MAX && is_same_gang(pods.items[i].pod, pods.items[next].pod);)
            next++;
        r = add_gang(c, pods.items + i, next - i, err);
    }
    vec_done(&pods);
    return r;
}
