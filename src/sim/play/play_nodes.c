/* SPDX-License-Identifier: Apache-2.0 */

/* Nodes: what is idle on them and in how small pieces, and how they fail and return. */
#include "base/arena.h"
#include "base/err.h"
#include "model/books.h"
#include "model/delta.h"
#include "sim/play/play_internal.h"

void play_load_nodes(struct play *play)
{
    struct state *state = play->state;

    vec_resize(&play->inner->nodes, state->nodes.len);
    for (node_id id = 0; id < state->nodes.len; id++)
        if (state->nodes.items[id].is_present)
            play_touch_node(play, id);
}

void play_touch_node(struct play *play, node_id id)
{
    struct play_inner *inner = play->inner;

    if (inner->nodes.len <= id)
        vec_resize(&inner->nodes, id + 1);
    if (inner->nodes.items[id].is_touched)
        return;
    inner->nodes.items[id].is_touched = true;
    vec_push(&inner->touched, id);
}

static void measure(const struct state *state, node_id id, struct play_node *ret)
{
    const struct node *node = &state->nodes.items[id];
    struct books books;
    int64_t whole;
    double idle;

    ret->empty = ret->partly = ret->shared = 0;
    if (!node->is_present || node->troubles)
        return;
    books = state_books(state, id);
    idle = node_idle_gpus(state, id);
    whole = MAX(books.idle[RES_GPU], INT64_C(0)) / GPU_ONE;
    if (books.idle[RES_GPU] == books.allocatable[RES_GPU])
        ret->empty = gpu_to_double(books.allocatable[RES_GPU]);
    else
        ret->partly = (double)whole;
    ret->shared = MAX(idle - ret->empty - ret->partly, 0.0);
}

/* Must be called while the books are those of a cycle. */
void play_count_idle(struct play *play)
{
    struct play_inner *inner = play->inner;

    vec_foreach (&inner->touched, id) {
        struct play_node *node = &inner->nodes.items[*id];
        struct play_node old = *node;

        measure(play->state, *id, node);
        node->is_touched = false;
        inner->idle_empty += node->empty - old.empty;
        inner->idle_partly += node->partly - old.partly;
        inner->idle_shared += node->shared - old.shared;
    }
    vec_clear(&inner->touched);
    series_set(&play->timeline, play->idle_empty, inner->idle_empty);
    series_set(&play->timeline, play->idle_partly, inner->idle_partly);
    series_set(&play->timeline, play->idle_shared, MAX(inner->idle_shared, 0.0));
}

/* What a vector holds, by name; entries below 0 say nothing. */
static const struct amount_spec *amounts_of(struct arena *arena, const struct state *state, const int64_t *v,
                                            uint32_t dims, size_t *ret_count)
{
    struct amount_spec *amounts = arena_calloc(arena, dims + 1, sizeof *amounts);

    *ret_count = 0;
    for (uint32_t d = 0; d < dims; d++)
        if (v[d] >= 0)
            amounts[(*ret_count)++] = (struct amount_spec){state_name(state, state->res.name[d]), v[d]};
    return amounts;
}

static const struct numa_spec *numa_of(struct arena *arena, const struct state *state, const struct numa *numa)
{
    struct numa_spec *spec;
    struct numa_zone_spec *zones;

    if (!numa)
        return NULL;
    spec = ARENA_NEW(arena, struct numa_spec);
    zones = arena_calloc(arena, numa->zone_count + 1, sizeof *zones);
    for (uint32_t i = 0; i < numa->zone_count; i++) {
        const struct numa_zone *zone = &numa->zones[i];

        zones[i].name = state_name(state, zone->name);
        zones[i].allocatable = amounts_of(arena, state, zone->allocatable, numa->dims, &zones[i].allocatable_count);
        zones[i].available = amounts_of(arena, state, zone->reported, numa->dims, &zones[i].available_count);
    }
    *spec = (struct numa_spec){numa->policy, numa->is_pod_scope, numa->reconstructs_available, zones, numa->zone_count};
    return spec;
}

static void add_labels(struct arena *arena, const struct state *state, const struct node *node, struct node_spec *spec)
{
    struct labels labels = state_labels(state, node->labels);
    struct str_pair *pairs = arena_calloc(arena, labels.count + 1, sizeof *pairs);
    struct taint_spec *taints = arena_calloc(arena, node->taint_count + 1, sizeof *taints);

    for (uint32_t i = 0; i < labels.count; i++)
        pairs[i] = (struct str_pair){state_name(state, labels.pairs[i].key), state_name(state, labels.pairs[i].value)};
    for (uint32_t i = 0; i < node->taint_count; i++)
        taints[i] = (struct taint_spec){state_name(state, node->taints[i].key),
                                        state_name(state, node->taints[i].value), node->taints[i].effect};
    spec->labels = pairs;
    spec->label_count = labels.count;
    spec->taints = taints;
    spec->taint_count = node->taint_count;
}

/* The node as it is in the state, said again with other troubles. */
static int set_troubles(struct state *state, node_id id, uint32_t troubles, struct err *err)
{
    const struct node *node = &state->nodes.items[id];
    int64_t allocatable[RES_MAX];
    struct node_spec spec = {
        .name = state_name(state, node->name),
        .troubles = troubles,
        .device_count = node->has_derived_devices ? -1 : node->device_count,
        .gpu_memory_mib = node->gpu_memory_mib,
        .is_gpu_memory_known = node->is_gpu_memory_known,
        .is_mig_enabled = node->is_mig_enabled,
        .mig_strategy = node->mig_strategy,
        .workers = node->workers,
        .hides_gpus = node->hides_gpus,
        .clamps_idle_pods = node->clamps_idle_pods,
    };
    struct arena arena;
    int r;

    arena_init(&arena);
    memcpy(allocatable, state_books(state, id).allocatable, state->book_dims * sizeof *allocatable);
    /* Devices of resource slices come back by themselves. */
    allocatable[RES_GPU] = node->plugin_gpus;
    spec.allocatable = amounts_of(&arena, state, allocatable, state->book_dims, &spec.allocatable_count);
    spec.numa = numa_of(&arena, state, node->numa);
    add_labels(&arena, state, node, &spec);
    r = state_put_node(state, &spec, err);
    arena_done(&arena);
    return r;
}

int play_node_down(struct play *play, node_id id, struct err *err)
{
    struct play_inner *inner = play->inner;
    struct state *state = play->state;
    uint32_t troubles = state->nodes.items[id].troubles;

    play_touch_node(play, id);
    if (inner->nodes.items[id].is_down)
        return 0;
    inner->nodes.items[id].is_down = true;
    inner->nodes.items[id].troubles = troubles;
    /* Pods leave the list as they fail. */
    vec_clear(&inner->failing);
    vec_foreach (&state->nodes.items[id].pods, pod)
        vec_push(&inner->failing, *pod);
    vec_foreach (&inner->failing, pod)
        play_pod_failed(play, *pod);
    return set_troubles(state, id, troubles | NODE_NOT_READY, err);
}

int play_node_up(struct play *play, node_id id, struct err *err)
{
    struct play_inner *inner = play->inner;

    play_touch_node(play, id);
    if (!inner->nodes.items[id].is_down)
        return 0;
    inner->nodes.items[id].is_down = false;
    return set_troubles(play->state, id, inner->nodes.items[id].troubles, err);
}
