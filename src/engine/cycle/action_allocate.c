/* SPDX-License-Identifier: Apache-2.0 */

/* Allocate: waiting gangs in turn, each chunk all or nothing. A gang with more to place goes back into the order. */
#include "engine/context.h"
#include "engine/cycle/actions_internal.h"
#include "engine/nodes/gpu_room.h"
#include "engine/nodes/place.h"
#include "engine/nodes/statement.h"
#include "engine/queues/order.h"
#include "engine/victims/signature.h"

/* A set that has promised places and, without them, too few pods starts none yet: the whole gang waits. */
static bool has_to_wait(const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        if (set->is_pod_set && set->pipelined > 0 && (int64_t)set->active_allocated - set->pipelined < set->min)
            return true;
    }
    return false;
}

static void keep_places(struct engine *engine, gang_id id, uint32_t allocated_before)
{
    struct gang *gang = &engine->state->gangs.items[id];
    bool waits = has_to_wait(gang);

    if (waits)
        statement_convert(engine, id);
    bool is_placed = gang->allocated > allocated_before;
    statement_commit(engine, ACTION_ALLOCATE, id);
    if (!waits && allocated_before == 0)
        gang->last_start = engine->now;
    gpu_room_gang_changed(engine, id);
    *engine_verdict_slot(engine, id) = (struct verdict){
        .code = is_placed ? VERDICT_PLACED : VERDICT_PROMISED,
        .action = ACTION_ALLOCATE,
        .pod = NO_ID,
        .queue = NO_ID,
    };
}

void action_allocate(struct engine *engine)
{
    const struct state *state = engine->state;
    struct arena arena;

    arena_init(&arena);
    struct order *order = order_of_waiting(engine, &arena, ACTION_ALLOCATE);
    struct node_set nodes = node_set_all(engine);
    while (!order_is_empty(order)) {
        const struct gang_view *view = order_pop(order);
        gang_id gang = view->gang;
        uint32_t allocated_before = state->gangs.items[gang].allocated;
        /* A failure need not say why; what an earlier attempt said is not the reason any more. */
        *engine_verdict_slot(engine, gang) = (struct verdict){.pod = NO_ID, .queue = NO_ID};
        statement_begin(engine);
        if (!place_gang(engine, view, nodes, false)) {
            statement_discard(engine);
            continue;
        }
        keep_places(engine, gang, allocated_before);
        if (state->gangs.items[gang].pending > 0)
            order_push(order, view_of(engine, gang));
    }
    arena_done(&arena);
}
