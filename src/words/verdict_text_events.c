/* SPDX-License-Identifier: Apache-2.0 */

/* Events about what was decided, and about gangs that are not tried. */
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "words/verdict_text_internal.h"

static bool is_named(const struct state *state, name_id name)
{
    return *state_name(state, name) != '\0';
}

/* One set called "default": a gang that was given no groups. */
static const struct group *only_set(const struct gang *gang)
{
    return gang->group_count == 2 && gang->groups[1].is_pod_set ? &gang->groups[1] : NULL;
}

void verdict_text_not_ready(const struct engine *engine, gang_id id, struct strbuf *out)
{
    const struct state *state = engine_state(engine);
    const struct gang *gang = &state->gangs.items[id];
    const struct group *only = only_set(gang);

    strbuf_addstr(out, "Job is not ready for scheduling.");
    if (only) {
        strbuf_addf(out, " Waiting for %d pods, currently %u exist, %u are gated", only->min, only->alive, only->gated);
        return;
    }
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        if (!set->is_pod_set || (int64_t)set->alive - set->gated >= set->min)
            continue;
        strbuf_addf(out, " Waiting for %d pods for SubGroup %s, currently %u exist, %u are gated.", set->min,
                    state_name(state, set->name), set->alive, set->gated);
    }
}

void verdict_text_stale(const struct engine *engine, gang_id id, struct strbuf *out)
{
    const struct state *state = engine_state(engine);
    const struct gang *gang = &state->gangs.items[id];
    const struct group *only = only_set(gang);
    int64_t needed = 0;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].is_pod_set)
            needed += gang->groups[g].min;
    }
    strbuf_addf(out, "Job is stale. %u pods are active, minMember is %lld", gang->active_used, (long long)needed);
    for (uint32_t g = 0; g < gang->group_count && !only; g++) {
        const struct group *set = &gang->groups[g];
        if (!set->is_pod_set || !is_named(state, set->name) || (int64_t)set->active_used >= set->min)
            continue;
        strbuf_addf(out, ", subGroup %s minMember is %d and %u pods are active", state_name(state, set->name), set->min,
                    set->active_used);
    }
}

void verdict_text_stray(const struct engine *engine, pod_id pod, const char *pod_set, struct strbuf *out)
{
    const struct state *state = engine_state(engine);
    gang_id gang = state->pods.items[pod].gang;

    strbuf_addf(out, "Pod references subgroup \"%s\", which does not exist in PodGroup ", pod_set);
    if (gang != NO_ID)
        add_gang_name(out, state, &state->gangs.items[gang]);
}

static void add_amounts(struct strbuf *out, const double amounts[SHARE_COUNT])
{
    strbuf_addstr(out, "<GPU: ");
    add_human(out, amounts[SHARE_GPU], 1);
    strbuf_addstr(out, ", CPU: ");
    add_human(out, amounts[SHARE_CPU], CORES);
    strbuf_addstr(out, " (cores), memory: ");
    add_human(out, amounts[SHARE_MEMORY], GIGABYTES);
    strbuf_addstr(out, " (GB)>");
}

/* As it stood when the cycle began, before anything was taken. */
static void add_queue(struct strbuf *out, const struct engine *engine, queue_id id)
{
    const struct queue *queue = &engine_state(engine)->queues.items[id];
    struct queue_share share = engine_share(engine, id);

    strbuf_addf(out, "\n%s uses ", state_name(engine_state(engine), queue->display_name));
    add_amounts(out, share.allocated);
    strbuf_addstr(out, " with a quota of ");
    add_amounts(out, queue->deserved);
    strbuf_addstr(out, ", fair-share of ");
    add_amounts(out, share.fair);
    strbuf_addf(out, " and queue priority of <%d>.", queue->priority);
}

/* Siblings speak for themselves; queues of different parents are told by those. */
static void add_queues(struct strbuf *out, const struct engine *engine, queue_id victim, queue_id winner)
{
    const struct queue *queues = engine_state(engine)->queues.items;

    if (victim == NO_ID || winner == NO_ID)
        return;
    if (queues[victim].parent != queues[winner].parent && queues[victim].parent != NO_ID &&
        queues[winner].parent != NO_ID) {
        victim = queues[victim].parent;
        winner = queues[winner].parent;
    }
    add_queue(out, engine, victim);
    add_queue(out, engine, winner);
}

static void add_stale_eviction(struct strbuf *out, const struct state *state, pod_id pod)
{
    const struct pod *p = &state->pods.items[pod];

    BUG_ON(!state->gangs.items || p->gang == NO_ID || p->pod_set == NO_ID);
    const struct gang *gang = &state->gangs.items[p->gang];
    const struct group *set = &gang->groups[p->pod_set];
    strbuf_addf(out, "Workload doesn't meet the minimum required number of pods (%d)", set->min);
    if (!only_set(gang))
        strbuf_addf(out, " in sub-group %s", state_name(state, set->name));
    strbuf_addstr(out, ", evicting remaining pod: ");
    add_pod_name(out, state, pod);
}

static void add_eviction(const struct engine *engine, const struct decision *decision, struct strbuf *out)
{
    const struct state *state = engine_state(engine);
    const struct gang *winner = decision->on_behalf == NO_ID ? NULL : &state->gangs.items[decision->on_behalf];

    if (decision->action == ACTION_STALE_GANG || !winner) {
        add_stale_eviction(out, state, decision->pod);
        return;
    }
    strbuf_addstr(out, "Pod ");
    add_pod_name(out, state, decision->pod);
    if (decision->action == ACTION_CONSOLIDATION) {
        strbuf_addstr(out, " was preempted and rescheduled due to bin packing (resource consolidation) procedure");
        return;
    }
    strbuf_addstr(out, decision->action == ACTION_PREEMPT ? " was preempted by higher priority workload "
                                                          : " was preempted by workload ");
    add_gang_name(out, state, winner);
    if (decision->action != ACTION_RECLAIM)
        return;
    strbuf_addch(out, '.');
    gang_id victim = state->pods.items[decision->pod].gang;
    add_queues(out, engine, victim == NO_ID ? NO_ID : state->gangs.items[victim].queue, winner->queue);
}

void verdict_text_assigned(const struct state *state, pod_id pod, const char *node, const char *node_pool,
                           struct strbuf *out)
{
    strbuf_addstr(out, "Successfully assigned pod ");
    add_pod_name(out, state, pod);
    strbuf_addf(out, " to node %s at node-pool %s", node, node_pool ? node_pool : "default");
}

void verdict_text_decision(const struct engine *engine, const struct decision *decision, const char *node_pool,
                           struct strbuf *out)
{
    const struct state *state = engine_state(engine);
    const char *node = decision->node == NO_ID ? "" : state_name(state, state->nodes.items[decision->node].name);

    switch (decision->kind) {
    case DECISION_BIND:
        verdict_text_assigned(state, decision->pod, node, node_pool, out);
        break;
    case DECISION_PIPELINE:
        strbuf_addstr(out, "Pod ");
        add_pod_name(out, state, decision->pod);
        strbuf_addf(out, " was pipelined to node %s", node);
        break;
    case DECISION_EVICT:
        add_eviction(engine, decision, out);
        break;
    }
}
