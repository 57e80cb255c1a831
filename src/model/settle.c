/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Settling: deltas and cycles note which pods, nodes, gangs and claims they changed; here everything that follows from
 * those changes is made anew. A node's books are always made from its capacity and its pods in one fixed order, so
 * that a state that was kept through any number of changes has the same books as one that was loaded afresh.
 */
#include "model/parts.h"

static void relay_rows(struct state *state, uint32_t dims)
{
    uint32_t old_dims = state->book_dims;
    size_t rows = (size_t)state->nodes.len * 4;
    VEC(int64_t) wider = {0};

    vec_resize(&wider, rows * dims);
    for (size_t row = 0; wider.items && row < rows; row++)
        memcpy(wider.items + row * dims, state->book_rows.items + row * old_dims, old_dims * sizeof *wider.items);
    free(state->book_rows.items);
    state->book_rows.items = wider.items;
    state->book_rows.len = wider.len;
    state->book_rows.cap = wider.cap;
}

void state_fit_dimensions(struct state *state)
{
    if (state->book_dims == state->res.count)
        return;
    /* The log holds addresses of the rows. */
    BUG_ON(state->undo.is_recording);
    if (state->nodes.len > 0)
        relay_rows(state, state->res.count);
    uint32_t old_dims = state->book_dims;
    bool is_served = false;

    state->book_dims = state->res.count;
    for (uint32_t d = old_dims; d < state->book_dims; d++)
        is_served |= state_class_serves(state, d);
    for (node_id id = 0; is_served && id < state->nodes.len; id++)
        if (state->nodes.items[id].is_present)
            node_mark_stale(state, id);
    vec_foreach (&state->nodes, node)
        numa_fit_dimensions(&node->numa, state->res.count);
    state->changes.requests = true;
}

static void settle_claims(struct state *state)
{
    vec_foreach (&state->scratch_claims.ids, claim)
        claim_own_lists(state, *claim);
    id_set_clear(&state->scratch_claims);
}

static void settle_pods(struct state *state)
{
    vec_foreach (&state->scratch_pods.ids, pod)
        if (state->pods.items[*pod].is_present)
            pod_touch(state, *pod);
    id_set_clear(&state->scratch_pods);
    vec_foreach (&state->unsettled_pods, pod) {
        pod_own_lists(state, *pod);
        pod_link_node(state, *pod);
    }
}

static void settle_nodes(struct state *state)
{
    vec_foreach (&state->unsettled_nodes.ids, id) {
        const struct node *node = &state->nodes.items[*id];

        /* A simulation that was taken back left no trace. */
        if (node->books_are_stale || node->is_touched)
            node_rebuild_books(state, *id);
    }
    id_set_clear(&state->unsettled_nodes);
}

static void settle_charges(struct state *state)
{
    vec_foreach (&state->unsettled_pods, pod) {
        state->pods.items[*pod].is_unsettled = false;
        if (state->pods.items[*pod].is_present)
            pod_recharge(state, *pod);
        else
            vec_push(&state->unused_pods, *pod);
    }
    vec_clear(&state->unsettled_pods);
}

static void settle_gangs(struct state *state)
{
    vec_foreach (&state->unsettled_gangs, gang)
        gang_settle(state, *gang);
    vec_clear(&state->unsettled_gangs);
}

void state_settle(struct state *state)
{
    BUG_ON(state->undo.is_recording);
    undo_forget(&state->undo);
    settle_claims(state);
    settle_pods(state);
    settle_nodes(state);
    arena_clear(&state->scratch);
    vec_foreach (&state->discarded, memory)
        free(*memory);
    vec_clear(&state->discarded);

    if (state->queues_are_stale)
        queues_link(state);
    settle_charges(state);
    if (state->queue_books_are_stale)
        queues_sum(state);
    settle_gangs(state);
    if (state->ranks_are_stale)
        nodes_rank(state);
    if (state->totals_are_stale)
        nodes_total(state);
}
