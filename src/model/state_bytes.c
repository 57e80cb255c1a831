/* SPDX-License-Identifier: Apache-2.0 */

/* How much memory the objects take: by what is in use, not by what vectors have in reserve. */
#include "model/parts.h"

#define vec_used(v) ((size_t)(v)->len * sizeof *(v)->items)

/* A key, a value and a mark. */
static size_t map_used(const struct map64 *map)
{
    return map64_len(map) * (2 * sizeof(uint64_t) + 1);
}

static size_t nodes_used(const struct state *state)
{
    size_t bytes = vec_used(&state->nodes) + vec_used(&state->book_rows) + vec_used(&state->nodes_by_rank) +
                   map_used(&state->node_by_name) + state->shared_gpus.len * state->shared_gpus.item_size +
                   state->held.len * state->held.item_size;

    vec_foreach (&state->nodes, node) {
        bytes += vec_used(&node->pods) + node->taint_count * sizeof *node->taints;
        if (node->numa)
            bytes += sizeof *node->numa +
                     node->numa->zone_count * (sizeof(struct numa_zone) + 3 * node->numa->dims * sizeof(int64_t));
    }
    return bytes;
}

static size_t pods_used(const struct state *state)
{
    size_t bytes = vec_used(&state->pods) + map_used(&state->pod_by_name);

    vec_foreach (&state->pods, pod) {
        bytes += pod->claim_count * sizeof *pod->claims;
        if (pod->own_groups)
            bytes += pod->groups.count * sizeof *pod->own_groups;
        if (pod->own_numa)
            bytes += sizeof *pod->own_numa + pod->own_numa->count * sizeof *pod->own_numa->draws;
    }
    return bytes;
}

static size_t gangs_used(const struct state *state)
{
    size_t bytes = vec_used(&state->gangs) + map_used(&state->gang_by_name) + vec_used(&state->pending_gangs.ids) +
                   vec_used(&state->active_gangs.ids) + vec_used(&state->stale_gangs.ids);

    vec_foreach (&state->gangs, gang) {
        bytes += gang->group_count * sizeof *gang->groups + vec_used(&gang->stray_pods);
        for (uint32_t i = 0; i < gang->group_count; i++)
            bytes += vec_used(&gang->groups[i].pods);
    }
    return bytes;
}

static size_t rest_used(const struct state *state)
{
    size_t bytes = vec_used(&state->queues) + map_used(&state->queue_by_name) + vec_used(&state->topologies) +
                   vec_used(&state->slices) + vec_used(&state->claims) + vec_used(&state->volumes) +
                   vec_used(&state->storages) + map_used(&state->storage_by_name) + vec_used(&state->priority_classes) +
                   vec_used(&state->device_classes) + map_used(&state->topology_by_name) +
                   map_used(&state->slice_by_name) + map_used(&state->claim_by_name) +
                   map_used(&state->volume_by_name) + map_used(&state->config_maps);

    vec_foreach (&state->queues, queue)
        bytes += vec_used(&queue->children);
    vec_foreach (&state->slices, slice)
        bytes += slice->device_count * sizeof *slice->devices;
    vec_foreach (&state->claims, claim)
        bytes += claim->device_count * sizeof *claim->devices + claim->reserved_count * sizeof *claim->reserved_for +
                 claim->amount_count * sizeof *claim->amounts + vec_used(&claim->users);
    return bytes;
}

static size_t shapes_used(const struct state *state)
{
    size_t shapes = (size_t)state->requests.len + state->constraints.len + state->labels.len;

    return vec_used(&state->requests) + vec_used(&state->constraints) + vec_used(&state->labels) +
           shapes * (sizeof(struct shape_key) + sizeof(uint32_t)) + map_used(&state->request_by_hash) +
           map_used(&state->constraints_by_hash) + map_used(&state->labels_by_hash) + arena_bytes(&state->kept);
}

size_t state_bytes(const struct state *state)
{
    return sizeof *state + intern_bytes(&state->names) + nodes_used(state) + pods_used(state) + gangs_used(state) +
           rest_used(state) + shapes_used(state);
}
