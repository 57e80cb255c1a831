/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/nodes/gpu_room.h"

#include <math.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "model/books/books.h"
#include "model/state.h"

struct gpu_room *gpu_room_new(void)
{
    return xcalloc(1, sizeof(struct gpu_room));
}

void gpu_room_free(struct gpu_room *room)
{
    if (!room)
        return;
    vec_done(&room->nodes);
    vec_done(&room->stale);
    vec_done(&room->leaves);
    bitset_done(&room->by_rank);
    free(room);
}

size_t gpu_room_bytes(const struct gpu_room *room)
{
    return sizeof *room + vec_bytes(&room->nodes) + vec_bytes(&room->stale) + vec_bytes(&room->leaves) +
           (size_t)bitset_words(&room->by_rank) * sizeof *room->by_rank.words;
}

void gpu_room_node_touched(struct engine *engine, node_id node)
{
    struct gpu_room *room = engine->room;

    if (node >= room->nodes.len || room->nodes.items[node].is_stale)
        return;
    room->nodes.items[node].is_stale = true;
    vec_push(&room->stale, node);
}

static struct node_room read_books(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];

    if (!node->is_present)
        return (struct node_room){0};
    struct books books = state_books(state, id);
    double idle = node_idle_gpus(state, id);
    double releasing = node_releasing_gpus(state, id);
    struct node_room room = {
        .free = idle + releasing,
        .hundredths = llround(idle * 100) + llround(releasing * 100),
        .memory_mib = node_idle_gpu_memory(state, id) + node_releasing_gpu_memory(state, id),
        .whole = books.idle[RES_GPU] + books.releasing[RES_GPU],
        .has_room = idle > 0 || releasing > 0,
        .is_ready = node->troubles == 0,
    };
    int64_t shared = 0;
    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next)
        shared++;
    room.most = MAX(room.whole + shared * GPU_ONE, INT64_C(0));
    return room;
}

/* Takes the node's part out of the sums (-1) or puts it in. */
static void count_node(struct gpu_room *room, const struct state *state, node_id id, int sign)
{
    const struct node_room *node = &room->nodes.items[id];

    room->most += sign * node->most;
    if (node->is_ready) {
        room->hundredths += sign * node->hundredths;
        room->memory_mib += sign * node->memory_mib;
    }
    if (!node->has_room)
        return;
    if (sign > 0) {
        bitset_set(&room->by_rank, state->nodes.items[id].rank);
        room->room_count++;
    } else {
        bitset_clear(&room->by_rank, state->nodes.items[id].rank);
        room->room_count--;
    }
}

void gpu_room_refresh(struct engine *engine)
{
    struct gpu_room *room = engine->room;

    vec_foreach (&room->stale, node) {
        count_node(room, engine->state, *node, -1);
        room->nodes.items[*node] = read_books(engine->state, *node);
        count_node(room, engine->state, *node, +1);
    }
    vec_clear(&room->stale);
}

static void read_all_nodes(struct engine *engine)
{
    struct gpu_room *room = engine->room;
    const struct state *state = engine->state;

    vec_clear(&room->stale);
    vec_clear(&room->nodes);
    vec_resize(&room->nodes, state->nodes.len);
    bitset_resize(&room->by_rank, state->nodes_by_rank.len);
    bitset_clear_all(&room->by_rank);
    room->room_count = 0;
    room->dra_nodes = 0;
    room->hundredths = room->memory_mib = room->most = 0;
    for (node_id id = 0; id < state->nodes.len; id++) {
        room->nodes.items[id] = read_books(state, id);
        count_node(room, state, id, +1);
        room->dra_nodes += state->nodes.items[id].is_present && state->nodes.items[id].has_dra_gpus;
    }
}

/* The most GPUs of one item that the gang's victims fall into: a pod beyond a minimum, or all that minima need. */
static int64_t largest_item(const struct state *state, const struct gang *gang)
{
    int64_t core = 0;
    int64_t largest = 0;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        int64_t most = 0;
        for (uint32_t i = 0; i < set->pods.len; i++) {
            pod_id pod = set->pods.items[i];
            if (status_in(state->pods.items[pod].status, ACTIVE_ALLOCATED))
                most = MAX(most, pod_accepted(state, pod).v[SHARE_GPU]);
        }
        largest = MAX(largest, most);
        core += most * MIN((int64_t)MAX(set->min, 0), (int64_t)set->pods.len);
    }
    return MAX(core, largest);
}

void gpu_room_gang_changed(struct engine *engine, gang_id id)
{
    struct gpu_room *room = engine->room;
    const struct gang *gang = &engine->state->gangs.items[id];

    if (!gang->is_present || !gang->is_preemptible || gang->active_allocated == 0 || gang->queue >= room->leaves.len)
        return;
    struct leaf_bounds *leaf = &room->leaves.items[gang->queue];
    if (!leaf->has_gangs) {
        *leaf = (struct leaf_bounds){true, false, gang->priority, gang->last_start, 0};
    } else {
        leaf->lowest_priority = MIN(leaf->lowest_priority, gang->priority);
        leaf->oldest_start = MIN(leaf->oldest_start, gang->last_start);
    }
    leaf->has_elastic |= gang_is_elastic(gang);
    leaf->largest_item = MAX(leaf->largest_item, largest_item(engine->state, gang));
    room->bounded_gangs++;
}

static void bound_all_leaves(struct engine *engine)
{
    struct gpu_room *room = engine->room;
    const struct id_set *active = &engine->state->active_gangs;

    vec_clear(&room->leaves);
    vec_resize(&room->leaves, engine->state->queues.len);
    room->bounded_gangs = 0;
    for (uint32_t i = 0; i < active->ids.len; i++)
        gpu_room_gang_changed(engine, active->ids.items[i]);
}

void gpu_room_update(struct engine *engine)
{
    struct gpu_room *room = engine->room;
    const struct state *state = engine->state;
    const struct changes *changes = &state->changes;

    room->has_moved_pods = false;
    if (changes->nodes_static || room->nodes.len != state->nodes.len ||
        room->by_rank.bits != state->nodes_by_rank.len) {
        read_all_nodes(engine);
    } else {
        for (uint32_t i = 0; i < changes->nodes.ids.len; i++)
            gpu_room_node_touched(engine, changes->nodes.ids.items[i]);
    }
    /* Made anew when as many gangs came into the bounds as there are: that keeps them tight at a steady cost. */
    if (changes->queues || room->leaves.len != state->queues.len ||
        room->bounded_gangs + changes->gangs.ids.len > 2 * state->active_gangs.ids.len + 1000) {
        bound_all_leaves(engine);
    } else {
        for (uint32_t i = 0; i < changes->gangs.ids.len; i++)
            gpu_room_gang_changed(engine, changes->gangs.ids.items[i]);
    }
}
