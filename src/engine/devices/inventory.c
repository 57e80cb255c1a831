/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pools are put together as Kubernetes does: of a pool the slices that a node can use count, those of the newest
 * generation; it is complete when it has as many slices as they say, and invalid when devices share a name or draw on
 * counters that are not there.
 */
#include "engine/devices/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/shapes/labels.h"

name_id slice_pool_name(const struct state *state, const struct slice *slice)
{
    return slice->pool == 0 && slice->node != NO_ID ? state->nodes.items[slice->node].name : slice->pool;
}

void inventory_done(struct inventory *inventory)
{
    vec_done(&inventory->first);
    vec_done(&inventory->ordered);
    vec_done(&inventory->rank);
    vec_done(&inventory->on_node);
    vec_done(&inventory->node_start);
    vec_done(&inventory->shared);
    vec_done(&inventory->canon);
    map64_done(&inventory->by_key);
    map64_done(&inventory->numbers);
    selector_book_done(&inventory->selectors);
}

size_t inventory_bytes(const struct inventory *inventory)
{
    return vec_bytes(&inventory->first) + vec_bytes(&inventory->ordered) + vec_bytes(&inventory->rank) +
           vec_bytes(&inventory->on_node) + vec_bytes(&inventory->node_start) + vec_bytes(&inventory->shared) +
           vec_bytes(&inventory->canon) + map64_bytes(&inventory->by_key) + map64_bytes(&inventory->numbers) +
           selector_book_bytes(&inventory->selectors);
}

static int by_pool_and_name(const void *a, const void *b, void *context)
{
    const struct state *state = context;
    const struct slice *l = &state->slices.items[*(const uint32_t *)a];
    const struct slice *r = &state->slices.items[*(const uint32_t *)b];
    int order = strcmp(state_name(state, l->driver), state_name(state, r->driver));

    if (order == 0)
        order = strcmp(state_name(state, slice_pool_name(state, l)), state_name(state, slice_pool_name(state, r)));
    return order != 0 ? order : strcmp(state_name(state, l->name), state_name(state, r->name));
}

static bool is_same_pool(const struct state *state, const struct slice *a, const struct slice *b)
{
    return a->driver == b->driver && slice_pool_name(state, a) == slice_pool_name(state, b);
}

static bool is_of_node(const struct state *state, const struct slice *slice)
{
    return slice->node != NO_ID && slice->node < state->nodes.len && slice->counter_count == 0;
}

/* Slices of nodes, by node: how many each has, then where they stand. */
static void index_nodes(struct inventory *inventory, const struct state *state)
{
    uint32_t nodes = state->nodes.len;

    vec_clear(&inventory->node_start);
    vec_resize(&inventory->node_start, (uint64_t)nodes + 1);
    uint32_t *start = inventory->node_start.items;
    memset(start, 0, ((size_t)nodes + 1) * sizeof *start);
    vec_clear(&inventory->shared);
    vec_foreach (&inventory->ordered, id) {
        const struct slice *slice = &state->slices.items[*id];

        if (is_of_node(state, slice))
            start[slice->node + 1]++;
        else
            vec_push(&inventory->shared, *id);
    }
    for (uint32_t n = 0; n < nodes; n++)
        start[n + 1] += start[n];
    vec_clear(&inventory->on_node);
    vec_resize(&inventory->on_node, start[nodes]);
    uint32_t *next = xcalloc((size_t)nodes + 1, sizeof *next);
    memcpy(next, start, (size_t)nodes * sizeof *next);
    vec_foreach (&inventory->ordered, id) {
        const struct slice *slice = &state->slices.items[*id];

        if (is_of_node(state, slice))
            inventory->on_node.items[next[slice->node]++] = *id;
    }
    free(next);
}

