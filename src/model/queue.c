/* SPDX-License-Identifier: Apache-2.0 */

/* Deltas of queues, and their links, which are made anew whenever a queue came, went or moved. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/parts.h"

/*
 * Parents that are there already form no cycle, so that walking up from the new parent ends, or comes back to the
 * queue.
 */
static int check_parent(const struct state *state, const struct queue_spec *spec, struct err *err)
{
    const char *above = spec->parent;

    while (!is_empty(above)) {
        if (strcmp(above, spec->name) == 0)
            return err_set(err, -EINVAL,
                           "queue '%s': its parent '%s' leads back to it; parents must form a tree: "
                           "name another one, or none",
                           spec->name, spec->parent);
        queue_id id = state_find_queue(state, above);
        above = id == NO_ID ? NULL : state_name(state, state->queues.items[id].parent_name);
    }
    return 0;
}

static int check_amounts(const struct queue_spec *spec, struct err *err)
{
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (!(spec->deserved[r] >= 0 || spec->deserved[r] == UNLIMITED))
            return err_set(err, -EINVAL, "queue '%s': a quota of %g; must be -1 or not negative", spec->name,
                           spec->deserved[r]);
        if (!(spec->limit[r] >= 0 || spec->limit[r] == UNLIMITED))
            return err_set(err, -EINVAL, "queue '%s': a limit of %g; must be -1 or not negative", spec->name,
                           spec->limit[r]);
        if (!(spec->weight[r] >= 0))
            return err_set(err, -EINVAL, "queue '%s': a weight of %g; must not be negative", spec->name,
                           spec->weight[r]);
    }
    return 0;
}

static queue_id queue_slot(struct state *state, name_id name)
{
    queue_id id = map_find(&state->queue_by_name, name);

    if (id != NO_ID)
        return id;
    id = slot_take(&state->queues, &state->unused_queues);
    state->queues.items[id].parent = NO_ID;
    map64_put(&state->queue_by_name, name, id);
    state->queues_are_stale = true;
    return id;
}

int state_put_queue(struct state *state, const struct queue_spec *spec, struct err *err)
{
    int r;

    BUG_ON(state->undo.is_recording);
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a queue needs a name");
    r = check_parent(state, spec, err);
    if (r >= 0)
        r = check_amounts(spec, err);
    if (r < 0)
        return r;

    name_id parent = name_add(state, spec->parent);
    name_id uid = name_add(state, is_empty(spec->uid) ? spec->name : spec->uid);
    queue_id id = queue_slot(state, name_add(state, spec->name));
    struct queue *queue = &state->queues.items[id];
    /* Siblings are in order of creation and uid. */
    if (!queue->is_present || queue->parent_name != parent || queue->uid != uid || queue->created != spec->created)
        state->queues_are_stale = true;
    queue->is_present = true;
    queue->name = name_add(state, spec->name);
    queue->display_name = name_add(state, is_empty(spec->display_name) ? spec->name : spec->display_name);
    queue->uid = uid;
    queue->parent_name = parent;
    queue->priority = spec->priority;
    queue->created = spec->created;
    queue->has_preempt_min_runtime = spec->has_preempt_min_runtime;
    queue->has_reclaim_min_runtime = spec->has_reclaim_min_runtime;
    queue->preempt_min_runtime = spec->preempt_min_runtime;
    queue->reclaim_min_runtime = spec->reclaim_min_runtime;
    memcpy(queue->deserved, spec->deserved, sizeof queue->deserved);
    memcpy(queue->limit, spec->limit, sizeof queue->limit);
    memcpy(queue->weight, spec->weight, sizeof queue->weight);
    memcpy(queue->usage, spec->usage, sizeof queue->usage);
    state->changes.queues = true;
    tap_tell(state, DELTA_PUT_QUEUE, spec);
    return 0;
}

void state_drop_queue(struct state *state, const char *name)
{
    queue_id id = state_find_queue(state, name);

    BUG_ON(state->undo.is_recording);
    if (id == NO_ID)
        return;
    struct queue *queue = &state->queues.items[id];
    map64_remove(&state->queue_by_name, queue->name);
    vec_done(&queue->children);
    memset(queue, 0, sizeof *queue);
    queue->parent = NO_ID;
    vec_push(&state->unused_queues, id);
    state->queues_are_stale = true;
    state->changes.queues = true;
    tap_name(state, DELTA_DROP_QUEUE, NULL, name);
}

void state_set_usage(struct state *state, const char *name, const double usage[SHARE_COUNT])
{
    queue_id id = state_find_queue(state, name);
    struct usage_spec told = {.queue = name};

    if (id == NO_ID)
        return;
    memcpy(state->queues.items[id].usage, usage, sizeof state->queues.items[id].usage);
    memcpy(told.usage, usage, sizeof told.usage);
    state->changes.queues = true;
    tap_tell(state, DELTA_SET_USAGE, &told);
}

/* The number of queues above it; sets is_orphan when the last of them names one that is not there. */
static uint32_t measure_depth(const struct state *state, queue_id id, bool *ret_is_orphan)
{
    const struct queue *queue = &state->queues.items[id];
    uint32_t depth = 0;

    for (; queue->parent != NO_ID; queue = &state->queues.items[queue->parent])
        depth++;
    *ret_is_orphan = queue->parent_name != 0;
    return depth;
}

static int by_creation(const void *a, const void *b, void *state)
{
    const struct queue *l = &((const struct state *)state)->queues.items[*(const queue_id *)a];
    const struct queue *r = &((const struct state *)state)->queues.items[*(const queue_id *)b];

    if (l->created != r->created)
        return l->created < r->created ? -1 : 1;
    int order = strcmp(state_name(state, l->uid), state_name(state, r->uid));
    return order ? order : strcmp(state_name(state, l->name), state_name(state, r->name));
}

static void link_parents(struct state *state)
{
    vec_foreach (&state->queues, queue)
        vec_clear(&queue->children);
    for (queue_id id = 0; id < state->queues.len; id++) {
        struct queue *queue = &state->queues.items[id];

        queue->parent = NO_ID;
        if (!queue->is_present || !queue->parent_name)
            continue;
        queue->parent = map_find(&state->queue_by_name, queue->parent_name);
        if (queue->parent != NO_ID)
            vec_push(&state->queues.items[queue->parent].children, id);
    }
}

void queues_link(struct state *state)
{
    struct amounts none = {0};

    link_parents(state);
    for (queue_id id = 0; id < state->queues.len; id++) {
        struct queue *queue = &state->queues.items[id];

        queue->depth = measure_depth(state, id, &queue->is_orphan);
        if (queue->children.len > 1)
            qsort_r(queue->children.items, queue->children.len, sizeof(queue_id), by_creation, state);
        queue->own_allocated = queue->own_fixed = queue->own_requested = none;
        queue->own_requested_memory_mib = 0;
    }
    for (gang_id id = 0; id < state->gangs.len; id++) {
        struct gang *gang = &state->gangs.items[id];

        queue_id queue = gang->queue_name ? map_find(&state->queue_by_name, gang->queue_name) : NO_ID;
        if (queue != gang->queue)
            gang_touch(state, id);
        gang->queue = queue;
        queue_count_gang(state, id, 1);
    }
    state->queues_are_stale = false;
    state->queue_books_are_stale = true;
}
