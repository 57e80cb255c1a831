/* SPDX-License-Identifier: Apache-2.0 */

/* Each metric is a row of the table: what it is called and how it is made from a simulation and the jobs that count. */
#include "sim/report/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "model/resources.h"
#include "model/state.h"
#include "sim/run/run.h"

#define NSEC_HOUR 3.6e12

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

static bool passes(const struct sim_run *run, const struct sim_run_job *job, const struct metric_filter *filter)
{
    double gpus = gpu_to_double(job->gpus);

    if (!metric_counts(run, job) || (filter->queue && !is_in_queue(run, job->queue, filter->queue)))
        return false;
    return !filter->has_size || (gpus >= filter->size_min && gpus <= filter->size_max);
}

/* The jobs that count, and their waits in ascending order. */
struct sample {
    const struct sim_run *run;
    const struct metric_filter *filter;
    VEC(const struct sim_run_job *) jobs;
    VEC(double) waits;
};

static int ascending(const void *l, const void *r)
{
    double a = *(const double *)l;
    double b = *(const double *)r;

    return (a > b) - (a < b);
}

static void sample_init(struct sample *s, const struct sim_run *run, const struct metric_filter *filter)
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

static double count_jobs(struct sample *s)
{
    return s->jobs.len;
}

static double count_finished(struct sample *s)
{
    uint32_t count = 0;

    vec_foreach (&s->jobs, job)
        count += (*job)->ended != 0 && !(*job)->is_cancelled;
    return count;
}

static double count_never_started(struct sample *s)
{
    uint32_t count = 0;

    vec_foreach (&s->jobs, job)
        count += (*job)->first_start == 0;
    return count;
}

static double mean_wait(struct sample *s)
{
    double sum = 0;

    vec_foreach (&s->waits, wait)
        sum += *wait;
    return s->waits.len ? sum / s->waits.len : NAN;
}

#define PERCENTILE(percent)                                                      \
    static double CONCAT(p, CONCAT(percent, _wait))(struct sample * s)           \
    {                                                                            \
        return metric_percentile(s->waits.items, s->waits.len, percent / 100.0); \
    }
PERCENTILE(50)
PERCENTILE(90)
PERCENTILE(95)
PERCENTILE(99)

static double max_wait(struct sample *s)
{
    return s->waits.len ? vec_last(&s->waits) : NAN;
}

static double mean_turnaround(struct sample *s)
{
    double sum = 0;
    uint32_t count = 0;

    vec_foreach (&s->jobs, job) {
        if ((*job)->ended == 0 || (*job)->is_cancelled)
            continue;
        sum += (double)((*job)->ended - (*job)->submitted) / 1e9;
        count++;
    }
    return count ? sum / count : NAN;
}

static double gpu_time(struct sample *s)
{
    double sum = 0;

    vec_foreach (&s->jobs, job)
        sum += (*job)->used;
    return sum;
}

static double gpu_hours(struct sample *s)
{
    return gpu_time(s) / NSEC_HOUR;
}

static double use(struct sample *s)
{
    return s->run->capacity->total > 0 ? gpu_time(s) / s->run->capacity->total : NAN;
}

static double share(struct sample *s)
{
    return s->run->used->total > 0 ? gpu_time(s) / s->run->used->total : NAN;
}

/* The mean over time of what the queue was due, as a part of the cluster. */
static double fair_share(struct sample *s)
{
    const struct sim_run *run = s->run;

    if (!s->filter->queue || run->capacity->total <= 0)
        return NAN;
    for (uint32_t i = 0; i < run->queues.len; i++)
        if (strcmp(state_name(run->state, run->queues.items[i].name), s->filter->queue) == 0)
            return run->queues.items[i].share->total / run->capacity->total;
    return NAN;
}

static double evictions(struct sample *s)
{
    double sum = 0;

    vec_foreach (&s->jobs, job)
        sum += (*job)->evictions;
    return sum;
}

static double failures(struct sample *s)
{
    double sum = 0;

    vec_foreach (&s->jobs, job)
        sum += (*job)->failures;
    return sum;
}

static double lost_gpu_hours(struct sample *s)
{
    double sum = 0;

    vec_foreach (&s->jobs, job)
        sum += (*job)->lost;
    return sum / NSEC_HOUR;
}