static void number_devices(struct inventory *inventory, const struct state *state)
{
    const struct slice *last = NULL;
    uint64_t pool = 0;

    map64_clear(&inventory->by_key);
    map64_clear(&inventory->numbers);
    inventory->device_count = 0;
    vec_clear(&inventory->first);
    vec_resize(&inventory->first, state->slices.len);
    for (uint32_t i = 0; i < inventory->ordered.len; i++) {
        uint32_t id = inventory->ordered.items[i];
        const struct slice *slice = &state->slices.items[id];

        if (!last || !is_same_pool(state, last, slice))
            pool++;
        last = slice;
        map64_put(&inventory->by_key, (uint64_t)slice->driver << 32 | slice_pool_name(state, slice), pool);
        inventory->first.items[id] = inventory->device_count;
        inventory->rank.items[id] = i;
        for (uint32_t d = 0; d < slice->device_count; d++) {
            uint64_t key = pool << 32 | slice->devices[d];
            uint64_t known;

            /* The newest generation's, where a pool is being replaced. */
            if (!map64_get(&inventory->numbers, key, &known) ||
                device_slice(inventory, state, (uint32_t)known, &(uint32_t){0})->generation < slice->generation)
                map64_put(&inventory->numbers, key, inventory->device_count + d);
        }
        inventory->device_count += slice->device_count;
    }
}

/* Devices of the same names are held together, whichever of them a claim was given. */
static void find_canons(struct inventory *inventory, const struct state *state)
{
    vec_clear(&inventory->canon);
    vec_resize(&inventory->canon, inventory->device_count);
    vec_foreach (&inventory->ordered, id) {
        const struct slice *slice = &state->slices.items[*id];

        for (uint32_t d = 0; d < slice->device_count; d++)
            inventory->canon.items[inventory->first.items[*id] + d] =
                device_number(inventory, slice->driver, slice_pool_name(state, slice), slice->devices[d]);
    }
}

void inventory_refresh(struct inventory *inventory, const struct state *state)
{
    if (inventory->is_made && inventory->clock == state->device_clock &&
        inventory->node_start.len == (uint64_t)state->nodes.len + 1)
        return;
    inventory->is_made = true;
    inventory->clock = state->device_clock;
    vec_clear(&inventory->ordered);
    vec_clear(&inventory->rank);
    vec_resize(&inventory->rank, state->slices.len);
    for (uint32_t i = 0; i < state->slices.len; i++)
        if (state->slices.items[i].is_present)
            vec_push(&inventory->ordered, i);
    if (inventory->ordered.len > 1)
        qsort_r(inventory->ordered.items, inventory->ordered.len, sizeof *inventory->ordered.items, by_pool_and_name,
                (void *)(uintptr_t)state);
    index_nodes(inventory, state);
    number_devices(inventory, state);
    find_canons(inventory, state);
    selector_book_reset(&inventory->selectors, inventory->device_count);
}

uint32_t device_number(const struct inventory *inventory, name_id driver, name_id pool, name_id name)
{
    uint64_t key;
    uint64_t number;

    if (!map64_get(&inventory->by_key, (uint64_t)driver << 32 | pool, &key) ||
        !map64_get(&inventory->numbers, key << 32 | name, &number))
        return NO_ID;
    return (uint32_t)number;
}

const struct slice *device_slice(const struct inventory *inventory, const struct state *state, uint32_t number,
                                 uint32_t *ret_device)
{
    uint32_t low = 0;
    uint32_t high = inventory->ordered.len;

    /* The last slice that begins at or before it and has devices. */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (inventory->first.items[inventory->ordered.items[middle]] <= number)
            low = middle;
        else
            high = middle;
    }
    *ret_device = number - inventory->first.items[inventory->ordered.items[low]];
    return &state->slices.items[inventory->ordered.items[low]];
}

static bool reach_has(const struct state *state, const struct node_reach *reach, node_id id)
{
    const struct node *node = &state->nodes.items[id];

    if (reach->node && *reach->node)
        return strcmp(reach->node, state_name(state, node->name)) == 0;
    if (reach->is_for_all_nodes)
        return true;
    for (size_t i = 0; i < reach->selector_count; i++)
        if (selector_matches(state, reach->selectors[i], state_labels(state, node->labels), node->name))
            return true;
    return false;
}

