/* SPDX-License-Identifier: Apache-2.0 */

/* The cycle: what is kept beside the state is brought up to date, fair shares are divided, actions run one by one. */
#include "engine/engine.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/cycle/actions_internal.h"
#include "engine/gangs/view.h"
#include "engine/nodes/candidates.h"
#include "engine/nodes/devices.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/gpu_order.h"
#include "engine/nodes/gpu_room.h"
#include "engine/nodes/score.h"
#include "engine/nodes/statement.h"
#include "engine/nodes/stranding.h"
#include "engine/queues/order.h"
#include "engine/queues/order_rows.h"
#include "engine/queues/share.h"
#include "engine/topology/topology.h"
#include "engine/victims/rehearsal.h"
#include "model/delta.h"

struct engine *engine_new(struct state *state, const struct config *config)
{
    struct engine *engine = xcalloc(1, sizeof *engine);

    engine->state = state;
    engine->config = *config;
    engine->filters = standard_filters;
    engine->scores = standard_scores;
    engine->gpu_orders = standard_gpu_orders;
    engine->gang_orders = standard_gang_orders;
    engine->queue_orders = standard_queue_orders;
    arena_init(&engine->scratch);
    arena_init(&engine->placing);
    engine->views = view_cache_new();
    engine->orders = kept_orders_new();
    engine->candidates = candidates_new();
    engine->topologies = topology_trees_new();
    engine->affinity = affinity_memory_new();
    engine->room = gpu_room_new();
    engine->stranding = stranding_new();
    engine->rehearsal = rehearsal_new();
    return engine;
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    view_cache_free(engine->views);
    kept_orders_free(engine->orders);
    candidates_free(engine->candidates);
    topology_trees_free(engine->topologies);
    affinity_memory_free(engine->affinity);
    gpu_room_free(engine->room);
    stranding_free(engine->stranding);
    rehearsal_free(engine->rehearsal);
    vec_done(&engine->decisions);
    vec_done(&engine->searches);
    vec_done(&engine->verdicts);
    vec_done(&engine->verdict_of);
    vec_done(&engine->shares);
    vec_done(&engine->operations);
    vec_done(&engine->evictions);
    vec_done(&engine->largest);
    vec_done(&engine->moved);
    vec_done(&engine->claim_notes);
    arena_done(&engine->scratch);
    arena_done(&engine->placing);
    free(engine);
}

static void find_largest(struct engine *engine)
{
    const struct state *state = engine->state;

    vec_clear(&engine->largest);
    vec_resize(&engine->largest, state->res.count);
    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++) {
        struct books books = state_books(state, state->nodes_by_rank.items[i]);
        for (uint32_t r = 0; r < state->res.count; r++)
            engine->largest.items[r] = MAX(engine->largest.items[r], books.allocatable[r]);
    }
    for (uint32_t r = RES_FIXED; r < state->res.count; r++)
        if (state_class_serves(state, r))
            engine->largest.items[r] = SERVED_IDLE;
}

void engine_take_in(struct engine *engine)
{
    struct state *state = engine->state;

    state_settle(state);
    if (engine->config.charges_device_parts && devices_charge(engine))
        state_settle(state);
    if (state->changes.nodes_static || state->changes.requests || engine->largest.len != state->res.count)
        find_largest(engine);
    topology_trees_update(engine);
    candidates_update(engine);
    if (stranding_update(engine))
        candidates_forget(engine);
    gpu_room_update(engine);
    kept_orders_update(engine);
    engine->has_shares &= !state->changes.queues && !state->changes.nodes_static && state->changes.gangs.ids.len == 0 &&
                          state->changes.nodes.ids.len == 0;
    if (engine->verdict_of.len < state->gangs.len)
        vec_resize(&engine->verdict_of, state->gangs.len);
    state_changes_seen(state);
}

void engine_open(struct engine *engine, nsec_t now)
{
    engine->now = now;
    engine->is_open = true;
    engine->placements = 0;
    vec_clear(&engine->decisions);
    vec_clear(&engine->searches);
    affinity_memory_open(engine->affinity);
    /* Nothing that shares depend on has changed: they are the same. */
    if (!engine->has_shares) {
        shares_divide(engine);
        engine->has_shares = true;
    }
}

