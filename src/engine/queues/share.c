/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shares of queues as numbers to compare. Books are integers; here they become the doubles that quotas and fair shares
 * are, so that comparisons round as KAI's do.
 */
#include "engine/queues/share.h"

#include "engine/context.h"
#include "model/queue.h"
#include "model/state.h"

double share_allocatable(const struct engine *engine, queue_id queue, int resource)
{
    const struct queue *q = &engine->state->queues.items[queue];
    double limit = q->limit[resource];

    if (q->deserved[resource] == UNLIMITED)
        return limit;
    double share = MAX(q->deserved[resource], engine->shares.items[queue].fair[resource]);
    return limit == UNLIMITED ? share : MIN(share, limit);
}

static void to_doubles(const struct amounts *amounts, double ret[SHARE_COUNT])
{
    for (int r = 0; r < SHARE_COUNT; r++)
        ret[r] = share_to_double(r, amounts->v[r]);
}

void share_allocated(const struct engine *engine, queue_id queue, double ret[SHARE_COUNT])
{
    to_doubles(&engine->state->queues.items[queue].allocated, ret);
}

void share_allocated_fixed(const struct engine *engine, queue_id queue, double ret[SHARE_COUNT])
{
    to_doubles(&engine->state->queues.items[queue].allocated_fixed, ret);
}

bool share_le(double a, double b)
{
    if (b == UNLIMITED)
        return true;
    return a != UNLIMITED && a <= b;
}

bool share_stays_deserved(const struct queue *queue, const double held[SHARE_COUNT], const double asked[SHARE_COUNT])
{
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (queue->deserved[r] != UNLIMITED && held[r] + asked[r] > queue->deserved[r])
            return false;
    }
    return true;
}

void share_level(const struct engine *engine, queue_id a, queue_id b, queue_id *ret_a, queue_id *ret_b)
{
    const struct queue *queues = engine->state->queues.items;

    while (queues[a].depth > queues[b].depth)
        a = queues[a].parent;
    while (queues[b].depth > queues[a].depth)
        b = queues[b].parent;
    while (a != b && queues[a].parent != queues[b].parent) {
        a = queues[a].parent;
        b = queues[b].parent;
    }
    *ret_a = a;
    *ret_b = b;
}