static bool slice_reaches(const struct state *state, const struct slice *slice, node_id node)
{
    if (slice->node != NO_ID || slice->is_for_all_nodes)
        return slice->is_for_all_nodes || slice->node == node;
    if (slice->reach.selector_count > 0)
        return reach_has(state, &slice->reach, node);
    for (uint32_t d = 0; slice->has_device_nodes && slice->offers && d < slice->device_count; d++)
        if (reach_has(state, &slice->offers[d].reach, node))
            return true;
    return false;
}

bool device_reaches_node(const struct state *state, const struct slice *slice, uint32_t device, node_id node)
{
    if (slice->has_device_nodes)
        return slice->offers && reach_has(state, &slice->offers[device].reach, node);
    return slice_reaches(state, slice, node);
}

void node_view_done(struct node_view *view)
{
    vec_done(&view->slices);
    vec_done(&view->pools);
}

static const struct device_amount *find_amount(const struct device_amount *amounts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (amounts[i].name == name)
            return &amounts[i];
    return NULL;
}

static bool draws_on_known_counters(const struct state *state, const struct map64 *sets, const struct slice *slice)
{
    for (uint32_t d = 0; slice->offers && d < slice->device_count; d++)
        for (size_t c = 0; c < slice->offers[d].consume_count; c++) {
            const struct counter_set *wanted = &slice->offers[d].consumes[c];
            uint64_t at;

            if (!map64_get(sets, (uint64_t)(uintptr_t)wanted->name, &at))
                return false;
            const struct counter_set *set = &state->slices.items[at >> 32].counters[(uint32_t)at];
            for (size_t n = 0; n < wanted->counter_count; n++)
                if (!find_amount(set->counters, set->counter_count, wanted->counters[n].name))
                    return false;
        }
    return true;
}

static bool note_counters(const struct slice *slice, uint32_t id, struct map64 *sets)
{
    for (uint32_t c = 0; c < slice->counter_count; c++) {
        if (map64_get(sets, (uint64_t)(uintptr_t)slice->counters[c].name, NULL))
            return false;
        map64_put(sets, (uint64_t)(uintptr_t)slice->counters[c].name, (uint64_t)id << 32 | c);
    }
    return true;
}

/* Names of devices and counter sets are there once, and all counters that devices draw on are. */
static bool is_valid(const struct inventory *inventory, const struct state *state, const uint32_t *ids, uint32_t count,
                     const struct pool_view *pool)
{
    struct map64 names;
    struct map64 sets;
    bool result = true;

    map64_init(&names);
    map64_init(&sets);
    for (uint32_t i = 0; i < count && result; i++) {
        const struct slice *slice = &state->slices.items[ids[i]];

        /* Numbered devices of recorded scenarios are no claim to be different. */
        for (uint32_t d = 0; slice->slice_count > 0 && slice->counter_count == 0 && d < slice->device_count; d++) {
            result &= !map64_get(&names, slice->devices[d], NULL);
            map64_put(&names, slice->devices[d], 1);
        }
        result &= note_counters(slice, ids[i], &sets);
    }
    for (uint32_t i = pool->pool_start; i < pool->pool_end && result; i++) {
        const struct slice *slice = &state->slices.items[inventory->ordered.items[i]];

        if (slice->generation == pool->generation)
            result = draws_on_known_counters(state, &sets, slice);
    }
    map64_done(&names);
    map64_done(&sets);
    return result;
}

static bool has_conditions(const struct slice *slice)
{
    for (uint32_t d = 0; slice->offers && d < slice->device_count; d++)
        if (slice->offers[d].condition_count > 0)
            return true;
    return false;
}

