/* SPDX-License-Identifier: Apache-2.0 */

/* Nodes: what is idle on them and in how small pieces, and how they fail and return. */
#include "base/err.h"
#include "model/books.h"
#include "sim/play/play_internal.h"
#include "sim/why/why_copy.h"

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
    return state_set_troubles(state, id, troubles | NODE_NOT_READY, err);
}

int play_node_up(struct play *play, node_id id, struct err *err)
{
    struct play_inner *inner = play->inner;

    play_touch_node(play, id);
    if (!inner->nodes.items[id].is_down)
        return 0;
    inner->nodes.items[id].is_down = false;
    return state_set_troubles(play->state, id, inner->nodes.items[id].troubles, err);
}
