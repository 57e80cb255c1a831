/* SPDX-License-Identifier: Apache-2.0 */

/* Byte images of a state. Unused entries of lists are no part of it: only the order in which they are handed out is. */
#include "image.h"

#include <string.h>

#include "model/state.h"

static void add(struct image *image, const char *what, uint32_t id, const void *bytes, size_t count)
{
    uint32_t at = image->bytes.len;

    vec_push(&image->parts, (struct image_part){what, id, at});
    vec_resize(&image->bytes, (uint64_t)at + count);
    if (count > 0)
        memcpy(image->bytes.items + at, bytes, count);
}

static void add_held(struct image *image, const struct state *state, node_id id, uint32_t first)
{
    for (uint32_t i = first; i != NO_ID; i = state_held(state, i)->next) {
        add(image, "place of held pod", id, &i, sizeof i);
        add(image, "held pod", id, state_held(state, i), sizeof(struct held));
    }
}

static void add_node(struct image *image, const struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    size_t row = 4 * (size_t)state->book_dims;

    add(image, "node", id, node, sizeof *node);
    add(image, "books of node", id, state->book_rows.items + id * row, row * sizeof(int64_t));
    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        add(image, "place of shared GPU", id, &i, sizeof i);
        add(image, "shared GPU", id, state_shared_gpu(state, i), sizeof(struct shared_gpu));
    }
    add_held(image, state, id, node->first_held);
    add_held(image, state, id, node->first_released);
    for (uint32_t z = 0; node->numa && z < node->numa->zone_count; z++)
        add(image, "NUMA zone", id, node->numa->zones[z].available, node->numa->dims * sizeof(int64_t));
}

static void add_gang(struct image *image, const struct state *state, gang_id id)
{
    struct gang gang;

    memcpy(&gang, &state->gangs.items[id], sizeof gang);
    gang.is_unsettled = false;
    add(image, "gang", id, &gang, sizeof gang);
    add(image, "groups of gang", id, gang.groups, gang.group_count * sizeof *gang.groups);
}

static void add_pod(struct image *image, const struct state *state, pod_id id)
{
    struct pod pod;

    memcpy(&pod, &state->pods.items[id], sizeof pod);
    pod.is_unsettled = false;
    add(image, "pod", id, &pod, sizeof pod);
}

static void add_unused(struct image *image, const struct state *state)
{
    add(image, "number of shared GPUs", 0, &state->shared_gpus.len, sizeof state->shared_gpus.len);
    add(image, "number of held pods", 0, &state->held.len, sizeof state->held.len);
    for (uint32_t i = state->free_shared; i != NO_ID; i = state_shared_gpu(state, i)->next)
        add(image, "unused shared GPU", i, &i, sizeof i);
    for (uint32_t i = state->free_held; i != NO_ID; i = state_held(state, i)->next)
        add(image, "unused held pod", i, &i, sizeof i);
}

void image_take(struct image *image, const struct state *state)
{
    *image = (struct image){0};
    add(image, "number of opened GPUs", 0, &state->fresh_groups, sizeof state->fresh_groups);
    add(image, "number of affine pods", 0, &state->affine_pods, sizeof state->affine_pods);
    add(image, "total", 0, &state->total, sizeof state->total);
    for (node_id id = 0; id < state->nodes.len; id++)
        add_node(image, state, id);
    for (gang_id id = 0; id < state->gangs.len; id++)
        add_gang(image, state, id);
    for (pod_id id = 0; id < state->pods.len; id++)
        add_pod(image, state, id);
    for (queue_id id = 0; id < state->queues.len; id++)
        add(image, "queue", id, &state->queues.items[id], sizeof *state->queues.items);
    for (uint32_t id = 0; id < state->claims.len; id++)
        add(image, "claim", id, &state->claims.items[id], sizeof *state->claims.items);
    add_unused(image, state);
}

void image_done(struct image *image)
{
    vec_done(&image->bytes);
    vec_done(&image->parts);
}

const char *images_differ(const struct image *a, const struct image *b, uint32_t *ret_id)
{
    for (uint32_t i = 0; i < a->parts.len && i < b->parts.len; i++) {
        const struct image_part *part = &a->parts.items[i];
        uint32_t end = i + 1 < a->parts.len ? a->parts.items[i + 1].at : a->bytes.len;
        bool is_same = strcmp(part->what, b->parts.items[i].what) == 0 && part->id == b->parts.items[i].id &&
                       part->at == b->parts.items[i].at && end <= b->bytes.len &&
                       memcmp(a->bytes.items + part->at, b->bytes.items + part->at, end - part->at) == 0;

        *ret_id = part->id;
        if (!is_same)
            return part->what;
    }
    *ret_id = 0;
    return a->parts.len == b->parts.len && a->bytes.len == b->bytes.len ? NULL : "number of parts";
}
