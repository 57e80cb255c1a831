/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which queue borrowed from which. GPUs that siblings hold beyond their quotas come first from GPUs that are in nobody's
 * quota, then from siblings that leave part of their quota unused, in proportion to that part.
 */
#include "sim/report/standing.h"

#include "base/mem.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/run/run.h"

static void add(const struct sim_run *run, uint32_t index, uint32_t depth, struct queue_standings *ret)
{
    const struct sim_run_queue *at = &run->queues.items[index];
    const struct queue *queue = &run->state->queues.items[at->id];
    struct queue_share share = engine_share(run->engine, at->id);
    struct queue_standing standing = {
        .queue = index,
        .depth = depth,
        .quota = queue->deserved[SHARE_GPU],
        .limit = queue->limit[SHARE_GPU],
        .fair_share = share.fair[SHARE_GPU],
        .allocated = gpu_to_double(at->used_now.v[SHARE_GPU]),
        .pending = gpu_to_double(at->pending_now),
    };

    if (standing.quota >= 0)
        standing.borrowed = MAX(standing.allocated - standing.quota, 0.0);
    vec_push(ret, standing);
}

static double unused(const struct queue_standing *standing)
{
    return standing->quota >= 0 ? MAX(standing->quota - standing->allocated, 0.0) : 0;
}

/* `first` to `last` are the places in the list of one group of siblings, which share `whole` GPUs. */
static void lend(struct queue_standings *list, const uint32_t *places, uint32_t count, double whole)
{
    double quotas = 0;
    double borrowed = 0;
    double spare = 0;
    double lent;

    for (uint32_t i = 0; i < count; i++) {
        const struct queue_standing *at = &list->items[places[i]];

        if (at->quota < 0)
            return;
        quotas += at->quota;
        borrowed += at->borrowed;
        spare += unused(at);
    }
    lent = MIN(MAX(borrowed - MAX(whole - quotas, 0.0), 0.0), spare);
    for (uint32_t i = 0; i < count && spare > 0; i++) {
        struct queue_standing *at = &list->items[places[i]];

        at->lent = lent * unused(at) / spare;
    }
}

struct visit {
    queue_id id;
    uint32_t depth;
};

/* Not by recursion, since files decide how deep it is. */
static void list_tree(const struct sim_run *run, struct queue_standings *ret)
{
    const struct state *state = run->state;
    VEC(struct visit) next = {0};
    _cleanup_(freep) uint32_t *index_of = xcalloc(state->queues.len, sizeof *index_of);

    for (uint32_t i = 0; i < run->queues.len; i++)
        index_of[run->queues.items[i].id] = i;
    for (uint32_t i = run->queues.len; i > 0; i--)
        if (run->queues.items[i - 1].parent == NO_ID)
            vec_push(&next, (struct visit){run->queues.items[i - 1].id, 0});
    while (next.len > 0) {
        struct visit visit = vec_pop(&next);
        const struct queue *queue = &state->queues.items[visit.id];

        add(run, index_of[visit.id], visit.depth, ret);
        for (uint32_t i = queue->children.len; i > 0; i--)
            vec_push(&next, (struct visit){queue->children.items[i - 1], visit.depth + 1});
    }
    vec_done(&next);
}

void queue_standings(const struct sim_run *run, struct queue_standings *ret)
{
    double whole = gpu_to_double(run->state->total.v[SHARE_GPU]);
    VEC(uint32_t) siblings = {0};

    list_tree(run, ret);
    for (uint32_t parent = 0; parent <= ret->len; parent++) {
        uint32_t index = parent < ret->len ? ret->items[parent].queue : NO_ID;
        double share = parent < ret->len ? ret->items[parent].fair_share : whole;

        vec_clear(&siblings);
        for (uint32_t i = 0; i < ret->len; i++)
            if (run->queues.items[ret->items[i].queue].parent == index)
                vec_push(&siblings, i);
        if (siblings.len > 0)
            lend(ret, siblings.items, siblings.len, share < 0 ? whole : share);
    }
    vec_done(&siblings);
}
