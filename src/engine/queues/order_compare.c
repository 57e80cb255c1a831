/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which queue and which gang is served first. Comparisons run many times for every gang that is tried, so that what
 * they compare is worked out once and kept by the order (struct queue_rank).
 */
#include <math.h>
#include <string.h>

#include "engine/context.h"
#include "engine/queues/kept_orders.h"
#include "engine/queues/order.h"
#include "engine/queues/order_tree.h"
#include "engine/queues/share.h"
#include "model/gang.h"
#include "model/queue.h"
#include "model/state.h"

bool gang_precedes(const struct engine *engine, const struct gang_view *l, const struct gang_view *r)
{
    const struct gang *gangs = engine->state->gangs.items;
    struct gang_key l_key = gang_key_of(engine, &gangs[l->gang], l->elastic);
    struct gang_key r_key = gang_key_of(engine, &gangs[r->gang], r->elastic);

    return gang_key_precedes(engine->state, &l_key, &r_key);
}

struct amounts amounts_of(const double doubles[SHARE_COUNT])
{
    struct amounts amounts;

    for (int r = 0; r < SHARE_COUNT; r++)
        amounts.v[r] = r == SHARE_GPU ? llround(doubles[r] * 1e9) : llround(doubles[r]);
    return amounts;
}

/* The part of a share that is held; of no share, a large number. */
static double part_of(double held, double share)
{
    return share == 0 ? held * 1000 : held / share;
}

void queue_rank_of(const struct engine *engine, queue_id id, const double *asked, const struct amounts *taken,
                   struct queue_rank *ret)
{
    static const double nothing[SHARE_COUNT];
    const struct queue *queue = &engine->state->queues.items[id];
    bool is_over_utilised = true;
    bool is_starved = true;
    bool violates_zero_share = false;
    double plain = 0;
    double loaded = 0;

    if (!engine_has(engine, PLUGIN_PROPORTION)) {
        *ret =
            (struct queue_rank){.created = queue->created, .uid = state_name(engine->state, queue->uid), .queue = id};
        return;
    }
    for (int r = 0; r < SHARE_COUNT; r++) {
        double share = share_allocatable(engine, id, r);
        double allocated = share_to_double(r, queue->allocated.v[r]);
        double with_gang = allocated + (asked ? asked : nothing)[r];
        /* Integers are subtracted, so that equal holdings give equal shares whatever was taken in between. */
        double held = taken ? share_to_double(r, queue->allocated.v[r] - taken->v[r]) : with_gang;
        double divisor = share == UNLIMITED ? share_to_double(r, engine->state->total.v[r]) : share;

        is_over_utilised &= engine->shares.items[id].fair[r] < allocated;
        is_starved &= queue->deserved[r] == UNLIMITED || with_gang <= queue->deserved[r];
        violates_zero_share |= share == 0 && with_gang > 0;
        plain = MAX(plain, part_of(allocated, divisor));
        loaded = MAX(loaded, part_of(held, divisor));
        ret->allocatable[r] = share == UNLIMITED ? INFINITY : share;
    }
    struct queue_figures figures = {
        .queue = id,
        .priority = queue->priority,
        .is_over_utilised = is_over_utilised,
        .is_starved = is_starved,
        .violates_zero_share = violates_zero_share,
        .loaded_share = loaded,
        .plain_share = plain,
    };
    const struct queue_order *end = engine->queue_orders.rows + engine->queue_orders.count;
    ret->whole = 0;
    ret->fraction_count = 0;
    for (const struct queue_order *row = engine->queue_orders.rows; row < end; row++) {
        if (!engine_has(engine, row->plugin))
            continue;
        if (row->bits > 0)
            ret->whole = ret->whole << row->bits | row->whole(engine, &figures);
        if (row->fraction_count > 0)
            row->fractions(engine, &figures, ret->fractions + ret->fraction_count);
        ret->fraction_count += row->fraction_count;
    }
    ret->created = queue->created;
    ret->uid = state_name(engine->state, queue->uid);
    ret->queue = id;
}

/* -1, 0 or 1: the smaller allocatable share first, where one is smaller or equal in everything. */
static int compare_allocatable(const struct queue_rank *l, const struct queue_rank *r)
{
    bool is_less = false;
    bool is_more = false;

    for (int i = 0; i < SHARE_COUNT; i++) {
        is_less = is_less || l->allocatable[i] < r->allocatable[i];
        is_more = is_more || l->allocatable[i] > r->allocatable[i];
    }
    return is_less == is_more ? 0 : is_less ? -1 : 1;
}

int queue_rank_compare_shares(const struct queue_rank *l, const struct queue_rank *r)
{
    if (l->whole != r->whole)
        return l->whole < r->whole ? -1 : 1;
    for (uint32_t i = 0; i < l->fraction_count; i++) {
        if (l->fractions[i] != r->fractions[i])
            return l->fractions[i] < r->fractions[i] ? -1 : 1;
    }
    return 0;
}

bool queue_rank_precedes(const struct queue_rank *l, const struct queue_rank *r)
{
    int shares = queue_rank_compare_shares(l, r);
    if (shares != 0)
        return shares < 0;
    int allocatable = compare_allocatable(l, r);
    if (allocatable != 0)
        return allocatable < 0;
    if (l->created != r->created)
        return l->created < r->created;
    /* KAI leaves this open. */
    int uid = strcmp(l->uid, r->uid);
    return uid != 0 ? uid < 0 : l->queue < r->queue;
}
