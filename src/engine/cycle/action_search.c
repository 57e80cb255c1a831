/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Consolidation, reclaim and preempt: each waiting gang in turn may have victims looked for. What can be told about a gang
 * without looking at victims comes first, in KAI's order: it decides which gangs stand for others like them.
 */
#include "engine/context.h"
#include "engine/cycle/actions_internal.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/gpu_room.h"
#include "engine/nodes/statement.h"
#include "engine/queues/order.h"
#include "engine/queues/share.h"
#include "engine/victims/search.h"
#include "engine/victims/signature.h"
#include "engine/victims/sources.h"

struct run {
    struct engine *engine;
    enum action action;
    struct search *search;
    struct signatures *signatures;  // NULL: not used
};

/* A reason that stands in the way for good is kept; "no room" only says that allocate found none. */
static void explain(struct run *run, gang_id gang, enum verdict_code code)
{
    struct verdict *verdict = engine_verdict_slot(run->engine, gang);

    if (verdict->code != VERDICT_NO_ROOM && verdict->code != VERDICT_NONE)
        return;
    verdict->code = code;
    verdict->action = run->action;
}

/* Nothing that could be evicted would change this. */
static bool is_blocked(struct run *run, const struct gang_view *view)
{
    for (uint32_t i = 0; i < view->chunk_count; i++) {
        enum verdict_code code = prefilter_unresolvable(run->engine, view->chunk[i]);
        if (code == VERDICT_NONE)
            continue;
        explain(run, view->gang, code);
        return true;
    }
    return false;
}

/* The action's own conditions on the gang, and then the search. True: the statement holds a solution. */
static bool find_room(struct run *run, const struct gang_view *view)
{
    struct engine *engine = run->engine;
    const struct gang *gang = &engine->state->gangs.items[view->gang];

    if (run->action == ACTION_PREEMPT && !capacity_allows_fixed(engine, gang, view->asked_most, NULL))
        return false;
    if (run->action == ACTION_CONSOLIDATION && !consolidation_may_help(engine, view))
        return false;
    bool is_found = search_solve(run->search, view);
    if (search_is_over(run->search))
        explain(run, view->gang, VERDICT_SEARCH_LIMIT);
    else if (!is_found && run->action != ACTION_CONSOLIDATION)
        explain(run, view->gang, VERDICT_NO_VICTIMS);
    return is_found;
}

static void keep_solution(struct run *run, gang_id gang)
{
    struct verdict *verdict = engine_verdict_slot(run->engine, gang);

    run->engine->room->has_moved_pods |= search_moves_victims(run->search);
    statement_commit(run->engine, run->action, gang);
    gpu_room_gang_changed(run->engine, gang);
    *verdict = (struct verdict){.code = VERDICT_PROMISED, .action = run->action, .pod = NO_ID, .queue = NO_ID};
}

static void try_gang(struct run *run, const struct gang_view *view)
{
    gang_id gang = view->gang;
    queue_id scope = run->action == ACTION_CONSOLIDATION ? NO_ID : run->engine->state->gangs.items[gang].queue;
    uint64_t signature = 0;

    if (run->action == ACTION_RECLAIM && !reclaim_is_due(run->engine, view)) {
        explain(run, gang, VERDICT_OVER_FAIR_SHARE);
        return;
    }
    if (run->signatures) {
        signature = signature_of(run->signatures, gang, scope);
        if (!signatures_may_try(run->signatures, signature, gang)) {
            if (run->action != ACTION_CONSOLIDATION)
                explain(run, gang, VERDICT_NO_VICTIMS);
            return;
        }
    }
    if (is_blocked(run, view))
        return;
    if (find_room(run, view))
        keep_solution(run, gang);
    else if (run->signatures)
        signatures_failed(run->signatures, signature, gang);
}

void action_search(struct engine *engine, enum action action)
{
    struct run run = {.engine = engine, .action = action};
    struct arena arena;

    if (action == ACTION_CONSOLIDATION && engine->config.max_consolidation_preemptees == 0)
        return;
    arena_init(&arena);
    run.search = search_new(engine, action);
    if (engine->config.uses_signatures)
        run.signatures = signatures_new(engine, &arena);
    struct order *order = order_of_waiting(engine, &arena, action);
    while (!order_is_empty(order) && !search_ends_action(run.search))
        try_gang(&run, order_pop(order));
    signatures_free(run.signatures);
    search_free(run.search);
    arena_done(&arena);
}
