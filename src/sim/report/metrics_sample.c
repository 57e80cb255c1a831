/* SPDX-License-Identifier: Apache-2.0 */

/* Which workloads a metric is about. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/resources.h"
#include "model/state.h"
#include "sim/report/metrics_internal.h"
#include "sim/run/run.h"

enum { NAME_MAX_BYTES = 1024 };

const struct size_class size_classes[SIZE_CLASS_COUNT] = {
    {"cpu", 0, 0},           {"fraction", 1e-9, 0.999999999}, {"1", 1, 1.999999999},
    {"2-7", 2, 7.999999999}, {"8-31", 8, 31.999999999},       {"32-127", 32, 127.999999999},
    {"128+", 128, INFINITY},
};

uint32_t size_class_of(double gpus)
{
    uint32_t i = 0;

    while (i + 1 < SIZE_CLASS_COUNT && gpus > size_classes[i].max)
        i++;
    return i;
}

bool size_parse(const char *text, double *ret_min, double *ret_max)
{
    char *end;

    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++)
        if (strcmp(text, size_classes[i].name) == 0) {
            *ret_min = size_classes[i].min;
            *ret_max = size_classes[i].max;
            return true;
        }
    *ret_min = *ret_max = strtod(text, &end);
    if (end == text || !(*ret_min >= 0))
        return false;
    if (strcmp(end, "+") == 0) {
        *ret_max = INFINITY;
        return true;
    }
    if (*end == '-') {
        const char *second = end + 1;

        *ret_max = strtod(second, &end);
        return end != second && *end == '\0' && *ret_max >= *ret_min;
    }
    return *end == '\0';
}

bool metric_counts(const struct sim_run *run, const struct sim_run_job *job)
{
    return job->from_trace || !run->has_trace;
}

double metric_wait(const struct sim_run *run, const struct sim_run_job *job)
{
    nsec_t until = job->first_start ? job->first_start : job->ended ? job->ended : run->end;

    return (double)(until - job->submitted) / 1e9;
}

/* Clocks of different machines wrote the two times. */
double metric_recorded_wait(const struct sim_run_job *job)
{
    return (double)MAX(job->recorded_start - job->submitted, (nsec_t)0) / 1e9;
}

double metric_percentile(const double *sorted, size_t count, double part)
{
    size_t rank = (size_t)ceil(part * (double)count);

    return count == 0 ? NAN : sorted[rank > 0 ? rank - 1 : 0];
}

static bool is_in_queue(const struct sim_run *run, uint32_t queue, const char *name)
{
    for (; queue != NO_ID; queue = run->queues.items[queue].parent)
        if (strcmp(state_name(run->state, run->queues.items[queue].name), name) == 0)
            return true;
    return false;
}

bool metric_has_queue(const struct sim_run *run, const char *name)
{
    for (uint32_t i = 0; i < run->queues.len; i++)
        if (strcmp(state_name(run->state, run->queues.items[i].name), name) == 0)
            return true;
    return false;
}

bool metric_is_workload(const struct sim_run *run, const struct sim_run_job *job, const char *pattern)
{
    struct strbuf name;
    bool is_it;

    strbuf_init(&name, NAME_MAX_BYTES);
    sim_run_job_name(run, job, &name);
    is_it = fnmatch(pattern, name.text, FNM_NOESCAPE) == 0 ||
            fnmatch(pattern, state_name(run->state, job->label), FNM_NOESCAPE) == 0;
    strbuf_done(&name);
    return is_it;
}

static bool passes(const struct sim_run *run, const struct sim_run_job *job, const struct metric_filter *filter)
{
    double gpus = gpu_to_double(job->gpus);

    if (!metric_counts(run, job) || (filter->queue && !is_in_queue(run, job->queue, filter->queue)))
        return false;
    if (filter->workload && !metric_is_workload(run, job, filter->workload))
        return false;
    return !filter->has_size || (gpus >= filter->size_min && gpus <= filter->size_max);
}

static int ascending(const void *l, const void *r)
{
    double a = *(const double *)l;
    double b = *(const double *)r;

    return (a > b) - (a < b);
}

void sample_init(struct sample *s, const struct sim_run *run, const struct metric_filter *filter)
{
    *s = (struct sample){.run = run, .filter = filter};
    for (uint32_t i = 0; i < run->jobs.len; i++) {
        const struct sim_run_job *job = &run->jobs.items[i];

        if (!passes(run, job, filter))
            continue;
        vec_push(&s->jobs, job);
        vec_push(&s->waits, metric_wait(run, job));
    }
    if (s->waits.len > 0)
        qsort(s->waits.items, s->waits.len, sizeof *s->waits.items, ascending);
}

void sample_done(struct sample *s)
{
    vec_done(&s->jobs);
    vec_done(&s->waits);
}
