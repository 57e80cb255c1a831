/* SPDX-License-Identifier: Apache-2.0 */

/* What a simulation came to, as JSON. docs/simulate.md describes its members. */
#include <math.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/report/amount.h"
#include "sim/report/metrics.h"
#include "sim/report/reason.h"
#include "sim/report/recorded.h"
#include "sim/report/requirement.h"
#include "sim/report/standing.h"
#include "sim/report/workload.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/simulate/simulate.h"

enum { TEXT_MAX = 1024 };

static void emit_amount(struct emit *e, int share, double amount)
{
    char text[QUANTITY_TEXT_MAX];

    emit_str(e, amount_key(share), amount_format(share, amount, text));
}

static void emit_amounts(struct emit *e, const char *key, const double amounts[SHARE_COUNT])
{
    emit_open(e, key, '{');
    emit_amount(e, SHARE_GPU, amounts[SHARE_GPU]);
    emit_amount(e, SHARE_CPU, amounts[SHARE_CPU]);
    emit_amount(e, SHARE_MEMORY, amounts[SHARE_MEMORY]);
    emit_close(e, '}');
}

static void emit_gpus(struct emit *e, const char *key, double gpus)
{
    emit_open(e, key, '{');
    emit_amount(e, SHARE_GPU, gpus);
    emit_close(e, '}');
}

static void emit_time(struct emit *e, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    emit_str(e, key, time_format(time, text));
}

static void emit_name(struct emit *e, const char *key, const struct sim_run *run, uint32_t job)
{
    struct strbuf name;

    if (job == NO_ID) {
        emit_double(e, key, NAN);
        return;
    }
    strbuf_init(&name, TEXT_MAX);
    sim_run_job_name(run, &run->jobs.items[job], &name);
    emit_str(e, key, name.text);
    strbuf_done(&name);
}

static void write_reason(struct emit *e, const struct sim_run *run, const struct workload *workload)
{
    struct strbuf message;

    strbuf_init(&message, TEXT_MAX);
    workload_add_message(&message, run, workload);
    emit_str(e, "reason", verdict_code_name(workload->reason));
    emit_str(e, "outlook", reason_outlook(workload->reason));
    emit_str(e, "message", message.text);
    strbuf_done(&message);
}

static void write_workload(struct emit *e, const struct sim_run *run, uint32_t index)
{
    struct workload workload;

    if (!workload_read(&workload, run, &run->jobs.items[index]))
        return;
    emit_open(e, NULL, '{');
    emit_name(e, "workload", run, index);
    emit_str(e, "queue", state_name(run->state, run->state->gangs.items[workload.waiting->gang].queue_name));
    emit_str(e, "state", workload_state_name(workload.state));
    emit_int(e, "pods", workload.pods);
    emit_int(e, "runningPods", workload.running);
    emit_gpus(e, "requested", workload.gpus);
    if (workload.pending > 0 || workload.state != WORKLOAD_RUNNING)
        write_reason(e, run, &workload);
    emit_close(e, '}');
}

static const char *group_name(const struct state *state, gpu_group group, char *text, size_t size)
{
    if (!gpu_group_is_fresh(group))
        return state_name(state, (name_id)group);
    (void)snprintf(text, size, "new-%llu", (unsigned long long)(group & ~GPU_GROUP_FRESH));
    return text;
}

static void write_pod(struct emit *e, const struct sim_run *run, const struct pod *pod, uint32_t job)
{
    const struct state *state = run->state;
    bool is_placed = pod->node != NO_ID && status_in(pod->status, ACTIVE_USED);
    char phase[PHASE_TEXT_MAX];
    char text[32];

    emit_open(e, NULL, '{');
    emit_str(e, "namespace", state_name(state, pod->namespace));
    emit_str(e, "name", state_name(state, pod->name));
    if (job != NO_ID)
        emit_name(e, "workload", run, job);
    emit_str(e, "state", pod_status_phase((enum pod_status)pod->status, phase));
    if (is_placed)
        emit_str(e, "node", state_name(state, state->nodes.items[pod->node].name));
    if (is_placed && pod->groups.count > 0) {
        emit_open(e, "gpuGroups", '[');
        for (uint32_t i = 0; i < pod->groups.count; i++)
            emit_str(e, NULL, group_name(state, group_at(&pod->groups, i), text, sizeof text));
        emit_close(e, ']');
    }
    emit_close(e, '}');
}

