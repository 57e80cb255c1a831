/* SPDX-License-Identifier: Apache-2.0 */

/* What follows from a changed pod: heap memory for lists that a cycle made, and its place in its node's list. */
#include "model/parts.h"

static void own_groups(struct state *state, struct pod *pod)
{
    struct group_list *groups = &pod->groups;
    gpu_group *copy = NULL;

    if (groups->count > 1 && groups->many == pod->own_groups) {
        groups->is_owned = 1;
        return;
    }
    if (groups->count > 1) {
        copy = xcalloc(groups->count, sizeof *copy);
        memcpy(copy, groups->many, groups->count * sizeof *copy);
    }
    /* Other pods that a cycle put on the same GPUs may point to the old list, and its node's books do. */
    state_discard(state, pod->own_groups);
    if (pod->own_groups && pod->listed_node != NO_ID)
        node_mark_stale(state, pod->listed_node);
    pod->own_groups = copy;
    groups->many = copy;
    groups->is_owned = copy != NULL;
}

static void own_numa(struct state *state, struct pod *pod)
{
    struct numa_placement *copy = NULL;

    if (pod->numa == pod->own_numa) {
        pod->numa_is_owned = pod->numa != NULL;
        return;
    }
    if (pod->numa) {
        size_t bytes = sizeof *copy + pod->numa->count * sizeof *copy->draws;

        copy = xmalloc(bytes);
        memcpy(copy, pod->numa, bytes);
    }
    state_discard(state, pod->own_numa);
    pod->own_numa = copy;
    pod->numa = copy;
    pod->numa_is_owned = copy != NULL;
}

void pod_own_lists(struct state *state, pod_id id)
{
    own_groups(state, &state->pods.items[id]);
    own_numa(state, &state->pods.items[id]);
}

static void unlist(struct state *state, struct pod *pod)
{
    struct node *node = &state->nodes.items[pod->listed_node];

    if (pod->listed_place == NO_ID)
        return;
    state->pods.items[vec_last(&node->pods)].listed_place = pod->listed_place;
    vec_swap_remove(&node->pods, pod->listed_place);
    pod->listed_place = NO_ID;
    node_mark_stale(state, pod->listed_node);
}

static void list(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    struct node *node = &state->nodes.items[pod->listed_node];

    if (pod->listed_place != NO_ID)
        return;
    pod->listed_place = node->pods.len;
    vec_push(&node->pods, id);
    node_mark_stale(state, pod->listed_node);
}

void pod_link_node(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    bool is_booked = pod->node != NO_ID && status_in(pod->status, ACTIVE_USED);
    node_id old = pod->listed_node;

    if (!is_booked)
        pod->accepted_gpu = 0;
    if (old != NO_ID && (old != pod->node || !is_booked))
        unlist(state, pod);
    if (old != pod->node) {
        pod->listed_node = pod->node;
        if (pod->node != NO_ID)
            node_reference(state, pod->node);
        if (old != NO_ID)
            node_unreference(state, old);
    }
    if (is_booked)
        list(state, id);
}
