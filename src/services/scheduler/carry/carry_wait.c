/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The GPU of a reservation pod is free for the engine as soon as nobody shares it any more, but taken for the node until
 * the binder has deleted that pod: a pod that got there before would be refused by its kubelet. Such a bind waits, unless
 * the node has other GPUs for it, and is given up when the reservation stays.
 */
#include <errno.h>

#include "base/err.h"
#include "model/books/books.h"
#include "net/loop.h"
#include "services/scheduler/carry/carry_internal.h"

#define LOOK_AGAIN (20 * NSEC_PER_MSEC)
/* A binder that works has deleted the reservation pod by then. The GPU is never taken for free while that pod is there. */
#define WAIT_MAX (10 * NSEC_PER_SEC)

static bool is_in(const struct group_list *list, gpu_group group)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (group_at(list, i) == group)
            return true;
    return false;
}

static bool is_shared_by_any(const struct state *state, const struct node *node, gpu_group group)
{
    vec_foreach (&node->pods, at) {
        const struct pod *pod = &state->pods.items[*at];

        if (pod->is_present && !pod->is_reservation && status_in(pod->status, ACTIVE_USED) &&
            is_in(&pod->groups, group))
            return true;
    }
    return false;
}

/* Reservation pods that are there for nobody. */
static int64_t count_idle_reservations(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    int64_t count = 0;

    vec_foreach (&node->pods, at) {
        const struct pod *pod = &state->pods.items[*at];

        count += pod->is_present && pod->is_reservation && pod->node == id && status_in(pod->status, ACTIVE_USED) &&
                 pod->groups.count == 1 && !is_shared_by_any(state, node, pod->groups.one);
    }
    return count;
}

/* Whether the pod, which is on the books already, got a GPU that an idle reservation holds. */
static bool is_held_back(const struct state *state, pod_id id)
{
    const struct pod *pod = &state->pods.items[id];

    if (state_request(state, id)->is_cpu_only)
        return false;
    int64_t reservations = count_idle_reservations(state, pod->node);
    return reservations > 0 && state_books(state, pod->node).idle[RES_GPU] < reservations * GPU_ONE;
}

static void on_look(void *arg)
{
    struct carrying *carrying = arg;
    struct carry *carry = carrying->carry;
    pod_id id = key_pod(carry->state, carrying->key);

    if (id == NO_ID || carry->state->pods.items[id].uid != carrying->uid || carry->state->pods.items[id].node == NO_ID)
        carrying->on_room(carrying, NO_ID);
    else
        carry_when_free(carrying, id);
}

void carry_when_free(struct carrying *carrying, pod_id pod)
{
    struct err err = {0};

    if (!is_held_back(carrying->carry->state, pod)) {
        carrying->on_room(carrying, pod);
        return;
    }
    if (nsec_now_monotonic() - carrying->began >= WAIT_MAX) {
        (void)err_set(&err, -EBUSY,
                      "a reservation pod that no pod uses still holds a GPU of the node; is the binder running?");
        carry_fail(carrying, &err);
        return;
    }
    if (!carrying->look.handle)
        loop_timer_init(&carrying->look, carrying->carry->loop, on_look, carrying);
    loop_timer_start(&carrying->look, LOOK_AGAIN);
}
