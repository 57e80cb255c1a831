/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shared GPUs of a node. The rules are KAI's: a shared GPU takes one whole device from what is idle when its first pod
 * comes, and counts as one whole device being released while all that is on it is leaving (`is_marked`). How many
 * devices are idle is checked against the number of physical ones, since a pod that reserves a device may stand for it
 * already.
 */
#include <math.h>

#include "model/books/books.h"
#include "model/parts.h"

/* The entry of `group`, appended when the node has none: the order of the list is that of first use. */
static struct shared_gpu *get(struct state *state, struct node *node, gpu_group group)
{
    uint32_t *link = &node->first_shared;

    for (; *link != NO_ID; link = &state_shared_gpu(state, *link)->next)
        if (state_shared_gpu(state, *link)->id == group)
            return state_shared_gpu(state, *link);

    uint32_t i = state->free_shared;
    if (i != NO_ID) {
        undo_set32(&state->undo, &state->free_shared, state_shared_gpu(state, i)->next);
    } else {
        chunks_make_room(&state->shared_gpus);
        i = state->shared_gpus.len;
        undo_set32(&state->undo, &state->shared_gpus.len, i + 1);
    }
    struct shared_gpu *gpu = state_shared_gpu(state, i);
    /* Of an unused entry only its link has to come back. */
    undo_set32(&state->undo, &gpu->next, NO_ID);
    *gpu = (struct shared_gpu){.id = group, .next = NO_ID};
    undo_set32(&state->undo, link, i);
    return gpu;
}

/* Does the node have fewer devices than are idle, in use, or shared? */
static bool has_too_few(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    struct books books = state_books(state, id);
    int64_t devices = books.idle[RES_GPU] / GPU_ONE + books.used[RES_GPU] / GPU_ONE;

    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next)
        devices += state_shared_gpu(state, i)->used > 0;
    return node->device_count < devices;
}

static void mark(struct state *state, node_id id, struct shared_gpu *gpu, bool is_marked)
{
    if (gpu->is_marked == is_marked)
        return;
    undo_set32(&state->undo, &gpu->is_marked, is_marked);
    undo_add64(&state->undo, &state_books(state, id).releasing[RES_GPU], is_marked ? GPU_ONE : -GPU_ONE);
}

static void add_idle(struct state *state, node_id id, int64_t change)
{
    undo_add64(&state->undo, &state_books(state, id).idle[RES_GPU], change);
}

static void change(struct state *state, struct shared_gpu *gpu, int64_t used, int64_t allocated, int64_t releasing)
{
    undo_add64(&state->undo, &gpu->used, used);
    undo_add64(&state->undo, &gpu->allocated, allocated);
    undo_add64(&state->undo, &gpu->releasing, releasing);
}

void shared_gpu_add(struct state *state, node_id id, gpu_group group, int64_t m, uint32_t status)
{
    struct shared_gpu *gpu = get(state, &state->nodes.items[id], group);

    if (status == POD_RELEASING) {
        change(state, gpu, m, m, m);
        if (gpu->used != gpu->releasing)
            return;
        mark(state, id, gpu, true);
        if (has_too_few(state, id))
            add_idle(state, id, -GPU_ONE);
    } else if (status == POD_PIPELINED) {
        bool was_leaving = gpu->used == gpu->releasing;

        change(state, gpu, m, 0, -m);
        if (was_leaving)
            undo_add64(&state->undo, &state_books(state, id).releasing[RES_GPU], -GPU_ONE);
    } else {
        change(state, gpu, m, m, 0);
        if (gpu->used <= m && has_too_few(state, id))
            add_idle(state, id, -GPU_ONE);
        mark(state, id, gpu, false);
    }
}

void shared_gpu_remove(struct state *state, node_id id, gpu_group group, int64_t m, uint32_t status)
{
    struct shared_gpu *gpu = get(state, &state->nodes.items[id], group);

    if (status == POD_RELEASING) {
        change(state, gpu, -m, -m, -m);
        if (gpu->used > 0)
            return;
        if (!has_too_few(state, id))
            add_idle(state, id, GPU_ONE);
        mark(state, id, gpu, false);
    } else if (status == POD_PIPELINED) {
        bool was_leaving = gpu->used == gpu->releasing;

        change(state, gpu, -m, 0, m);
        if (was_leaving || (gpu->used == 0 && gpu->releasing == 0))
            undo_add64(&state->undo, &state_books(state, id).releasing[RES_GPU], GPU_ONE);
    } else {
        change(state, gpu, -m, -m, 0);
        if (gpu->used <= 0 && !has_too_few(state, id))
            add_idle(state, id, GPU_ONE);
        if (gpu->used != 0 && gpu->releasing == gpu->used)
            mark(state, id, gpu, true);
    }
}

bool shared_gpu_fits(const struct node *node, const struct shared_gpu *gpu, int64_t memory_mib)
{
    return gpu->used != 0 && gpu->allocated != gpu->releasing &&
           node->gpu_memory_mib - gpu->allocated + gpu->releasing >= memory_mib;
}

bool shared_gpu_fits_idle(const struct node *node, const struct shared_gpu *gpu, int64_t memory_mib)
{
    /* KAI: also on one that was taken in this cycle and is only promised now, which may be in use still. */
    return gpu->allocated > 0 && node->gpu_memory_mib - gpu->allocated >= memory_mib;
}

/* A part of a device's memory as hundredths of the device, rounded up. */
static double portion_of(const struct node *node, int64_t memory_mib)
{
    return ceil((double)memory_mib / (double)node->gpu_memory_mib * 100) / 100;
}

int64_t request_memory_on(const struct request *request, const struct node *node)
{
    return request->memory_mib > 0 ? request->memory_mib : (int64_t)(request->portion * (double)node->gpu_memory_mib);
}

double request_portion_on(const struct request *request, const struct node *node)
{
    return request->memory_mib > 0 ? portion_of(node, request->memory_mib) : request->portion;
}

/* Something on it stays: otherwise it counts as a whole device being released. */
static bool is_partly_releasing(const struct shared_gpu *gpu)
{
    return gpu->releasing > 0 && !(gpu->used != 0 && gpu->releasing == gpu->used);
}

double node_idle_gpus(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    double sum = gpu_to_double(resources_total_gpu(&state->res, state_books(state, id).idle));

    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);

        if (gpu->allocated > 0)
            sum += 1 - portion_of(node, gpu->allocated);
    }
    return sum;
}

double node_releasing_gpus(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    double sum = gpu_to_double(resources_total_gpu(&state->res, state_books(state, id).releasing));

    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);

        if (is_partly_releasing(gpu))
            sum += portion_of(node, gpu->releasing);
    }
    return sum;
}

int64_t node_idle_gpu_memory(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    int64_t devices = resources_total_gpu(&state->res, state_books(state, id).idle) / GPU_ONE;
    int64_t sum = devices * node->gpu_memory_mib;

    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);

        if (gpu->allocated > 0)
            sum += node->gpu_memory_mib - gpu->allocated;
    }
    return sum;
}

int64_t node_releasing_gpu_memory(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    int64_t devices = resources_total_gpu(&state->res, state_books(state, id).releasing) / GPU_ONE;
    int64_t sum = devices * node->gpu_memory_mib;

    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);

        if (is_partly_releasing(gpu))
            sum += gpu->releasing;
    }
    return sum;
}

double node_shared_room(const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    double sum = 0;

    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);
        int64_t room = node->gpu_memory_mib - gpu->allocated + gpu->releasing;

        if (gpu->used > 0 && room > 0)
            sum += (double)room / (double)node->gpu_memory_mib;
    }
    return sum;
}
