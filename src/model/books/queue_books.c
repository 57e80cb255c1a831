/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Books of queues. Between cycles each pod's part is kept in its gang and its queue, and sums over the tree are made
 * from those when they changed; a cycle changes the sums alone, through the undo log.
 */
#include "model/books/books.h"
#include "model/parts.h"

void queue_charge(struct state *state, pod_id id, int sign)
{
    gang_id owner = state->pods.items[id].gang;

    if (owner == NO_ID)
        return;
    const struct gang *gang = &state->gangs.items[owner];
    if (gang->queue == NO_ID || state->queues.items[gang->queue].is_orphan)
        return;

    struct amounts accepted = pod_accepted(state, id);
    for (queue_id at = gang->queue; at != NO_ID; at = state->queues.items[at].parent) {
        struct queue *queue = &state->queues.items[at];

        for (int r = 0; r < SHARE_COUNT; r++) {
            if (accepted.v[r] == 0)
                continue;
            undo_add64(&state->undo, &queue->allocated.v[r], sign * accepted.v[r]);
            if (!gang->is_preemptible)
                undo_add64(&state->undo, &queue->allocated_fixed.v[r], sign * accepted.v[r]);
        }
    }
    state->queue_books_are_stale = true;
}

void queue_count_gang(struct state *state, gang_id id, int sign)
{
    const struct gang *gang = &state->gangs.items[id];

    if (gang->queue == NO_ID)
        return;
    struct queue *queue = &state->queues.items[gang->queue];
    amounts_add(&queue->own_allocated, &gang->own_allocated, sign);
    if (!gang->is_preemptible)
        amounts_add(&queue->own_fixed, &gang->own_allocated, sign);
    amounts_add(&queue->own_requested, &gang->own_requested, sign);
    queue->own_requested_memory_mib += sign * gang->own_requested_memory_mib;
    state->queue_books_are_stale = true;
}

void queues_sum(struct state *state)
{
    struct amounts none = {0};

    vec_foreach (&state->queues, queue) {
        queue->allocated = queue->allocated_fixed = queue->requested = none;
        queue->requested_memory_mib = 0;
    }
    vec_foreach (&state->queues, leaf) {
        if (!leaf->is_present || leaf->is_orphan)
            continue;
        for (struct queue *queue = leaf;; queue = &state->queues.items[queue->parent]) {
            amounts_add(&queue->allocated, &leaf->own_allocated, 1);
            amounts_add(&queue->allocated_fixed, &leaf->own_fixed, 1);
            amounts_add(&queue->requested, &leaf->own_requested, 1);
            queue->requested_memory_mib += leaf->own_requested_memory_mib;
            if (queue->parent == NO_ID)
                break;
        }
    }
    state->queue_books_are_stale = false;
}

/* Adds or takes away what the pod is counted for, according to `charge` and `charged_gpu`. */
static void count_charge(struct state *state, pod_id id, int sign)
{
    const struct pod *pod = &state->pods.items[id];
    const struct request *request = state_request(state, id);
    struct amounts amounts = pod_asked(state, id);

    if (pod->charge == CHARGE_NONE)
        return;
    struct gang *gang = &state->gangs.items[pod->gang];
    queue_count_gang(state, pod->gang, -1);
    if (pod->charge == CHARGE_ALLOCATED) {
        amounts.v[SHARE_GPU] = pod->charged_gpu + request->quota_gpus - request->gpus - request->dra_gpus;
        amounts_add(&gang->own_allocated, &amounts, sign);
    } else {
        amounts_add(&gang->own_requested, &amounts, sign);
        gang->own_requested_memory_mib += sign * request->memory_mib * request->devices;
    }
    queue_count_gang(state, pod->gang, 1);
}

static enum charge charge_of(const struct state *state, const struct pod *pod)
{
    if (!pod->is_present || pod->gang == NO_ID || pod->pod_set == NO_ID)
        return CHARGE_NONE;
    if (pod->status == POD_PENDING)
        return CHARGE_REQUESTED;
    /* KAI: a pod on a node that is not there costs its queue nothing. */
    if (status_in(pod->status, ALLOCATED_SET) && pod->node != NO_ID && state->nodes.items[pod->node].is_present)
        return CHARGE_ALLOCATED;
    return CHARGE_NONE;
}

void pod_uncharge(struct state *state, pod_id id)
{
    count_charge(state, id, -1);
    state->pods.items[id].charge = CHARGE_NONE;
}

void pod_recharge(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    enum charge charge = charge_of(state, pod);

    if (pod->charge == charge && (charge != CHARGE_ALLOCATED || pod->charged_gpu == pod->accepted_gpu))
        return;
    pod_uncharge(state, id);
    pod->charge = (uint8_t)charge;
    pod->charged_gpu = pod->accepted_gpu;
    count_charge(state, id, 1);
}