static void write_queue(struct emit *e, const struct sim_run *run, const struct queue_standing *at)
{
    const struct sim_run_queue *of = &run->queues.items[at->queue];
    const struct queue *queue = &run->state->queues.items[of->id];
    struct queue_share share = engine_share(run->engine, of->id);
    double allocated[SHARE_COUNT];

    for (int i = 0; i < SHARE_COUNT; i++)
        allocated[i] = share_to_double(i, of->used_now.v[i]);
    emit_open(e, NULL, '{');
    emit_str(e, "name", state_name(run->state, of->name));
    emit_str(e, "parent", state_name(run->state, queue->parent_name));
    emit_amounts(e, "quota", queue->deserved);
    emit_amounts(e, "limit", queue->limit);
    emit_amounts(e, "fairShare", share.fair);
    emit_amounts(e, "allocated", allocated);
    emit_gpus(e, "borrowed", at->borrowed);
    emit_gpus(e, "lent", at->lent);
    emit_gpus(e, "pending", at->pending);
    if (run->has_trace)
        metrics_write(e, run, state_name(run->state, of->name));
    emit_close(e, '}');
}

static void write_evictions(struct emit *e, const struct sim_run *run)
{
    emit_open(e, "evictions", '[');
    vec_foreach (&run->evictions, eviction) {
        emit_open(e, NULL, '{');
        if (run->has_trace)
            emit_time(e, "time", eviction->time);
        emit_name(e, "workload", run, eviction->job);
        emit_int(e, "pods", eviction->pods);
        emit_name(e, "for", run, eviction->for_job);
        emit_str(e, "action", action_name((enum action)eviction->action));
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void write_skipped(struct emit *e, const struct object_notes *notes)
{
    emit_open(e, "skipped", '[');
    for (uint32_t i = 0; i < notes->skipped.len; i++) {
        emit_open(e, NULL, '{');
        emit_str(e, "kind", notes->skipped.items[i].kind);
        emit_int(e, "count", notes->skipped.items[i].count);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void write_pods(struct emit *e, const struct sim_run *run)
{
    _cleanup_(freep) uint32_t *job_of = xcalloc(run->state->gangs.len + 1, sizeof *job_of);

    for (uint32_t i = 0; i < run->jobs.len; i++)
        if (run->jobs.items[i].gang != NO_ID)
            job_of[run->jobs.items[i].gang] = i + 1;
    emit_open(e, "pods", '[');
    vec_foreach (&run->state->pods, pod)
        if (pod->is_present)
            write_pod(e, run, pod, pod->gang == NO_ID || job_of[pod->gang] == 0 ? NO_ID : job_of[pod->gang] - 1);
    emit_close(e, ']');
}

static void write_lists(struct emit *e, const struct simulation *sim)
{
    struct queue_standings list = {0};

    emit_open(e, "workloads", '[');
    for (uint32_t i = 0; i < sim->run.jobs.len; i++)
        write_workload(e, &sim->run, i);
    emit_close(e, ']');
    write_pods(e, &sim->run);
    queue_standings(&sim->run, &list);
    emit_open(e, "queues", '[');
    vec_foreach (&list, at)
        write_queue(e, &sim->run, at);
    emit_close(e, ']');
    vec_done(&list);
}

void simulation_write(const struct simulation *sim, const struct requirements *requirements, FILE *out)
{
    const struct sim_run *run = &sim->run;
    struct emit e = {.out = out};

    emit_open(&e, NULL, '{');
    requirements_write(&e, requirements);
    write_lists(&e, sim);
    write_evictions(&e, run);
    write_skipped(&e, &sim->notes.found);
    /* Without a trace the time is that of the input, and means nothing. */
    if (run->has_trace) {
        emit_time(&e, "start", run->start);
        emit_time(&e, "end", run->end);
    }
    emit_int(&e, "cycles", (int64_t)run->cycles);
    emit_bool(&e, "settled", !run->is_cut);
    if (run->has_trace) {
        metrics_write(&e, run, NULL);
        recorded_waits_write(&e, run);
    }
    emit_close(&e, '}');
    (void)fputc('\n', out);
}
