/* SPDX-License-Identifier: Apache-2.0 */

/* What queues hold, counted from the objects alone, and their limits and quotas. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/macros.h"
#include "check.h"
#include "model/queue.h"
#include "model/state.h"
#include "world_tables.h"

static int64_t claimed_gpus(const struct world *world, const struct world_pod *pod)
{
    int64_t gpus = 0;

    for (uint32_t c = 0; c < pod->claim_count; c++) {
        const struct world_claim *claim = &world->claims[pod->claims[c]];
        if (claim->is_present && claim->class == 0 && !claim->is_synthetic)
            gpus += claim->count;
    }
    return gpus;
}

/* What the pod's place costs its queue. */
static struct amounts cost_of(const struct world *world, const struct world_pod *pod)
{
    const struct request_shape *shape = &request_shapes[pod->request];
    const struct node_shape *node = &node_shapes[world->nodes[pod->node].shape];
    double memory = node->gpu_memory_mib ? (double)(node->gpu_memory_mib / 100 * 100) : 100;
    struct amounts cost = {0};

    for (uint32_t a = 0; a < REQUEST_AMOUNTS && shape->amounts[a].resource; a++) {
        const struct amount_spec *amount = &shape->amounts[a];
        if (strcmp(amount->resource, "cpu") == 0)
            cost.v[SHARE_CPU] += amount->amount;
        else if (strcmp(amount->resource, "memory") == 0)
            cost.v[SHARE_MEMORY] += amount->amount;
        else if (strcmp(amount->resource, "nvidia.com/mig-1g.5gb") == 0)
            cost.v[SHARE_GPU] += amount->amount * GPU_ONE;
        else if (strcmp(amount->resource, "nvidia.com/mig-3g.20gb") == 0)
            cost.v[SHARE_GPU] += amount->amount * 3 * GPU_ONE;
    }
    double portion = shape->memory_mib ? ceil((double)shape->memory_mib / memory * 100) / 100 : shape->portion;
    cost.v[SHARE_GPU] += llround(portion * 100) * shape->devices * GPU_HUNDREDTH + shape->gpus * GPU_ONE;
    if (shape->devices == 0)
        cost.v[SHARE_GPU] += claimed_gpus(world, pod) * GPU_ONE;
    return cost;
}

static bool is_connected(const struct world *world, uint32_t queue)
{
    for (uint32_t q = queue; q != NOWHERE; q = world->queues[q].parent)
        if (!world->queues[q].is_present || world->queues[q].is_parent_lost)
            return false;
    return true;
}

static void count_pod(const struct world *world, const struct world_pod *pod, struct amounts *allocated,
                      struct amounts *fixed)
{
    if (!pod->is_present || pod->gang == NOWHERE || !status_in(pod->status, ALLOCATED_SET) || pod->node == NOWHERE ||
        !world->nodes[pod->node].is_present)
        return;
    const struct world_gang *gang = &world->gangs[pod->gang];
    if (!gang->is_present || tree_pod_set(gang->tree, pod->set) == NOWHERE || gang->queue == NOWHERE ||
        !is_connected(world, gang->queue))
        return;
    struct amounts cost = cost_of(world, pod);
    for (uint32_t q = gang->queue; q != NOWHERE; q = world->queues[q].parent)
        for (int r = 0; r < SHARE_COUNT; r++) {
            allocated[q].v[r] += cost.v[r];
            fixed[q].v[r] += gang->is_preemptible ? 0 : cost.v[r];
        }
}

void check_queue_books(const struct cycle *cycle)
{
    const struct world *world = &cycle->play->world;
    const struct state *state = cycle->play->state;
    struct amounts allocated[WORLD_QUEUES] = {0};
    struct amounts fixed[WORLD_QUEUES] = {0};

    for (uint32_t p = 0; p < WORLD_PODS; p++)
        count_pod(world, &world->pods[p], allocated, fixed);
    for (uint32_t q = 0; q < WORLD_QUEUES; q++) {
        queue_id id = state_find_queue(state, world_name(KIND_QUEUE, q));

        if (!world->queues[q].is_present)
            continue;
        for (int r = 0; r < SHARE_COUNT; r++)
            if (state->queues.items[id].allocated.v[r] != allocated[q].v[r] ||
                state->queues.items[id].allocated_fixed.v[r] != fixed[q].v[r])
                play_fail(cycle->play, "books of queues",
                          "queue %s holds %" PRId64 " (%" PRId64 " fixed) of resource %d, its books say %" PRId64
                          " (%" PRId64 ")",
                          world_name(KIND_QUEUE, q), allocated[q].v[r], fixed[q].v[r], r,
                          state->queues.items[id].allocated.v[r], state->queues.items[id].allocated_fixed.v[r]);
    }
}

static bool is_within(int resource, int64_t held, double bound)
{
    return bound == UNLIMITED || share_to_double(resource, held) <= bound;
}

static void check_bound(const struct cycle *cycle, uint32_t q, int r, const char *what, double bound, int64_t before,
                        int64_t now)
{
    if (is_within(r, now, bound) || !is_within(r, before, bound) || now <= before)
        return;
    play_fail(cycle->play, what, "queue %s has %g of resource %d, its bound is %g, before the cycle it had %g",
              world_name(KIND_QUEUE, q), share_to_double(r, now), r, bound, share_to_double(r, before));
}

void check_queues(const struct cycle *cycle)
{
    static const uint32_t odd = THEME_CLAIMS | THEME_MEMORY;
    const struct state *state = cycle->play->state;

    for (uint32_t q = 0; q < WORLD_QUEUES; q++) {
        const struct world_queue *queue = &cycle->play->world.queues[q];
        queue_id id = state_find_queue(state, world_name(KIND_QUEUE, q));

        for (int r = 0; queue->is_present && r < SHARE_COUNT; r++) {
            /* KAI counts GPU memory against the largest GPUs for a gang, and no claimed GPUs for a pod on its node. */
            if (r == SHARE_GPU && (cycle->play->world.theme & odd) == odd)
                continue;
            const struct queue *held = &state->queues.items[id];
            check_bound(cycle, q, r, "limit", queue->limit[r], cycle->allocated[q].v[r], held->allocated.v[r]);
            check_bound(cycle, q, r, "quota", queue->deserved[r], cycle->fixed[q].v[r], held->allocated_fixed.v[r]);
        }
    }
}
