/* SPDX-License-Identifier: Apache-2.0 */

/* The engine over a copy of a cluster, until the cluster comes to rest. */
#include "sim/why/why_run.h"

#include "engine/engine.h"
#include "model/delta.h"
#include "model/state.h"

static void carry_out_pod(struct state *state, pod_id id)
{
    const struct pod *pod = &state->pods.items[id];

    switch ((enum pod_status)pod->status) {
    case POD_RELEASING:
        /* Whoever made the pod makes it again, and it waits. One that belongs to nobody is gone. */
        if (pod->gang == NO_ID)
            state_move_pod(state, id, POD_DELETED, NO_ID, (struct group_list){0});
        else
            state_move_pod(state, id, POD_PENDING, NO_ID, (struct group_list){0});
        break;
    case POD_BINDING:
    case POD_ALLOCATED:
        state_move_pod(state, id, POD_RUNNING, pod->node, pod->groups);
        break;
    default:
        break;
    }
}

/* What the cycle decided has happened. */
static void carry_out(struct state *state)
{
    for (pod_id id = 0; id < state->pods.len; id++) {
        if (state->pods.items[id].is_present)
            carry_out_pod(state, id);
    }
}

static bool decided_anything(const struct engine *engine)
{
    size_t count;
    const struct decision *decisions = engine_decisions(engine, &count);

    for (size_t i = 0; i < count; i++) {
        if (decisions[i].kind != DECISION_PIPELINE)
            return true;
    }
    return false;
}

/* Pods on their way out or in, which the next cycle finds gone or running. */
static bool has_moving_pods(const struct state *state)
{
    for (pod_id id = 0; id < state->pods.len; id++) {
        const struct pod *pod = &state->pods.items[id];
        if (pod->is_present && (pod->status == POD_RELEASING || pod->status == POD_BINDING))
            return true;
    }
    return false;
}

void why_run(struct why_run *run, struct state *state, const struct config *config, nsec_t now)
{
    *run = (struct why_run){.engine = engine_new(state, config)};
    for (;;) {
        engine_take_in(run->engine);
        engine_open(run->engine, now);
        for (uint32_t i = 0; i < config->action_count; i++)
            engine_run(run->engine, config->actions[i]);
        run->cycles++;
        run->is_settled = !decided_anything(run->engine) && !has_moving_pods(state);
        if (run->is_settled || run->cycles == WHY_CYCLES_MAX)
            return;
        engine_close(run->engine);
        carry_out(state);
    }
}

void why_run_done(struct why_run *run)
{
    engine_free(run->engine);
    run->engine = NULL;
}

static uint32_t placed_pods(const struct state *state, const struct group *set)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < set->pods.len; i++)
        count += status_in(state->pods.items[set->pods.items[i]].status, ALLOCATED_SET);
    return count;
}

static bool is_complete(const struct state *state, const struct gang *gang, uint32_t group)
{
    const struct group *g = &gang->groups[group];
    int64_t complete = 0;

    if (g->is_pod_set)
        return (int64_t)placed_pods(state, g) >= g->min;
    for (uint32_t child = g->first_child; child != NO_ID; child = gang->groups[child].next_sibling)
        complete += is_complete(state, gang, child);
    return complete >= (g->min < 0 ? (int64_t)g->child_count : g->min);
}

bool why_gang_runs(const struct state *state, gang_id id, uint32_t more_than)
{
    uint32_t count = 0;

    if (id == NO_ID)
        return false;
    const struct gang *gang = &state->gangs.items[id];
    if (!gang->is_present || gang->group_count == 0)
        return false;
    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].is_pod_set)
            count += placed_pods(state, &gang->groups[g]);
    }
    return count > more_than && is_complete(state, gang, 0);
}
