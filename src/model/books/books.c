/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What pods take from nodes. An entry of state->held says how a node holds a pod; those that a cycle takes off stay in
 * a second list of the node until the books are made anew, so that taking back a simulation finds them as they were.
 */
#include "model/books/books.h"

#include <math.h>

#include "model/parts.h"

struct amounts pod_accepted(const struct state *state, pod_id id)
{
    const struct request *request = state_request(state, id);
    int64_t parts = request->quota_gpus - request->gpus - request->dra_gpus;

    return (struct amounts){
        .v = {request->v[RES_CPU], request->v[RES_MEMORY], state->pods.items[id].accepted_gpu + parts},
    };
}

struct amounts pod_asked(const struct state *state, pod_id id)
{
    const struct request *request = state_request(state, id);

    return (struct amounts){.v = {request->v[RES_CPU], request->v[RES_MEMORY], request->quota_gpus}};
}

static int64_t accepted_gpu_on(const struct request *request, const struct node *node)
{
    if (!request_is_shared(request))
        return request->gpus + request->dra_gpus;
    return llround(request_portion_on(request, node) * 100) * request->devices * GPU_HUNDREDTH;
}

/* What a pod takes from the GPU dimension before devices that others hold as well are left out. */
static int64_t gpu_charge(const struct state *state, node_id node, pod_id id)
{
    const struct request *request = state_request(state, id);

    if (request_is_shared(request) || state->pods.items[id].is_reservation ||
        state_books(state, node).allocatable[RES_GPU] == 0)
        return 0;
    return request->gpus + request->dra_gpus;
}

static void charge_vector(struct state *state, node_id node, pod_id id, const struct held *held, int64_t gpu, int sign)
{
    const struct request *request = state_request(state, id);
    struct books books = state_books(state, node);

    for (uint32_t d = 0; d < request->v_count; d++) {
        int64_t amount = sign * (d == RES_GPU ? gpu : request->v[d]);

        if (amount == 0 || books.allocatable[d] == 0)
            continue;
        undo_add64(&state->undo, &books.used[d], amount);
        if (held->status == POD_PIPELINED) {
            undo_add64(&state->undo, &books.releasing[d], -amount);
            continue;
        }
        undo_add64(&state->undo, &books.idle[d], -amount);
        if (held->status == POD_RELEASING)
            undo_add64(&state->undo, &books.releasing[d], amount);
    }
}

static void charge_groups(struct state *state, node_id node, pod_id id, const struct held *held, int sign)
{
    int64_t memory = request_memory_on(state_request(state, id), &state->nodes.items[node]);

    for (uint32_t i = 0; i < held->group_count; i++) {
        gpu_group group = held->group_count == 1 ? held->group : held->groups[i];

        if (sign > 0)
            shared_gpu_add(state, node, group, memory, held->status);
        else
            shared_gpu_remove(state, node, group, memory, held->status);
    }
}

static bool same_device(const struct device *a, const struct device *b)
{
    return a->name == b->name && a->pool == b->pool && a->driver == b->driver;
}

static bool has_device(const struct device *devices, uint32_t count, const struct device *device)
{
    for (uint32_t i = 0; i < count; i++)
        if (same_device(&devices[i], device))
            return true;
    return false;
}

/* Devices of `held` that others on the node hold too: those are on the books already. */
static int64_t count_shared(const struct state *state, node_id node, const struct held *held)
{
    int64_t shared = 0;

    for (uint32_t i = 0; i < held->device_count; i++) {
        bool is_held = has_device(held->devices, i, &held->devices[i]);

        for (uint32_t h = state->nodes.items[node].first_held; h != NO_ID && !is_held; h = state_held(state, h)->next)
            is_held = has_device(state_held(state, h)->devices, state_held(state, h)->device_count, &held->devices[i]);
        shared += is_held;
    }
    return shared;
}

static void find_devices(struct state *state, pod_id id, struct held *held)
{
    uint32_t count = pod_gpu_devices(state, id, NULL);

    if (count == 0)
        return;
    /* A cycle's entries may be taken back at any time; their lists go with the cycle. */
    held->devices_are_owned = !state->undo.is_recording;
    struct device *devices = held->devices_are_owned ? xcalloc(count, sizeof *devices)
                                                     : arena_calloc(&state->scratch, count, sizeof *devices);
    held->device_count = pod_gpu_devices(state, id, devices);
    held->devices = devices;
}

