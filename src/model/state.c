/* SPDX-License-Identifier: Apache-2.0 */

/* The state as a whole: its life, and finding things in it by name. */
#include "model/state.h"

#include "base/mem.h"
#include "model/parts.h"

struct state *state_new(void)
{
    struct state *state = xcalloc(1, sizeof *state);

    intern_init(&state->names);
    resources_init(&state->res, &state->names);
    undo_init(&state->undo);
    state->book_dims = state->res.count;
    chunks_init(&state->shared_gpus, sizeof(struct shared_gpu));
    chunks_init(&state->held, sizeof(struct held));
    state->free_shared = NO_ID;
    state->free_held = NO_ID;
    arena_init(&state->kept);
    arena_init(&state->scratch);
    state->min_gpu_memory_mib = 100;
    state->max_gpu_memory_mib = 100;
    /* Id 0 of each kind of shape is the empty one. */
    (void)labels_add(state, NULL, 0);
    (void)constraints_add(state, &(struct constraints_spec){0});
    return state;
}

static void free_objects(struct state *state)
{
    for (node_id id = 0; id < state->nodes.len; id++) {
        struct node *node = &state->nodes.items[id];

        node_drop_books(state, id);
        free((void *)(uintptr_t)node->taints);
        free(node->attach_limits);
        free(node->numa);
        vec_done(&node->pods);
    }
    for (pod_id id = 0; id < state->pods.len; id++)
        pod_free_lists(state, id);
    vec_foreach (&state->gangs, gang) {
        for (uint32_t i = 0; i < gang->group_count; i++)
            vec_done(&gang->groups[i].pods);
        free(gang->groups);
        vec_done(&gang->stray_pods);
    }
    vec_foreach (&state->queues, queue)
        vec_done(&queue->children);
    vec_foreach (&state->slices, slice) {
        free(slice->devices);
        free(slice->kept);
    }
    vec_foreach (&state->device_classes, class)
        free(class->kept);
    vec_foreach (&state->claims, claim) {
        free(claim->own_devices);
        free(claim->own_amounts);
        free(claim->own_reserved);
        free(claim->kept_ask);
        vec_done(&claim->users);
    }
    vec_foreach (&state->discarded, memory)
        free(*memory);
}

static void free_arrays(struct state *state)
{
    vec_done(&state->nodes);
    vec_done(&state->book_rows);
    chunks_done(&state->shared_gpus);
    chunks_done(&state->held);
    vec_done(&state->pods);
    vec_done(&state->gangs);
    vec_done(&state->queues);
    vec_done(&state->topologies);
    vec_done(&state->slices);
    vec_done(&state->claims);
    vec_done(&state->volumes);
    vec_done(&state->storages);
    vec_done(&state->priority_classes);
    vec_done(&state->device_classes);
    vec_done(&state->requests);
    vec_done(&state->constraints);
    vec_done(&state->labels);
    vec_done(&state->request_next);
    vec_done(&state->constraints_next);
    vec_done(&state->labels_next);
    vec_done(&state->request_keys);
    vec_done(&state->constraints_keys);
    vec_done(&state->labels_keys);
    vec_done(&state->words);
    vec_done(&state->nodes_by_rank);
    vec_done(&state->unsettled_pods);
    vec_done(&state->unsettled_gangs);
    vec_done(&state->discarded);
    vec_done(&state->unused_nodes);
    vec_done(&state->unused_pods);
    vec_done(&state->unused_gangs);
    vec_done(&state->unused_queues);
    vec_done(&state->unused_slices);
    vec_done(&state->unused_claims);
    vec_done(&state->unused_volumes);
    vec_done(&state->unused_storages);
}

void state_free(struct state *state)
{
    if (!state)
        return;
    free_objects(state);
    free_arrays(state);

    struct map64 *maps[] = {
        &state->node_by_name,     &state->pod_by_name,     &state->gang_by_name,        &state->queue_by_name,
        &state->topology_by_name, &state->slice_by_name,   &state->claim_by_name,       &state->volume_by_name,
        &state->config_maps,      &state->request_by_hash, &state->constraints_by_hash, &state->labels_by_hash,
        &state->storage_by_name,
    };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        map64_done(maps[i]);

    struct id_set *sets[] = {
        &state->scratch_pods, &state->scratch_claims, &state->pending_gangs, &state->active_gangs,
        &state->stale_gangs,  &state->changes.nodes,  &state->changes.gangs, &state->unsettled_nodes,
    };
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        id_set_done(sets[i]);

    arena_done(&state->kept);
    arena_done(&state->scratch);
    undo_done(&state->undo);
    intern_done(&state->names);
    free(state);
}

void state_discard(struct state *state, void *memory)
{
    if (memory)
        vec_push(&state->discarded, memory);
}

void state_changes_seen(struct state *state)
{
    struct changes *changes = &state->changes;

    id_set_clear(&changes->nodes);
    id_set_clear(&changes->gangs);
    changes->nodes_static = false;
    changes->queues = false;
    changes->topologies = false;
    changes->requests = false;
}

static uint32_t find(const struct state *state, const struct map64 *map, const char *namespace, const char *name)
{
    name_id namespace_id;
    name_id name_of;

    if (is_empty(name) || !name_find(state, namespace, &namespace_id) || !name_find(state, name, &name_of))
        return NO_ID;
    return map_find(map, name_pair(namespace_id, name_of));
}

node_id state_find_node(const struct state *state, const char *name)
{
    node_id id = find(state, &state->node_by_name, NULL, name);

    return id != NO_ID && state->nodes.items[id].is_present ? id : NO_ID;
}

pod_id state_find_pod(const struct state *state, const char *namespace, const char *name)
{
    return find(state, &state->pod_by_name, namespace, name);
}

gang_id state_find_gang(const struct state *state, const char *namespace, const char *name)
{
    gang_id id = find(state, &state->gang_by_name, namespace, name);

    return id != NO_ID && state->gangs.items[id].is_present ? id : NO_ID;
}

queue_id state_find_queue(const struct state *state, const char *name)
{
    return find(state, &state->queue_by_name, NULL, name);
}

topology_id state_find_topology(const struct state *state, name_id name)
{
    topology_id id = map_find(&state->topology_by_name, name);

    return id != NO_ID && state->topologies.items[id].is_present ? id : NO_ID;
}
