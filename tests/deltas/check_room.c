/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Room on nodes, counted from the objects alone, without any book: a cycle may leave a node that the deltas filled too
 * much as it was, but must not make it worse.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "check.h"
#include "world_tables.h"

static const char *const room_names[ROOM_COUNT] = {
    [ROOM_CPU] = "cpu",
    [ROOM_MEMORY] = "memory",
    [ROOM_PODS] = "pods",
    [ROOM_GPU] = "gpu",
    [ROOM_MIG_1] = "nvidia.com/mig-1g.5gb",
    [ROOM_MIG_3] = "nvidia.com/mig-3g.20gb",
    [ROOM_NIC] = "example.com/nic",
};

static uint32_t room_of(const char *resource)
{
    const char *slash = strrchr(resource, '/');

    if (slash && strcmp(slash, "/gpu") == 0)
        return ROOM_GPU;
    for (uint32_t r = 0; r < ROOM_COUNT; r++)
        if (strcmp(room_names[r], resource) == 0)
            return r;
    BUG_ON(true);
}

static void count_capacity(const struct world *world, uint32_t i, int64_t room[ROOM_COUNT])
{
    const struct world_node *node = &world->nodes[i];
    const struct node_shape *shape = &node_shapes[node->shape];

    for (uint32_t a = 0; a < SHAPE_AMOUNTS && shape->amounts[a].resource; a++)
        room[room_of(shape->amounts[a].resource)] += shape->amounts[a].amount;
    if (node->has_few_pods)
        room[ROOM_PODS] = 3;
    for (uint32_t s = 0; s < WORLD_SLICES; s++) {
        const struct world_slice *slice = &world->slices[s];
        if (slice->is_present && slice->node == i && slice->class == 0)
            room[ROOM_GPU] += slice->count * GPU_ONE;
    }
}

static void take_request(const struct world_pod *pod, int64_t room[ROOM_COUNT])
{
    const struct request_shape *shape = &request_shapes[pod->request];

    room[ROOM_PODS]--;
    for (uint32_t a = 0; a < REQUEST_AMOUNTS && shape->amounts[a].resource; a++)
        room[room_of(shape->amounts[a].resource)] -= shape->amounts[a].amount;
    if (!pod->is_reservation)
        room[ROOM_GPU] -= shape->gpus * GPU_ONE;
}

/* Is the device of a slice of this node alone? Those for all nodes are not part of its GPUs. */
static bool is_of_node(const struct world *world, uint32_t node, const struct world_device *device)
{
    uint32_t slice = (uint32_t)strtoul(device->pool + strlen("pool"), NULL, 10);

    return slice < WORLD_SLICES && world->slices[slice].is_present && world->slices[slice].node == node &&
           world->slices[slice].class == 0;
}

/* GPUs of claims that pods on the node hold, each once. */
static int64_t count_claimed(const struct world *world, uint32_t node)
{
    uint64_t counted = 0;
    int64_t devices = 0;

    for (uint32_t p = 0; p < WORLD_PODS; p++) {
        const struct world_pod *pod = &world->pods[p];
        for (uint32_t c = 0; pod_uses_node(pod) && pod->node == node && c < pod->claim_count; c++) {
            const struct world_claim *claim = &world->claims[pod->claims[c]];
            if (!claim->is_present || !claim->is_allocated || claim->class != 0 || claim->is_synthetic ||
                counted >> pod->claims[c] & 1)
                continue;
            counted |= UINT64_C(1) << pod->claims[c];
            for (uint32_t d = 0; d < claim->device_count; d++)
                devices += is_of_node(world, node, &claim->devices[d]);
        }
    }
    return devices;
}

static int64_t memory_on(const struct request_shape *shape, const struct node_shape *node)
{
    int64_t memory = node->gpu_memory_mib ? node->gpu_memory_mib / 100 * 100 : 100;

    return shape->memory_mib ? shape->memory_mib : (int64_t)(shape->portion * (double)memory);
}

/* What all pods on the node have of one shared GPU. */
static int64_t count_shared(const struct world *world, uint32_t node, gpu_group group)
{
    int64_t sum = 0;

    for (uint32_t p = 0; p < WORLD_PODS; p++) {
        const struct world_pod *pod = &world->pods[p];
        for (uint32_t g = 0; pod_uses_node(pod) && pod->node == node && g < pod->group_count; g++)
            if (pod->groups[g] == group)
                sum += memory_on(&request_shapes[pod->request], &node_shapes[world->nodes[node].shape]);
    }
    return sum;
}

