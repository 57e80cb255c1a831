/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The pods of gangs, in task order in their sets. A pod is found in its set by that order, so that places are numbered
 * once for many changes. Pods that name a set that is not there, or whose gang is not there, are the gang's strays:
 * they count for nothing.
 */
#include <stdlib.h>

#include "model/parts.h"

/* The label may be a number, be there without being one, or not be there; KAI takes them in this order. */
static int priority_rank(const struct pod *pod)
{
    if (pod->is_task_priority_bad)
        return 1;
    return pod->has_task_priority ? 0 : 2;
}

#define compare(l, r) (((l) > (r)) - ((l) < (r)))

static int task_order(const struct state *state, const struct pod *a, const struct pod *b)
{
    int order = compare(!(a->roles & POD_ROLE_LEADER), !(b->roles & POD_ROLE_LEADER));

    if (!order)
        order = compare(!(a->roles & POD_ROLE_HEAD), !(b->roles & POD_ROLE_HEAD));
    if (!order)
        order = compare(priority_rank(a), priority_rank(b));
    if (!order && priority_rank(a) == 0)
        order = compare(b->task_priority, a->task_priority);
    if (!order)
        order = compare(a->created, b->created);
    if (!order && a->uid != b->uid)
        order = strcmp(state_name(state, a->uid), state_name(state, b->uid));
    if (!order && a->namespace != b->namespace)
        order = strcmp(state_name(state, a->namespace), state_name(state, b->namespace));
    if (!order && a->name != b->name)
        order = strcmp(state_name(state, a->name), state_name(state, b->name));
    return order;
}

static uint32_t find_set(const struct gang *gang, name_id name)
{
    for (uint32_t i = 0; i < gang->group_count; i++)
        if (gang->groups[i].is_pod_set && gang->groups[i].name == name)
            return i;
    return NO_ID;
}

/* The first place in the set whose pod does not come before this one. Most pods come after all others. */
static uint32_t find_place(const struct state *state, const struct group *set, const struct pod *pod)
{
    uint32_t low = 0;
    uint32_t high = set->pods.len;

    if (high > 0 && task_order(state, &state->pods.items[set->pods.items[high - 1]], pod) < 0)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (task_order(state, &state->pods.items[set->pods.items[middle]], pod) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gang_touch(struct state *state, gang_id id)
{
    struct gang *gang = &state->gangs.items[id];

    undo_set32(&state->undo, &gang->changed, ++state->change_clock);
    id_set_add(&state->changes.gangs, id);
    if (gang->is_unsettled)
        return;
    gang->is_unsettled = true;
    vec_push(&state->unsettled_gangs, id);
}

void gang_add_pod(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    struct gang *gang = &state->gangs.items[pod->gang];

    gang_touch(state, pod->gang);
    pod->pod_set = find_set(gang, pod->pod_set_name);
    if (pod->pod_set == NO_ID) {
        pod->place = gang->stray_pods.len;
        vec_push(&gang->stray_pods, id);
        return;
    }
    struct group *set = &gang->groups[pod->pod_set];
    uint32_t place = find_place(state, set, pod);
    pod->place = place;
    gang->places_are_stale |= place < set->pods.len;
    vec_insert_at(&set->pods, place, id);
    pod_count(state, id, 0, pod_counters(pod->status, pod->is_virtual));
}

void gang_remove_pod(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    struct gang *gang = &state->gangs.items[pod->gang];

    gang_touch(state, pod->gang);
    if (pod->pod_set == NO_ID) {
        pod_id last = vec_last(&gang->stray_pods);

        state->pods.items[last].place = pod->place;
        vec_swap_remove(&gang->stray_pods, pod->place);
        return;
    }
    pod_count(state, id, pod_counters(pod->status, pod->is_virtual), 0);
    struct group *set = &gang->groups[pod->pod_set];
    uint32_t place = find_place(state, set, pod);
    BUG_ON(place >= set->pods.len || set->pods.items[place] != id);
    vec_remove_at(&set->pods, place);
    gang->places_are_stale |= place < set->pods.len;
    pod->pod_set = NO_ID;
}

/* Takes all pods out, in task order; nothing counts them until they are given back. */
void gang_take_pods(struct state *state, gang_id id, struct words *ret_pods)
{
    struct gang *gang = &state->gangs.items[id];

    for (uint32_t i = 0; i < gang->group_count; i++) {
        vec_foreach (&gang->groups[i].pods, pod)
            vec_push(ret_pods, *pod);
        vec_clear(&gang->groups[i].pods);
    }
    vec_foreach (&gang->stray_pods, pod)
        vec_push(ret_pods, *pod);
    vec_clear(&gang->stray_pods);
    vec_foreach (ret_pods, pod) {
        struct pod *taken = &state->pods.items[*pod];

        pod_uncharge(state, *pod);
        pod_count(state, *pod, pod_counters(taken->status, taken->is_virtual), 0);
        taken->pod_set = NO_ID;
    }
}

static int by_task_order(const void *a, const void *b, void *state)
{
    const struct pod *pods = ((const struct state *)state)->pods.items;

    return task_order(state, &pods[*(const pod_id *)a], &pods[*(const pod_id *)b]);
}

void gang_give_pods(struct state *state, gang_id id, struct words *pods)
{
    gang_touch(state, id);
    if (pods->len == 0)
        return;
    qsort_r(pods->items, pods->len, sizeof *pods->items, by_task_order, state);
    vec_foreach (pods, pod) {
        gang_add_pod(state, *pod);
        pod_touch(state, *pod);
    }
}