/* Of the time of idle GPUs, the part that they spent on nodes that something else is on. */
static double fragmentation(struct sample *s)
{
    const struct sim_run *run = s->run;
    double broken = run->idle_partly->total + run->idle_shared->total;
    double idle = broken + run->idle_empty->total;

    return idle > 0 ? broken / idle : NAN;
}

static double makespan(struct sample *s)
{
    nsec_t first = NSEC_MAX;
    nsec_t last = 0;

    vec_foreach (&s->jobs, job) {
        first = MIN(first, (*job)->submitted);
        last = MAX(last, (*job)->ended ? (*job)->ended : s->run->end);
    }
    return s->jobs.len ? (double)(last - first) / 1e9 : NAN;
}

struct row {
    struct metric_info info;
    double (*compute)(struct sample *s);
};

static const struct row rows[] = {
    [METRIC_JOBS] = {{"jobs", UNIT_COUNT, 0, false, "workloads that came"}, count_jobs},
    [METRIC_FINISHED] = {{"finished", UNIT_COUNT, 1, false, "workloads that did all their work"}, count_finished},
    [METRIC_NEVER_STARTED] = {{"never_started", UNIT_COUNT, -1, false, "workloads that never ran"},
                              count_never_started},
    [METRIC_MEAN_WAIT] = {{"mean_wait", UNIT_SECONDS, -1, false, "mean time from submission to first start"},
                          mean_wait},
    [METRIC_P50_WAIT] = {{"p50_wait", UNIT_SECONDS, -1, false, "half of the workloads waited no longer"}, p50_wait},
    [METRIC_P90_WAIT] = {{"p90_wait", UNIT_SECONDS, -1, false, "90 % waited no longer"}, p90_wait},
    [METRIC_P95_WAIT] = {{"p95_wait", UNIT_SECONDS, -1, false, "95 % waited no longer"}, p95_wait},
    [METRIC_P99_WAIT] = {{"p99_wait", UNIT_SECONDS, -1, false, "99 % waited no longer"}, p99_wait},
    [METRIC_MAX_WAIT] = {{"max_wait", UNIT_SECONDS, -1, false, "the longest wait"}, max_wait},
    [METRIC_MEAN_TURNAROUND] = {{"mean_turnaround", UNIT_SECONDS, -1, false, "mean time from submission to the end"},
                                mean_turnaround},
    [METRIC_GPU_HOURS] = {{"gpu_hours", UNIT_HOURS, 0, false, "GPU time that workloads held"}, gpu_hours},
    [METRIC_USE] = {{"use", UNIT_PART, 1, false, "GPU time held, of all there was"}, use},
    [METRIC_SHARE] = {{"share", UNIT_PART, 0, false, "GPU time held, of all that was held"}, share},
    [METRIC_FAIR_SHARE] = {{"fair_share", UNIT_PART, 0, false, "mean fair share of a queue, of the cluster"},
                           fair_share},
    [METRIC_EVICTIONS] = {{"evictions", UNIT_COUNT, -1, false, "times that a workload lost pods to another one"},
                          evictions},
    [METRIC_FAILURES] = {{"failures", UNIT_COUNT, -1, false, "times that a failing node stopped a workload"}, failures},
    [METRIC_LOST_GPU_HOURS] = {{"lost_gpu_hours", UNIT_HOURS, -1, false, "GPU time whose work was thrown away"},
                               lost_gpu_hours},
    [METRIC_FRAGMENTATION] = {{"fragmentation", UNIT_PART, -1, true, "idle GPU time on nodes in part use, of all idle"},
                              fragmentation},
    [METRIC_MAKESPAN] = {{"makespan", UNIT_SECONDS, -1, false, "first submission to last end"}, makespan},
};
_Static_assert(ARRAY_LEN(rows) == _METRIC_MAX, "a row for each metric");

const struct metric_info *metric_info(enum metric metric)
{
    return &rows[metric].info;
}

bool metric_find(const char *name, size_t len, enum metric *ret)
{
    for (int i = 0; i < _METRIC_MAX; i++)
        if (strlen(rows[i].info.name) == len && strncmp(rows[i].info.name, name, len) == 0) {
            *ret = (enum metric)i;
            return true;
        }
    return false;
}

double metric_value(const struct sim_run *run, enum metric metric, const struct metric_filter *filter)
{
    struct sample s;
    double value;

    sample_init(&s, run, filter);
    value = rows[metric].compute(&s);
    vec_done(&s.jobs);
    vec_done(&s.waits);
    return value;
}