static uint32_t take_entry(struct state *state)
{
    uint32_t i = state->free_held;

    if (i != NO_ID) {
        undo_set32(&state->undo, &state->free_held, state_held(state, i)->next);
        return i;
    }
    chunks_make_room(&state->held);
    i = state->held.len;
    undo_set32(&state->undo, &state->held.len, i + 1);
    return i;
}

static void link_entry(struct state *state, node_id id, const struct held *held)
{
    struct node *node = &state->nodes.items[id];
    uint32_t i = take_entry(state);
    struct held *entry = state_held(state, i);
    uint32_t next = node->first_held;

    /* Of an unused entry only its link has to come back. */
    undo_set32(&state->undo, &entry->next, next);
    *entry = *held;
    entry->next = next;
    undo_set32(&state->undo, &node->first_held, i);
}

static void count_kinds(struct state *state, node_id id, pod_id pod, uint32_t change)
{
    struct node *node = &state->nodes.items[id];
    const struct constraints *constraints = state_constraints(state, pod);

    if (state_request(state, pod)->is_legacy_mig)
        undo_set32(&state->undo, &node->legacy_mig_pods, node->legacy_mig_pods + change);
    if (constraints->affinity_count + constraints->anti_affinity_count + constraints->preferred_pod_count == 0)
        return;
    undo_set32(&state->undo, &node->affine_pods, node->affine_pods + change);
    undo_set32(&state->undo, &state->affine_pods, state->affine_pods + change);
}

void node_hold(struct state *state, node_id id, pod_id booked)
{
    struct node *node = &state->nodes.items[id];
    struct pod *pod = &state->pods.items[booked];
    const struct request *request = state_request(state, booked);
    struct held held = {.pod = booked, .status = pod->status, .charged_gpu = gpu_charge(state, id, booked)};

    if (!node->is_present)
        return;
    node_touch(state, id);
    undo_set64(&state->undo, &pod->accepted_gpu, (uint64_t)accepted_gpu_on(request, node));
    if (request_is_shared(request)) {
        held.group_count = pod->groups.count;
        held.group = pod->groups.one;
        held.groups = pod->groups.many;
    }
    if (held.charged_gpu > 0 && request->dra_gpus > 0) {
        find_devices(state, booked, &held);
        held.charged_gpu = MAX(INT64_C(0), held.charged_gpu - count_shared(state, id, &held) * GPU_ONE);
    }
    charge_vector(state, id, booked, &held, held.charged_gpu, 1);
    charge_groups(state, id, booked, &held, 1);
    count_kinds(state, id, booked, 1);
    link_entry(state, id, &held);
}

/* Takes the entry off the node's list; it stays the node's until its books are made anew. NULL when there is none. */
static struct held *unlink_entry(struct state *state, node_id id, pod_id pod)
{
    struct node *node = &state->nodes.items[id];
    uint32_t *link = &node->first_held;

    while (*link != NO_ID && state_held(state, *link)->pod != pod)
        link = &state_held(state, *link)->next;
    if (*link == NO_ID)
        return NULL;

    uint32_t i = *link;
    struct held *entry = state_held(state, i);
    node_touch(state, id);
    undo_set32(&state->undo, link, entry->next);
    undo_set32(&state->undo, &entry->next, node->first_released);
    undo_set32(&state->undo, &node->first_released, i);
    count_kinds(state, id, pod, UINT32_MAX);
    return entry;
}

void node_release(struct state *state, node_id id, pod_id pod)
{
    const struct held *held = unlink_entry(state, id, pod);
    int64_t gpu;

    if (!held)
        return;
    /* Whoever leaves last gives a shared device back, not whoever came first. */
    gpu = held->charged_gpu;
    if (held->device_count > 0)
        gpu = MAX(INT64_C(0), gpu_charge(state, id, pod) - count_shared(state, id, held) * GPU_ONE);
    charge_vector(state, id, pod, held, gpu, -1);
    charge_groups(state, id, pod, held, -1);
}

void node_forget(struct state *state, node_id id, pod_id pod)
{
    (void)unlink_entry(state, id, pod);
}

const struct held *node_holds(const struct state *state, node_id id, pod_id pod)
{
    for (uint32_t i = state->nodes.items[id].first_held; i != NO_ID; i = state_held(state, i)->next)
        if (state_held(state, i)->pod == pod)
            return state_held(state, i);
    return NULL;
}