static void count_groups(const struct world *world, uint32_t node, struct room *ret, int64_t room[ROOM_COUNT])
{
    const struct node_shape *shape = &node_shapes[world->nodes[node].shape];
    int64_t memory = shape->gpu_memory_mib ? shape->gpu_memory_mib / 100 * 100 : 100;
    uint32_t first = ret->crowded_count;

    for (uint32_t p = 0; p < WORLD_PODS; p++) {
        const struct world_pod *pod = &world->pods[p];
        for (uint32_t g = 0; pod_uses_node(pod) && pod->node == node && g < pod->group_count; g++) {
            bool is_known = false;
            for (uint32_t k = first; k < ret->crowded_count; k++)
                is_known |= ret->crowded[k].group == pod->groups[g];
            if (is_known || request_shapes[pod->request].devices == 0)
                continue;
            int64_t over = count_shared(world, node, pod->groups[g]) - memory;
            ret->crowded[ret->crowded_count++] =
                (struct crowded_gpu){(uint8_t)node, pod->groups[g], MAX(over, INT64_C(0))};
            room[ROOM_GPU] -= GPU_ONE;
        }
    }
}

/* What pods that stay draw from the zones of their nodes, beyond what a zone has. */
static void count_zones(const struct world *world, uint32_t node, struct room *ret)
{
    const struct numa_row *row = &numa_rows[world->nodes[node].numa];
    int64_t room[ROOM_COUNT] = {0};

    count_capacity(world, node, room);
    for (uint32_t z = 0; z < row->zones; z++) {
        ret->zone_over[node][z][0] = -(room[ROOM_CPU] / row->zones / 1000 * 1000);
        ret->zone_over[node][z][1] = -(room[ROOM_GPU] / GPU_ONE / row->zones * GPU_ONE);
    }
    for (uint32_t p = 0; p < WORLD_PODS; p++) {
        const struct world_pod *pod = &world->pods[p];
        bool stays = pod_uses_node(pod) && status_in(pod->status, ALLOCATED_SET);
        for (uint32_t d = 0; stays && pod->node == node && d < pod->draw_count; d++) {
            uint32_t zone = (uint32_t)strtoul(pod->draws[d].zone + strlen("node-"), NULL, 10);
            if (zone < row->zones)
                ret->zone_over[node][zone][room_of(pod->draws[d].resource) == ROOM_GPU] += pod->draws[d].amount;
        }
    }
}

static void check_zones(const struct cycle *cycle, const struct room *now)
{
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        for (uint32_t z = 0; z < ROOM_ZONES; z++)
            for (uint32_t r = 0; r < 2; r++)
                if (now->zone_over[i][z][r] > MAX(cycle->room.zone_over[i][z][r], INT64_C(0)))
                    play_fail(cycle->play, "over-commitment", "zone %u of node %s has %" PRId64 " too much on it", z,
                              world_name(KIND_NODE, i), now->zone_over[i][z][r]);
}

void room_count(const struct world *world, struct room *ret)
{
    memset(ret, 0, sizeof *ret);
    for (uint32_t i = 0; i < WORLD_NODES; i++) {
        int64_t room[ROOM_COUNT] = {0};

        if (!world->nodes[i].is_present)
            continue;
        count_capacity(world, i, room);
        for (uint32_t p = 0; p < WORLD_PODS; p++)
            if (pod_uses_node(&world->pods[p]) && world->pods[p].node == i)
                take_request(&world->pods[p], room);
        room[ROOM_GPU] -= count_claimed(world, i) * GPU_ONE;
        count_groups(world, i, ret, room);
        count_zones(world, i, ret);
        for (uint32_t r = 0; r < ROOM_COUNT; r++)
            ret->over[i][r] = MAX(-room[r], INT64_C(0));
    }
}

static int64_t over_before(const struct room *room, const struct crowded_gpu *gpu)
{
    for (uint32_t k = 0; k < room->crowded_count; k++)
        if (room->crowded[k].node == gpu->node && room->crowded[k].group == gpu->group)
            return room->crowded[k].over_mib;
    return 0;
}

void check_room(const struct cycle *cycle)
{
    struct room now;

    room_count(&cycle->play->world, &now);
    check_zones(cycle, &now);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        for (uint32_t r = 0; r < ROOM_COUNT; r++)
            if (now.over[i][r] > cycle->room.over[i][r])
                play_fail(cycle->play, "over-commitment",
                          "node %s has %" PRId64 " too much of %s on it, before the cycle %" PRId64,
                          world_name(KIND_NODE, i), now.over[i][r], room_names[r], cycle->room.over[i][r]);
    for (uint32_t k = 0; k < now.crowded_count; k++)
        if (now.crowded[k].over_mib > over_before(&cycle->room, &now.crowded[k]))
            play_fail(cycle->play, "over-commitment", "a GPU of node %s has %" PRId64 " MiB too much on it",
                      world_name(KIND_NODE, now.crowded[k].node), now.crowded[k].over_mib);
}
