/* SPDX-License-Identifier: Apache-2.0 */

/* Each metric is a row of the table: what it is called and how it is made from a simulation and the jobs that count. */
#include "sim/report/metrics.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "model/books/books.h"
#include "model/resources.h"
#include "model/state.h"
#include "sim/report/metrics_internal.h"
#include "sim/run/run.h"

#define NSEC_HOUR 3.6e12

static double count_jobs(struct sample *s)
{
    return s->jobs.len;
}

static double count_completed(struct sample *s)
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

static double allocated(struct sample *s)
{
    return s->run->capacity->total > 0 ? gpu_time(s) / s->run->capacity->total : NAN;
}

static double share(struct sample *s)
{
    return s->run->used->total > 0 ? gpu_time(s) / s->run->used->total : NAN;
}

/* The mean over time of the queue's fair share, as a part of the cluster. */
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

/* Of the idle GPU time, the part on nodes with other GPUs in use, or in shared GPUs. */
static double fragmented(struct sample *s)
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

/* GPUs of the job's pods at the end: held by those that have a place, or asked for by those that wait. */
static int64_t gpus_at_end(const struct sim_run *run, const struct sim_run_job *job, bool is_allocated)
{
    int64_t gpus = 0;

    if (job->gang == NO_ID)
        return 0;
    const struct gang *gang = &run->state->gangs.items[job->gang];
    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            pod_id pod = gang->groups[g].pods.items[i];
            uint8_t status = run->state->pods.items[pod].status;

            if (is_allocated && status_in(status, ALLOCATED_SET))
                gpus += pod_accepted(run->state, pod).v[SHARE_GPU];
            else if (!is_allocated && status == POD_PENDING)
                gpus += pod_asked(run->state, pod).v[SHARE_GPU];
        }
    return gpus;
}

static double count_running(struct sample *s)
{
    uint32_t count = 0;

    vec_foreach (&s->jobs, job)
        count += sim_run_job_state(s->run, *job) == WORKLOAD_RUNNING;
    return count;
}

static double count_pending(struct sample *s)
{
    uint32_t count = 0;

    vec_foreach (&s->jobs, job)
        count += (*job)->gang != NO_ID && sim_run_job_state(s->run, *job) != WORKLOAD_RUNNING;
    return count;
}

static double sum_at_end(const struct sample *s, bool is_allocated)
{
    int64_t gpus = 0;

    vec_foreach (&s->jobs, job)
        gpus += gpus_at_end(s->run, *job, is_allocated);
    return gpu_to_double(gpus);
}

static double allocated_gpus(struct sample *s)
{
    return sum_at_end(s, true);
}

static double pending_gpus(struct sample *s)
{
    return sum_at_end(s, false);
}

struct row {
    struct metric_info info;
    double (*compute)(struct sample *s);
};

static const struct row rows[] = {
    [METRIC_WORKLOADS] = {{"workloads", UNIT_COUNT, 0, .help = "workloads submitted"}, count_jobs},
    [METRIC_COMPLETED] = {{"completed", UNIT_COUNT, 1, .help = "workloads that completed"}, count_completed},
    [METRIC_NEVER_STARTED] = {{"neverStarted", UNIT_COUNT, -1, .help = "workloads that never ran"},
                              count_never_started},
    [METRIC_MEAN_WAIT] = {{"meanWait", UNIT_SECONDS, -1, .help = "mean time from submission to first start"},
                          mean_wait},
    [METRIC_P50_WAIT] = {{"p50Wait", UNIT_SECONDS, -1, .help = "50% of the workloads waited at most this long"},
                         p50_wait},
    [METRIC_P90_WAIT] = {{"p90Wait", UNIT_SECONDS, -1, .help = "90% waited at most this long"}, p90_wait},
    [METRIC_P95_WAIT] = {{"p95Wait", UNIT_SECONDS, -1, .help = "95% waited at most this long"}, p95_wait},
    [METRIC_P99_WAIT] = {{"p99Wait", UNIT_SECONDS, -1, .help = "99% waited at most this long"}, p99_wait},
    [METRIC_MAX_WAIT] = {{"maxWait", UNIT_SECONDS, -1, .help = "longest wait"}, max_wait},
    [METRIC_MEAN_TURNAROUND] = {{"meanTurnaround", UNIT_SECONDS, -1, .help = "mean time from submission to completion"},
                                mean_turnaround},
    [METRIC_GPU_HOURS] = {{"gpuHours", UNIT_HOURS, 0, .help = "GPU hours allocated to running pods"}, gpu_hours},
    [METRIC_ALLOCATED] = {{"allocated", UNIT_PART, 1, .help = "GPU time allocated, of the total"}, allocated},
    [METRIC_SHARE] = {{"share", UNIT_PART, 0, .help = "GPU time allocated, of all allocated GPU time"}, share},
    [METRIC_FAIR_SHARE] = {{"fairShare", UNIT_PART, 0, .help = "mean fair share of a queue, of the cluster"},
                           fair_share},
    [METRIC_EVICTIONS] = {{"evictions", UNIT_COUNT, -1, .help = "times a workload lost pods to another one"},
                          evictions},
    [METRIC_NODE_FAILURES] = {{"nodeFailures", UNIT_COUNT, -1, .help = "times a failed node stopped a workload"},
                              failures},
    [METRIC_LOST_GPU_HOURS] = {{"lostGpuHours", UNIT_HOURS, -1, .help = "GPU hours of work lost since a checkpoint"},
                               lost_gpu_hours},
    [METRIC_FRAGMENTED] = {{"fragmented", UNIT_PART, -1, .is_of_cluster = true,
                            .help = "idle GPU time on partly used nodes, of all idle GPU time"},
                           fragmented},
    [METRIC_MAKESPAN] = {{"makespan", UNIT_SECONDS, -1, .help = "time from the first submission to the last end"},
                         makespan},
    [METRIC_RUNNING] = {{"running", UNIT_COUNT, 1, .is_at_end = true, .help = "workloads running at the end"},
                        count_running},
    [METRIC_PENDING] = {{"pending", UNIT_COUNT, -1, .is_at_end = true, .help = "workloads pending at the end"},
                        count_pending},
    [METRIC_ALLOCATED_GPUS] = {{"allocatedGpus", UNIT_GPUS, 0, .is_at_end = true, .help = "GPUs allocated at the end"},
                               allocated_gpus},
    [METRIC_PENDING_GPUS] = {{"pendingGpus", UNIT_GPUS, -1, .is_at_end = true,
                              .help = "GPUs that pending pods ask for at the end"},
                             pending_gpus},
};
_Static_assert(ARRAY_LEN(rows) == _METRIC_MAX, "a row for each metric");

const struct metric_info *metric_info(enum metric metric)
{
    return &rows[metric].info;
}

/* "p95_wait" is p95Wait to whoever types it. */
static bool is_name(const char *name, const char *typed, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (typed[i] == '_')
            continue;
        if (tolower((unsigned char)typed[i]) != tolower((unsigned char)*name))
            return false;
        name++;
    }
    return *name == '\0';
}

bool metric_find(const char *name, size_t len, enum metric *ret)
{
    for (int i = 0; i < _METRIC_MAX; i++)
        if (is_name(rows[i].info.name, name, len)) {
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
    sample_done(&s);
    return value;
}
