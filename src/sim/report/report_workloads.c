/* SPDX-License-Identifier: Apache-2.0 */

/* What the page says of single workloads: where they run, and why they wait or waited. */
#include <stdlib.h>

#include "base/strbuf.h"
#include "model/resources.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/report/report.h"
#include "sim/report/wait_sums.h"
#include "sim/report/workload.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"

/* Rows that a page can search without delay. */
enum { ROWS_MAX = 20000, TEXT_MAX = 1024, NODES_SHOWN = 64 };

static void emit_name(struct emit *e, const struct sim_run *run, const struct sim_run_job *job)
{
    struct strbuf name;

    strbuf_init(&name, TEXT_MAX);
    sim_run_job_name(run, job, &name);
    emit_str(e, "workload", name.text);
    strbuf_done(&name);
}

/* How many workloads waited for which reason, step by step, and how long in all. */
static void write_reasons(struct emit *e, const struct sim_run *run)
{
    const struct timeline *timeline = &run->timeline;

    emit_open(e, "reasons", '[');
    for (int code = 0; code < _VERDICT_CODE_MAX; code++) {
        const struct series *counts = run->waits.counts[code];

        if (!counts || counts->total <= 0)
            continue;
        emit_open(e, NULL, '{');
        emit_int(e, "code", code);
        emit_double(e, "seconds", counts->total / 1e9);
        emit_open(e, "counts", '[');
        for (uint32_t i = 0; i < timeline_steps(timeline); i++)
            emit_double(e, NULL, (double)(int64_t)(series_mean(timeline, counts, i) * 100 + 0.5) / 100);
        emit_close(e, ']');
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

/* The same by queues: what the reasons of all workloads add up to. */
static void write_waits(struct emit *e, const struct sim_run *run)
{
    struct wait_sums sums;

    wait_sums_init(&sums);
    for (uint32_t i = 0; i < run->jobs.len; i++) {
        uint32_t queue = run->jobs.items[i].queue;
        nsec_t time[_VERDICT_CODE_MAX];

        for (int code = 0; code < _VERDICT_CODE_MAX; code++)
            time[code] = waits_of(&run->waits, i, (enum verdict_code)code);
        wait_sums_add(&sums, queue == NO_ID ? "" : state_name(run->state, run->queues.items[queue].name), time);
    }
    wait_sums_write(e, &sums);
    wait_sums_done(&sums);
}

struct waited {
    uint32_t job;
    nsec_t time;
};

struct waited_list VEC_OF(struct waited);

static int longest_first(const void *l, const void *r)
{
    const struct waited *a = l;
    const struct waited *b = r;

    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

static void list_waited(const struct sim_run *run, struct waited_list *ret)
{
    for (uint32_t i = 0; i < run->jobs.len; i++) {
        nsec_t time = 0;

        for (int code = 0; code < _VERDICT_CODE_MAX; code++)
            time += waits_of(&run->waits, i, (enum verdict_code)code);
        if (time > 0)
            vec_push(ret, (struct waited){i, time});
    }
    if (ret->len > 0)
        qsort(ret->items, ret->len, sizeof *ret->items, longest_first);
}

static void write_waited_row(struct emit *e, const struct sim_run *run, const struct waited *at)
{
    const struct sim_run_job *job = &run->jobs.items[at->job];

    emit_open(e, NULL, '{');
    emit_name(e, run, job);
    emit_int(e, "queue", job->queue == NO_ID ? -1 : (int64_t)job->queue);
    emit_str(e, "state", workload_state_name(sim_run_job_state(run, job)));
    emit_double(e, "gpus", gpu_to_double(job->gpus));
    emit_double(e, "submitted", (double)(job->submitted - run->start) / 1e9);
    emit_double(e, "wait", metric_wait(run, job));
    emit_double(e, "waited", (double)at->time / 1e9);
    emit_open(e, "reasons", '[');
    for (int code = 0; code < _VERDICT_CODE_MAX; code++) {
        nsec_t time = waits_of(&run->waits, at->job, (enum verdict_code)code);

        if (time == 0)
            continue;
        emit_open(e, NULL, '[');
        emit_int(e, NULL, code);
        emit_double(e, NULL, (double)time / 1e9);
        emit_close(e, ']');
    }
    emit_close(e, ']');
    emit_close(e, '}');
}

static void write_waited(struct emit *e, const struct sim_run *run)
{
    struct waited_list list = {0};

    list_waited(run, &list);
    emit_int(e, "waitedTotal", list.len);
    emit_open(e, "waited", '[');
    for (uint32_t i = 0; i < MIN(list.len, (uint32_t)ROWS_MAX); i++)
        write_waited_row(e, run, &list.items[i]);
    emit_close(e, ']');
    vec_done(&list);
}

static void write_workload(struct emit *e, const struct sim_run *run, const struct workload *workload)
{
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    emit_open(e, NULL, '{');
    emit_name(e, run, workload->job);
    emit_int(e, "queue", workload->job->queue == NO_ID ? -1 : (int64_t)workload->job->queue);
    emit_str(e, "state", workload_state_name(workload->state));
    emit_int(e, "pods", workload->pods);
    emit_int(e, "running", workload->running);
    emit_int(e, "pending", workload->pending);
    emit_double(e, "gpus", workload->gpus);
    workload_add_nodes(&text, run, workload, NODES_SHOWN);
    emit_str(e, "nodes", text.text);
    strbuf_clear(&text);
    emit_int(e, "reason", workload->reason);
    if (workload->pending > 0)
        workload_add_message(&text, run, workload);
    emit_str(e, "message", text.text);
    emit_close(e, '}');
    strbuf_done(&text);
}

/* Those that are there at the end; pending ones come first, since the page is asked about them. */
static void write_workloads(struct emit *e, const struct sim_run *run)
{
    uint32_t running = 0;
    uint32_t pending = 0;
    uint32_t rows = 0;

    emit_open(e, "workloads", '[');
    for (int is_second = 0; is_second < 2; is_second++)
        vec_foreach (&run->jobs, job) {
            struct workload workload;

            if (!workload_read(&workload, run, job) || (workload.pending == 0) != (bool)is_second)
                continue;
            running += workload.running > 0;
            pending += workload.pending > 0;
            if (rows++ < ROWS_MAX)
                write_workload(e, run, &workload);
        }
    emit_close(e, ']');
    emit_int(e, "runningTotal", running);
    emit_int(e, "pendingTotal", pending);
}

void report_write_workloads(struct emit *e, const struct sim_run *run)
{
    write_reasons(e, run);
    write_waits(e, run);
    write_waited(e, run);
    emit_double(e, "allocatedNow", run->used->value);
    emit_double(e, "fragmentedNow", run->idle_partly->value + run->idle_shared->value);
    emit_double(e, "pendingGpus", metric_value(run, METRIC_PENDING_GPUS, &(struct metric_filter){0}));
    if (!run->has_trace)
        write_workloads(e, run);
}
