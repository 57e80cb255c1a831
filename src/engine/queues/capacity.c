/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Limits and quotas. Asked before a gang is placed, for all that it asks for, and again for each pod on each node,
 * whose GPU memory decides what a shared device counts. A resource that is not asked for is not checked: a queue that
 * is over a limit of its GPUs still takes pods without any.
 */
#include "engine/context.h"
#include "engine/queues/share.h"
#include "model/gang.h"
#include "model/queue.h"
#include "model/state.h"

static bool refuse(struct verdict *ret, enum verdict_code code, queue_id queue, int resource, const double numbers[3])
{
    if (ret) {
        ret->code = code;
        ret->queue = queue;
        ret->resource = resource;
        ret->requested = numbers[0];
        ret->allocated = numbers[1];
        ret->bound = numbers[2];
    }
    return false;
}

static bool within(queue_id queue, const double bound[SHARE_COUNT], const struct amounts *books,
                   const double asked[SHARE_COUNT], enum verdict_code code, struct verdict *ret)
{
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (bound[r] == UNLIMITED || asked[r] == 0)
            continue;
        double allocated = share_to_double(r, books->v[r]);
        if (bound[r] < allocated + asked[r])
            return refuse(ret, code, queue, r, (const double[]){asked[r], allocated, bound[r]});
    }
    return true;
}

bool capacity_allows_fixed(const struct engine *engine, const struct gang *gang, const double asked[SHARE_COUNT],
                           struct verdict *ret)
{
    const struct queue *queues = engine->state->queues.items;

    if (gang->is_preemptible || !engine_has(engine, PLUGIN_PROPORTION))
        return true;
    for (queue_id id = gang->queue; id != NO_ID; id = queues[id].parent) {
        if (!within(id, queues[id].deserved, &queues[id].allocated_fixed, asked, VERDICT_OVER_QUOTA, ret))
            return false;
    }
    return true;
}

bool capacity_allows(const struct engine *engine, const struct gang *gang, const double asked[SHARE_COUNT],
                     struct verdict *ret)
{
    const struct queue *queues = engine->state->queues.items;

    if (!engine_has(engine, PLUGIN_PROPORTION))
        return true;
    for (queue_id id = gang->queue; id != NO_ID; id = queues[id].parent) {
        if (!within(id, queues[id].limit, &queues[id].allocated, asked, VERDICT_OVER_LIMIT, ret))
            return false;
    }
    return capacity_allows_fixed(engine, gang, asked, ret);
}
