/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A node's books made anew from its capacity and its pods: pods that reserve shared GPUs first, then the others by
 * UID. Shared GPUs are counted in a way that depends on the order of pods, so the order is always the same.
 */
#include <stdlib.h>

#include "model/books/books.h"
#include "model/parts.h"

void node_touch(struct state *state, node_id id)
{
    struct node *node = &state->nodes.items[id];

    if (!node->is_touched)
        undo_set32(&state->undo, &node->is_touched, 1);
    id_set_add(&state->unsettled_nodes, id);
    id_set_add(&state->changes.nodes, id);
}

static void free_held(struct state *state, uint32_t first)
{
    for (uint32_t i = first; i != NO_ID;) {
        struct held *held = state_held(state, i);
        uint32_t next = held->next;

        if (held->devices_are_owned)
            free((void *)(uintptr_t)held->devices);
        held->devices = NULL;
        held->devices_are_owned = 0;
        held->next = state->free_held;
        state->free_held = i;
        i = next;
    }
}

void node_drop_books(struct state *state, node_id id)
{
    struct node *node = &state->nodes.items[id];

    free_held(state, node->first_held);
    free_held(state, node->first_released);
    node->first_held = NO_ID;
    node->first_released = NO_ID;
    for (uint32_t i = node->first_shared; i != NO_ID;) {
        struct shared_gpu *gpu = state_shared_gpu(state, i);
        uint32_t next = gpu->next;

        gpu->next = state->free_shared;
        state->free_shared = i;
        i = next;
    }
    node->first_shared = NO_ID;
    node->legacy_mig_pods = 0;
    state->affine_pods -= node->affine_pods;
    node->affine_pods = 0;
}

/* What sorting looks at, beside the pod so that it reads no pods. */
struct booking {
    const char *uid;
    const char *name;
    pod_id pod;
    bool is_reservation;
};

static int by_booking(const void *a, const void *b)
{
    const struct booking *l = a;
    const struct booking *r = b;

    if (l->is_reservation != r->is_reservation)
        return l->is_reservation ? -1 : 1;
    int order = strcmp(l->uid, r->uid);
    /* Pods of one UID are a mistake of the source; which comes first must not depend on the sort. */
    return order ? order : strcmp(l->name, r->name);
}

/* A pod that shares GPUs must sit on some: one that tells none is given its own. */
static void open_groups(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    const struct request *request = state_request(state, id);

    if (!request_is_shared(request) || pod->groups.count > 0)
        return;
    pod->groups.count = request->devices;
    if (request->devices == 1) {
        pod->groups.one = gpu_group_fresh(state->fresh_groups++);
        return;
    }
    gpu_group *groups = xcalloc(request->devices, sizeof *groups);
    for (uint32_t i = 0; i < request->devices; i++)
        groups[i] = gpu_group_fresh(state->fresh_groups++);
    state_discard(state, pod->own_groups);
    pod->own_groups = groups;
    pod->groups.many = groups;
    pod->groups.is_owned = 1;
}

static void add_foreign(const struct state *state, pod_id id, struct amounts *foreign)
{
    const struct pod *pod = &state->pods.items[id];
    struct amounts asked = pod_asked(state, id);

    if (pod->is_foreign && !pod->is_utility && status_in(pod->status, ACTIVE_USED))
        amounts_add(foreign, &asked, 1);
}

static void book_pods(struct state *state, node_id id, struct booking *bookings)
{
    struct node *node = &state->nodes.items[id];
    uint32_t count = node->pods.len;

    for (uint32_t i = 0; i < count; i++) {
        const struct pod *pod = &state->pods.items[node->pods.items[i]];

        bookings[i] = (struct booking){
            .uid = state_name(state, pod->uid),
            .name = state_name(state, pod->name),
            .pod = node->pods.items[i],
            .is_reservation = pod->is_reservation,
        };
    }
    qsort(bookings, count, sizeof *bookings, by_booking);
    for (uint32_t i = 0; i < count; i++) {
        open_groups(state, bookings[i].pod);
        node_hold(state, id, bookings[i].pod);
    }
}

static void reset_books(struct state *state, node_id id)
{
    struct books books = state_books(state, id);
    size_t bytes = state->book_dims * sizeof(int64_t);

    node_drop_books(state, id);
    memcpy(books.idle, books.allocatable, bytes);
    for (uint32_t d = RES_FIXED; state->nodes.items[id].is_present && d < state->book_dims; d++)
        if (books.allocatable[d] == 0 && state_class_serves(state, d))
            books.idle[d] = SERVED_IDLE;
    memset(books.used, 0, bytes);
    memset(books.releasing, 0, bytes);
}

void node_rebuild_books(struct state *state, node_id id)
{
    struct node *node = &state->nodes.items[id];
    struct amounts foreign = {0};

    reset_books(state, id);
    if (node->is_present && node->pods.len > 0) {
        _cleanup_(freep) struct booking *bookings = xcalloc(node->pods.len, sizeof *bookings);

        book_pods(state, id, bookings);
    }
    if (node->is_present && node->clamps_idle_pods) {
        struct books books = state_books(state, id);

        books.idle[RES_PODS] = MAX(INT64_C(0), books.allocatable[RES_PODS] - books.used[RES_PODS]);
    }
    numa_reset(state, id);

    vec_foreach (&node->pods, pod) {
        if (!node->is_present)
            state->pods.items[*pod].accepted_gpu = 0;
        add_foreign(state, *pod, &foreign);
        pod_recharge(state, *pod);
    }
    if (memcmp(&foreign, &node->foreign, sizeof foreign) != 0)
        state->totals_are_stale = true;
    node->foreign = foreign;
    node->is_touched = 0;
    node->books_are_stale = false;
}