/* The pool whose slices for the node are `ids`. */
static void add_pool(struct node_view *view, const struct inventory *inventory, const struct state *state,
                     uint32_t *ids, uint32_t count)
{
    struct pool_view pool = {.generation = INT64_MIN, .first = view->slices.len};
    uint32_t kept = 0;
    int64_t there = 0;
    bool is_obsolete = false;

    for (uint32_t i = 0; i < count; i++)
        pool.generation = MAX(pool.generation, state->slices.items[ids[i]].generation);
    for (uint32_t i = 0; i < count; i++)
        if (state->slices.items[ids[i]].generation == pool.generation)
            ids[kept++] = ids[i];
    const struct slice *one = &state->slices.items[ids[0]];
    pool.pool_start = inventory->rank.items[ids[0]];
    pool.pool_end = pool.pool_start + 1;
    while (pool.pool_start > 0 &&
           is_same_pool(state, one, &state->slices.items[inventory->ordered.items[pool.pool_start - 1]]))
        pool.pool_start--;
    while (pool.pool_end < inventory->ordered.len &&
           is_same_pool(state, one, &state->slices.items[inventory->ordered.items[pool.pool_end]]))
        pool.pool_end++;
    for (uint32_t i = pool.pool_start; i < pool.pool_end; i++) {
        const struct slice *slice = &state->slices.items[inventory->ordered.items[i]];

        there += slice->generation == pool.generation;
        is_obsolete |= slice->generation > pool.generation;
    }
    bool is_complete = one->slice_count == 0 || one->slice_count == (int64_t)kept;
    if (!is_complete && is_obsolete)
        return;
    pool.is_incomplete = !is_complete && there != one->slice_count;
    pool.is_invalid = !pool.is_incomplete && !is_valid(inventory, state, ids, kept, &pool);
    for (uint32_t i = 0; i < kept; i++) {
        const struct slice *slice = &state->slices.items[ids[i]];

        if (slice->counter_count > 0 || pool.is_incomplete || pool.is_invalid)
            continue;
        pool.has_conditions |= has_conditions(slice);
        vec_push(&view->slices, ids[i]);
        pool.count++;
    }
    vec_push(&view->pools, pool);
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct inventory *inventory = context;
    uint32_t l = inventory->rank.items[*(const uint32_t *)a];
    uint32_t r = inventory->rank.items[*(const uint32_t *)b];

    return (l > r) - (l < r);
}

/* Pools whose devices have to be attached first come last, in the same order otherwise. */
static void put_conditions_last(struct node_view *view)
{
    uint32_t last = view->pools.len;

    for (uint32_t i = 0, seen = 0; seen < last; seen++) {
        struct pool_view pool = view->pools.items[i];

        if (!pool.has_conditions) {
            i++;
            continue;
        }
        memmove(&view->pools.items[i], &view->pools.items[i + 1], (view->pools.len - i - 1) * sizeof pool);
        view->pools.items[view->pools.len - 1] = pool;
    }
}

void node_view_make(struct node_view *view, const struct inventory *inventory, const struct state *state, node_id node)
{
    VEC(uint32_t) ids = {0};

    vec_clear(&view->slices);
    vec_clear(&view->pools);
    for (uint32_t i = inventory->node_start.items[node]; i < inventory->node_start.items[node + 1]; i++)
        vec_push(&ids, inventory->on_node.items[i]);
    vec_foreach (&inventory->shared, id)
        if (state->slices.items[*id].counter_count > 0 || slice_reaches(state, &state->slices.items[*id], node))
            vec_push(&ids, *id);
    if (ids.len > 1)
        qsort_r(ids.items, ids.len, sizeof *ids.items, by_rank, (void *)(uintptr_t)inventory);
    for (uint32_t i = 0, end; i < ids.len; i = end) {
        for (end = i + 1; end < ids.len; end++)
            if (!is_same_pool(state, &state->slices.items[ids.items[i]], &state->slices.items[ids.items[end]]))
                break;
        add_pool(view, inventory, state, ids.items + i, end - i);
    }
    put_conditions_last(view);
    vec_done(&ids);
}
