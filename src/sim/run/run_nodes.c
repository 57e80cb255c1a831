/* SPDX-License-Identifier: Apache-2.0 */

/* Nodes: what is idle on them and in how small pieces, and how they fail and return. */
#include "base/err.h"
#include "model/books/books.h"
#include "model/retell/retell.h"
#include "sim/run/run_internal.h"

void sim_run_load_nodes(struct sim_run *run)
{
    struct state *state = run->state;

    vec_resize(&run->inner->nodes, state->nodes.len);
    for (node_id id = 0; id < state->nodes.len; id++)
        if (state->nodes.items[id].is_present)
            sim_run_touch_node(run, id);
}

void sim_run_touch_node(struct sim_run *run, node_id id)
{
    struct sim_run_inner *inner = run->inner;

    if (inner->nodes.len <= id)
        vec_resize(&inner->nodes, id + 1);
    if (inner->nodes.items[id].is_touched)
        return;
    inner->nodes.items[id].is_touched = true;
    vec_push(&inner->touched, id);
}

static void measure(const struct state *state, node_id id, struct sim_run_node *ret)
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
void sim_run_count_idle(struct sim_run *run)
{
    struct sim_run_inner *inner = run->inner;

    vec_foreach (&inner->touched, id) {
        struct sim_run_node *node = &inner->nodes.items[*id];
        struct sim_run_node old = *node;

        measure(run->state, *id, node);
        node->is_touched = false;
        inner->idle_empty += node->empty - old.empty;
        inner->idle_partly += node->partly - old.partly;
        inner->idle_shared += node->shared - old.shared;
    }
    vec_clear(&inner->touched);
    series_set(&run->timeline, run->idle_empty, inner->idle_empty);
    series_set(&run->timeline, run->idle_partly, inner->idle_partly);
    series_set(&run->timeline, run->idle_shared, MAX(inner->idle_shared, 0.0));
}

int sim_run_node_down(struct sim_run *run, node_id id, struct err *err)
{
    struct sim_run_inner *inner = run->inner;
    struct state *state = run->state;
    uint32_t troubles = state->nodes.items[id].troubles;

    sim_run_touch_node(run, id);
    if (inner->nodes.items[id].is_down)
        return 0;
    inner->nodes.items[id].is_down = true;
    inner->nodes.items[id].troubles = troubles;
    /* Pods leave the list as they fail. */
    vec_clear(&inner->failing);
    vec_foreach (&state->nodes.items[id].pods, pod)
        vec_push(&inner->failing, *pod);
    vec_foreach (&inner->failing, pod)
        sim_run_pod_failed(run, *pod);
    return state_set_troubles(state, id, troubles | NODE_NOT_READY, err);
}

int sim_run_node_up(struct sim_run *run, node_id id, struct err *err)
{
    struct sim_run_inner *inner = run->inner;

    sim_run_touch_node(run, id);
    if (!inner->nodes.items[id].is_down)
        return 0;
    inner->nodes.items[id].is_down = false;
    return state_set_troubles(run->state, id, inner->nodes.items[id].troubles, err);
}
