/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who borrows from whom. What siblings use beyond their quotas comes first from what nobody was promised, then from those
 * who do not use what they were promised, each in proportion to what it leaves unused.
 */
#include "sim/simulate/simulate_queues.h"

#include "base/mem.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/simulate/simulate.h"

static void add(const struct simulation *sim, uint32_t index, uint32_t depth, struct queue_standings *ret)
{
    const struct sim_run_queue *at = &sim->run.queues.items[index];
    const struct queue *queue = &sim->state->queues.items[at->id];
    struct queue_share share = engine_share(sim->run.engine, at->id);
    struct queue_standing standing = {
        .queue = index,
        .depth = depth,
        .quota = queue->deserved[SHARE_GPU],
        .limit = queue->limit[SHARE_GPU],
        .fair_share = share.fair[SHARE_GPU],
        .used = gpu_to_double(at->used_now.v[SHARE_GPU]),
        .pending = gpu_to_double(at->pending_now),
    };

    if (standing.quota >= 0)
        standing.borrows = MAX(standing.used - standing.quota, 0.0);
    vec_push(ret, standing);
}

static double unused(const struct queue_standing *standing)
{
    return standing->quota >= 0 ? MAX(standing->quota - standing->used, 0.0) : 0;
}

/* `first` to `last` are the places in the list of one group of siblings, which share `whole` GPUs. */
static void lend(struct queue_standings *list, const uint32_t *places, uint32_t count, double whole)
{
    double promised = 0;
    double borrowed = 0;
    double spare = 0;
    double lent;

    for (uint32_t i = 0; i < count; i++) {
        const struct queue_standing *at = &list->items[places[i]];

        if (at->quota < 0)
            return;
        promised += at->quota;
        borrowed += at->borrows;
        spare += unused(at);
    }
    lent = MIN(MAX(borrowed - MAX(whole - promised, 0.0), 0.0), spare);
    for (uint32_t i = 0; i < count && spare > 0; i++) {
        struct queue_standing *at = &list->items[places[i]];

        at->lends = lent * unused(at) / spare;
    }
}

struct visit {
    queue_id id;
    uint32_t depth;
};

/* Not by recursion, since files decide how deep it is. */
static void list_tree(const struct simulation *sim, struct queue_standings *ret)
{
    const struct state *state = sim->state;
    VEC(struct visit) next = {0};
    _cleanup_(freep) uint32_t *index_of = xcalloc(state->queues.len, sizeof *index_of);

    for (uint32_t i = 0; i < sim->run.queues.len; i++)
        index_of[sim->run.queues.items[i].id] = i;
    for (uint32_t i = sim->run.queues.len; i > 0; i--)
        if (sim->run.queues.items[i - 1].parent == NO_ID)
            vec_push(&next, (struct visit){sim->run.queues.items[i - 1].id, 0});
    while (next.len > 0) {
        struct visit visit = vec_pop(&next);
        const struct queue *queue = &state->queues.items[visit.id];

        add(sim, index_of[visit.id], visit.depth, ret);
        for (uint32_t i = queue->children.len; i > 0; i--)
            vec_push(&next, (struct visit){queue->children.items[i - 1], visit.depth + 1});
    }
    vec_done(&next);
}

void queue_standings(const struct simulation *sim, struct queue_standings *ret)
{
    double whole = gpu_to_double(sim->state->total.v[SHARE_GPU]);
    VEC(uint32_t) siblings = {0};

    list_tree(sim, ret);
    for (uint32_t parent = 0; parent <= ret->len; parent++) {
        uint32_t index = parent < ret->len ? ret->items[parent].queue : NO_ID;
        double share = parent < ret->len ? ret->items[parent].fair_share : whole;

        vec_clear(&siblings);
        for (uint32_t i = 0; i < ret->len; i++)
            if (sim->run.queues.items[ret->items[i].queue].parent == index)
                vec_push(&siblings, i);
        if (siblings.len > 0)
            lend(ret, siblings.items, siblings.len, share < 0 ? whole : share);
    }
    vec_done(&siblings);
}
