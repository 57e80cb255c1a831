/* SPDX-License-Identifier: Apache-2.0 */

/* Columns are tables: a title, and how a row's field is written. What is not known stays empty. */
#include "sim/report/export.h"

#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/run/run.h"
#include "text/csv.h"

static void write_time(nsec_t time, FILE *out)
{
    char text[TIME_TEXT_MAX];

    if (time != 0)
        (void)fputs(time_format(time, text), out);
}

static void write_number(double number, FILE *out)
{
    (void)fprintf(out, "%.9g", number);
}

struct row {
    const struct sim_run *run;
    const struct sim_run_job *job;
    uint32_t index;
};

static void write_namespace(const struct row *row, FILE *out)
{
    csv_write(state_name(row->run->state, row->job->namespace), out);
}

static void write_name(const struct row *row, FILE *out)
{
    csv_write(state_name(row->run->state, row->job->label), out);
}

static void write_queue(const struct row *row, FILE *out)
{
    if (row->job->queue != NO_ID)
        csv_write(state_name(row->run->state, row->run->queues.items[row->job->queue].name), out);
}

static void write_state(const struct row *row, FILE *out)
{
    (void)fputs(workload_state_name(sim_run_job_state(row->run, row->job)), out);
}

static void write_pods(const struct row *row, FILE *out)
{
    (void)fprintf(out, "%u", row->job->pods);
}

static void write_gpus(const struct row *row, FILE *out)
{
    write_number(gpu_to_double(row->job->gpus), out);
}

static void write_submitted(const struct row *row, FILE *out)
{
    write_time(row->job->submitted, out);
}

static void write_started(const struct row *row, FILE *out)
{
    write_time(row->job->first_start, out);
}

static void write_ended(const struct row *row, FILE *out)
{
    write_time(row->job->ended, out);
}

static void write_wait(const struct row *row, FILE *out)
{
    write_number(metric_wait(row->run, row->job), out);
}

/* "no_room=120;over_quota=30": seconds for each reason. */
static void write_reasons(const struct row *row, FILE *out)
{
    const char *joint = "";

    for (int code = 0; row->run->waits.is_on && code < _VERDICT_CODE_MAX; code++) {
        nsec_t time = waits_of(&row->run->waits, row->index, (enum verdict_code)code);

        if (time == 0)
            continue;
        (void)fprintf(out, "%s%s=%.9g", joint, verdict_code_name((enum verdict_code)code), (double)time / 1e9);
        joint = ";";
    }
}

static void write_nodes(const struct row *row, FILE *out)
{
    for (uint32_t i = 0; i < row->job->place_count; i++) {
        node_id node = row->run->places.items[row->job->first_place + i];

        (void)fprintf(out, "%s%s", i ? ";" : "", state_name(row->run->state, row->run->state->nodes.items[node].name));
    }
}

static void write_evictions(const struct row *row, FILE *out)
{
    (void)fprintf(out, "%u", row->job->evictions);
}

static void write_failures(const struct row *row, FILE *out)
{
    (void)fprintf(out, "%u", row->job->failures);
}

static void write_gpu_hours(const struct row *row, FILE *out)
{
    write_number(row->job->used / (double)NSEC_PER_HOUR, out);
}

static void write_lost(const struct row *row, FILE *out)
{
    write_number(row->job->lost / (double)NSEC_PER_HOUR, out);
}

static void write_recorded(const struct row *row, FILE *out)
{
    write_time(row->job->recorded_start, out);
}

static void write_recorded_wait(const struct row *row, FILE *out)
{
    if (row->job->recorded_start != 0)
        write_number(metric_recorded_wait(row->job), out);
}

static const struct {
    const char *title;
    void (*write)(const struct row *row, FILE *out);
} columns[] = {
    {"namespace", write_namespace},
    {"workload", write_name},
    {"queue", write_queue},
    {"state", write_state},
    {"pods", write_pods},
    {"gpus", write_gpus},
    {"submitted", write_submitted},
    {"started", write_started},
    {"ended", write_ended},
    {"wait_seconds", write_wait},
    {"waited_for", write_reasons},
    {"nodes", write_nodes},
    {"evictions", write_evictions},
    {"node_failures", write_failures},
    {"gpu_hours", write_gpu_hours},
    {"lost_gpu_hours", write_lost},
    {"recorded_start", write_recorded},
    {"recorded_wait_seconds", write_recorded_wait},
};

void export_workloads(const struct sim_run *run, FILE *out)
{
    for (size_t c = 0; c < ARRAY_LEN(columns); c++)
        (void)fprintf(out, "%s%s", c ? "," : "", columns[c].title);
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < run->jobs.len; i++) {
        struct row row = {run, &run->jobs.items[i], i};

        for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
            if (c)
                (void)fputc(',', out);
            columns[c].write(&row, out);
        }
        (void)fputc('\n', out);
    }
}

/* What happened within a step, such as evictions, is a sum; its mean over the step would mean nothing to anyone. */
static double sum_of(const struct series *series, uint32_t step)
{
    return series->steps[step];
}

static void write_cluster_row(const struct sim_run *run, uint32_t step, FILE *out)
{
    const struct series *const means[] = {run->used,       run->waiting,     run->capacity,
                                          run->idle_empty, run->idle_partly, run->idle_shared};

    (void)fputc(',', out);
    write_number(series_mean(&run->timeline, means[0], step), out);
    (void)fputs(",,,,", out);
    for (size_t i = 1; i < ARRAY_LEN(means); i++) {
        (void)fputc(',', out);
        write_number(series_mean(&run->timeline, means[i], step), out);
    }
    (void)fputc('\n', out);
}

static void write_queue_row(const struct sim_run *run, const struct sim_run_queue *queue, uint32_t step, FILE *out)
{
    csv_write(state_name(run->state, queue->name), out);
    (void)fputc(',', out);
    write_number(series_mean(&run->timeline, queue->used, step), out);
    (void)fputc(',', out);
    write_number(series_mean(&run->timeline, queue->share, step), out);
    (void)fputc(',', out);
    write_number(series_mean(&run->timeline, queue->pending, step), out);
    (void)fputc(',', out);
    write_number(sum_of(queue->evictions, step), out);
    (void)fputc(',', out);
    write_number(sum_of(queue->lost, step) / (double)NSEC_PER_HOUR, out);
    (void)fputs(",,,,,\n", out);
}

void export_series(const struct sim_run *run, FILE *out)
{
    (void)fputs("time,queue,allocated_gpus,fair_share_gpus,pending_gpus,evicted_pods,lost_gpu_hours,waiting_workloads,"
                "total_gpus,idle_on_empty_nodes,idle_on_used_nodes,idle_parts_of_shared_gpus\n",
                out);
    for (uint32_t step = 0; step < timeline_steps(&run->timeline); step++) {
        nsec_t time = run->timeline.start + (nsec_t)step * run->timeline.step;

        write_time(time, out);
        (void)fputc(',', out);
        write_cluster_row(run, step, out);
        vec_foreach (&run->queues, queue) {
            write_time(time, out);
            (void)fputc(',', out);
            write_queue_row(run, queue, step, out);
        }
    }
}