void engine_run(struct engine *engine, enum action action)
{
    BUG_ON(!engine->is_open);
    switch (action) {
    case ACTION_ALLOCATE:
        action_allocate(engine);
        break;
    case ACTION_CONSOLIDATION:
    case ACTION_RECLAIM:
    case ACTION_PREEMPT:
        action_search(engine, action);
        break;
    case ACTION_STALE_GANG:
        action_stale_gangs(engine);
        break;
    case _ACTION_MAX:
        break;
    }
    arena_clear(&engine->scratch);
}

static void forget_promise(struct state *state, pod_id pod)
{
    state_move_pod(state, pod, POD_PENDING, NO_ID, (struct group_list){0});
}

/* A pod may have been evicted, promised another place and evicted from there: it leaves where it was first. */
static void go_on_leaving(struct engine *engine)
{
    struct state *state = engine->state;

    vec_foreach (&engine->moved, moved) {
        uint32_t *is_told = &engine->evictions.items[moved->pod];
        if (*is_told != NO_ID)
            continue;
        *is_told = 0;
        state->pods.items[moved->pod].numa = moved->numa;
        if (moved->was_promised)
            forget_promise(state, moved->pod);
        else
            state_move_pod(state, moved->pod, POD_RELEASING, moved->from, moved->groups);
    }
    vec_foreach (&engine->moved, moved)
        engine->evictions.items[moved->pod] = NO_ID;
    vec_clear(&engine->moved);
}

/* Promises hold for one cycle: what was promised a place waits again, or, if it was evicted for it, goes on leaving. */
void engine_close(struct engine *engine)
{
    struct state *state = engine->state;

    claims_close(engine);
    go_on_leaving(engine);
    vec_foreach (&engine->decisions, decision) {
        if (decision->kind == DECISION_PIPELINE && state->pods.items[decision->pod].status == POD_PIPELINED)
            forget_promise(state, decision->pod);
    }
    engine->is_open = false;
}

void engine_set_clock(struct engine *engine, should_stop_fn should_stop, void *context)
{
    engine->should_stop = should_stop;
    engine->should_stop_context = context;
}

should_stop_fn engine_clock(const struct engine *engine, void **ret_context)
{
    *ret_context = engine->should_stop_context;
    return engine->should_stop;
}

const char *decision_kind_name(enum decision_kind kind)
{
    static const char *const names[] = {
        [DECISION_BIND] = "bind", [DECISION_EVICT] = "evict", [DECISION_PIPELINE] = "pipeline"};
    return names[kind];
}

const struct decision *engine_decisions(const struct engine *engine, size_t *ret_count)
{
    *ret_count = engine->decisions.len;
    return engine->decisions.items;
}

const struct search_report *engine_searches(const struct engine *engine, size_t *ret_count)
{
    *ret_count = engine->searches.len;
    return engine->searches.items;
}

struct verdict engine_verdict(const struct engine *engine, gang_id gang)
{
    uint32_t at = gang < engine->verdict_of.len ? engine->verdict_of.items[gang] : 0;

    return at == 0 ? (struct verdict){.pod = NO_ID, .queue = NO_ID} : engine->verdicts.items[at - 1];
}

struct queue_share engine_share(const struct engine *engine, queue_id queue)
{
    return queue < engine->shares.len ? engine->shares.items[queue] : (struct queue_share){0};
}

uint64_t engine_placements(const struct engine *engine)
{
    return engine->placements;
}

size_t engine_bytes(const struct engine *engine)
{
    return sizeof *engine + candidates_bytes(engine->candidates) + kept_orders_bytes(engine->orders) +
           topology_trees_bytes(engine->topologies) + view_cache_bytes(engine->views) +
           affinity_memory_bytes(engine->affinity) + gpu_room_bytes(engine->room) + stranding_bytes(engine->stranding) +
           rehearsal_bytes(engine->rehearsal) + vec_bytes(&engine->verdicts) + vec_bytes(&engine->shares) +
           vec_bytes(&engine->evictions) + arena_bytes(&engine->scratch);
}
