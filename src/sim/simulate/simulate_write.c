/* SPDX-License-Identifier: Apache-2.0 */

/* What a simulation came to, as JSON, with the status words of the scenario format. */
#include <math.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/scenario/scenario_why.h"
#include "sim/simulate/simulate.h"
#include "sim/simulate/simulate_queues.h"

enum { WHY_MAX = 1024 };

static void emit_null(struct emit *e, const char *key)
{
    emit_double(e, key, NAN);
}

static const char *group_name(const struct state *state, gpu_group group, char *text, size_t size)
{
    if (!gpu_group_is_fresh(group))
        return state_name(state, (name_id)group);
    (void)snprintf(text, size, "new-%llu", (unsigned long long)(group & ~GPU_GROUP_FRESH));
    return text;
}

static void write_verdict(struct emit *e, const struct simulation *sim, const struct pod *pod)
{
    struct verdict verdict;
    struct strbuf why;

    if (pod->gang == NO_ID || !sim->state->gangs.items[pod->gang].is_present || pod->status != POD_PENDING) {
        emit_null(e, "verdict");
        return;
    }
    verdict = engine_verdict(sim->run.engine, pod->gang);
    strbuf_init(&why, WHY_MAX);
    scenario_why(&why, sim->state, sim->run.engine, pod->gang);
    emit_open(e, "verdict", '{');
    emit_str(e, "reason", verdict_code_name(verdict.code));
    emit_str(e, "class", verdict_class_name(verdict_class(verdict.code)));
    emit_str(e, "message", why.text);
    emit_close(e, '}');
    strbuf_done(&why);
}

static void write_pod(struct emit *e, const struct simulation *sim, const struct pod *pod)
{
    const struct state *state = sim->state;
    bool is_placed = pod->node != NO_ID && status_in(pod->status, ACTIVE_USED);
    char text[32];

    emit_open(e, NULL, '{');
    emit_str(e, "namespace", state_name(state, pod->namespace));
    emit_str(e, "name", state_name(state, pod->name));
    emit_str(e, "status", pod_status_name((enum pod_status)pod->status));
    emit_str(e, "node", is_placed ? state_name(state, state->nodes.items[pod->node].name) : "");
    emit_open(e, "gpu_groups", '[');
    for (uint32_t i = 0; is_placed && i < pod->groups.count; i++)
        emit_str(e, NULL, group_name(state, group_at(&pod->groups, i), text, sizeof text));
    emit_close(e, ']');
    write_verdict(e, sim, pod);
    emit_close(e, '}');
}

static void write_amounts(struct emit *e, const char *key, double gpu, double cpu, double memory)
{
    emit_open(e, key, '{');
    emit_double(e, "gpu", gpu);
    emit_double(e, "cpu", cpu);
    emit_double(e, "memory", memory);
    emit_close(e, '}');
}

static void write_queue(struct emit *e, const struct simulation *sim, const struct queue_standing *at)
{
    const struct sim_run_queue *of = &sim->run.queues.items[at->queue];
    const struct queue *queue = &sim->state->queues.items[of->id];
    struct queue_share share = engine_share(sim->run.engine, of->id);
    const int64_t *used = of->used_now.v;

    emit_open(e, NULL, '{');
    emit_str(e, "name", state_name(sim->state, of->name));
    emit_str(e, "parent", state_name(sim->state, queue->parent_name));
    write_amounts(e, "quota", queue->deserved[SHARE_GPU], queue->deserved[SHARE_CPU], queue->deserved[SHARE_MEMORY]);
    write_amounts(e, "fair_share", share.fair[SHARE_GPU], share.fair[SHARE_CPU], share.fair[SHARE_MEMORY]);
    write_amounts(e, "used", gpu_to_double(used[SHARE_GPU]), (double)used[SHARE_CPU], (double)used[SHARE_MEMORY]);
    emit_double(e, "borrows", at->borrows);
    emit_double(e, "lends", at->lends);
    if (sim->run.has_trace)
        metrics_write(e, &sim->run, state_name(sim->state, of->name));
    emit_close(e, '}');
}

static void emit_job(struct emit *e, const char *key, const struct simulation *sim, uint32_t job)
{
    const struct sim_run_job *of = &sim->run.jobs.items[job];
    struct strbuf name;

    strbuf_init(&name, WHY_MAX);
    strbuf_addf(&name, "%s%s%s", state_name(sim->state, of->namespace), of->namespace ? "/" : "",
                state_name(sim->state, of->label));
    emit_str(e, key, name.text);
    strbuf_done(&name);
}

static void write_evictions(struct emit *e, const struct simulation *sim)
{
    emit_open(e, "evicted", '[');
    for (uint32_t i = 0; i < sim->run.evictions.len; i++) {
        const struct sim_run_eviction *eviction = &sim->run.evictions.items[i];

        emit_open(e, NULL, '{');
        emit_job(e, "name", sim, eviction->job);
        emit_int(e, "pods", eviction->pods);
        if (eviction->for_job == NO_ID)
            emit_null(e, "for");
        else
            emit_job(e, "for", sim, eviction->for_job);
        emit_str(e, "by", action_name((enum action)eviction->action));
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

void simulation_write(struct simulation *sim, FILE *out)
{
    struct emit e = {.out = out};
    struct queue_standings list = {0};

    queue_standings(sim, &list);
    emit_open(&e, NULL, '{');
    emit_open(&e, "pods", '[');
    vec_foreach (&sim->state->pods, pod)
        if (pod->is_present)
            write_pod(&e, sim, pod);
    emit_close(&e, ']');
    emit_open(&e, "queues", '[');
    vec_foreach (&list, at)
        write_queue(&e, sim, at);
    emit_close(&e, ']');
    write_evictions(&e, sim);
    write_skipped(&e, &sim->notes.found);
    emit_int(&e, "cycles", (int64_t)sim->run.cycles);
    if (sim->run.has_trace)
        metrics_write(&e, &sim->run, NULL);
    emit_close(&e, '}');
    (void)fputc('\n', out);
    vec_done(&list);
}
