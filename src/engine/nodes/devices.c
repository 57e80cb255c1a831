/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Devices that slices offer: which a node can use, and which are free. Slices stay as they are during a cycle, so they
 * are put in order by node once; which devices are free follows from what all claims hold, and is made when it is asked
 * for after books changed.
 */
#include "engine/nodes/devices.h"

#include <stdlib.h>
#include <string.h>

#include "engine/context.h"
#include "engine/nodes/affinity.h"
#include "engine/topology/topology.h"

static uint64_t pair_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* A pool without a name is the node's own. */
static name_id pool_name(const struct state *state, const struct slice *slice)
{
    return slice->pool == 0 && slice->node != NO_ID ? state->nodes.items[slice->node].name : slice->pool;
}

static uint32_t pool_number(struct affinity_memory *memory, name_id driver, name_id pool)
{
    uint64_t number;

    if (!map64_get(&memory->pools, pair_of(driver, pool), &number)) {
        number = memory->pool_slice.len;
        map64_put(&memory->pools, pair_of(driver, pool), number);
        vec_push(&memory->pool_slice, NO_ID);
    }
    return (uint32_t)number;
}

static bool is_offered(const struct state *state, const struct slice *slice)
{
    return slice->is_present && (slice->is_for_all_nodes || slice->node < state->nodes.len);
}

/* Ids depend on which slice came first. */
static int by_name(const void *a, const void *b, void *context)
{
    const struct state *state = context;
    const struct slice *l = &state->slices.items[*(const uint32_t *)a];
    const struct slice *r = &state->slices.items[*(const uint32_t *)b];

    return strcmp(state_name(state, l->name), state_name(state, r->name));
}

static void sort_slices(struct affinity_memory *memory, struct state *state)
{
    for (uint32_t n = 0; n <= state->nodes.len; n++) {
        uint32_t first = memory->slice_start.items[n];
        uint32_t count = memory->slice_start.items[n + 1] - first;

        if (count > 1)
            qsort_r(memory->slice_ids.items + first, count, sizeof *memory->slice_ids.items, by_name, state);
    }
}

/* Slices by node, so that a node's devices are found without looking at all; those for all nodes stand at the end. */
static void index_slices(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;
    const struct state *state = engine->state;
    uint32_t nodes = state->nodes.len;
    uint32_t sum = 0;

    if (memory->is_slice_index_made)
        return;
    memory->is_slice_index_made = true;
    map64_clear(&memory->pools);
    vec_clear(&memory->pool_slice);
    vec_clear(&memory->slice_start);
    vec_resize(&memory->slice_start, (uint64_t)nodes + 3);
    uint32_t *next = memory->slice_start.items + 2;  // counts first, then where the next of a node goes
    for (uint32_t s = 0; s < state->slices.len; s++) {
        const struct slice *slice = &state->slices.items[s];
        if (!is_offered(state, slice))
            continue;
        next[slice->is_for_all_nodes ? nodes : slice->node]++;
        uint32_t pool = pool_number(memory, slice->driver, pool_name(state, slice));
        uint32_t *known = &memory->pool_slice.items[pool];
        if (*known == NO_ID || by_name(known, &s, engine->state) < 0)
            *known = s;
    }
    for (uint32_t n = 0; n <= nodes; n++) {
        sum += next[n];
        next[n] = sum;
    }
    vec_resize(&memory->slice_ids, sum);
    next--;
    for (uint32_t s = 0; s < state->slices.len; s++) {
        const struct slice *slice = &state->slices.items[s];
        if (is_offered(state, slice))
            memory->slice_ids.items[next[slice->is_for_all_nodes ? nodes : slice->node]++] = s;
    }
    sort_slices(memory, engine->state);
}

static uint64_t device_key(struct affinity_memory *memory, name_id driver, name_id pool, name_id name)
{
    return pair_of(pool_number(memory, driver, pool), name);
}

void devices_note_used(struct affinity_memory *memory, const struct claim *claim)
{
    for (uint32_t i = 0; i < claim->device_count; i++) {
        const struct device *device = &claim->devices[i];
        map64_put(&memory->used_devices, device_key(memory, device->driver, device->pool, device->name), 1);
    }
}

/* Makes the set of devices that claims hold, unless no books changed since it was made. */
static void find_used(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;
    uint64_t touches = topology_touches(engine);

    if (memory->are_devices_known && memory->devices_touches == touches)
        return;
    index_slices(engine);
    memory->are_devices_known = true;
    memory->devices_touches = touches;
    map64_clear(&memory->used_devices);
    vec_foreach (&engine->state->claims, claim) {
        if (claim->is_present && claim->is_allocated)
            devices_note_used(memory, claim);
    }
}

void device_walk_begin(struct device_walk *walk, struct engine *engine, node_id node, struct device_kind kind)
{
    find_used(engine);
    *walk = (struct device_walk){
        engine->state, engine->affinity, node, kind, false, engine->affinity->slice_start.items[node], 0};
}

static const struct slice *walk_slice(struct device_walk *walk)
{
    const struct affinity_memory *memory = walk->memory;
    uint32_t nodes = walk->state->nodes.len;

    if (!walk->is_on_all_nodes && walk->slice == memory->slice_start.items[walk->node + 1]) {
        walk->is_on_all_nodes = true;
        walk->slice = memory->slice_start.items[nodes];
    }
    if (walk->slice == memory->slice_ids.len)
        return NULL;
    return &walk->state->slices.items[memory->slice_ids.items[walk->slice]];
}

static bool is_of_kind(const struct device_kind *kind, const struct slice *slice)
{
    return slice->device_class == kind->device_class && (kind->driver == 0 || slice->driver == kind->driver);
}

bool device_walk_next(struct device_walk *walk, struct device *ret)
{
    const struct slice *slice;

    while ((slice = walk_slice(walk))) {
        if (!is_of_kind(&walk->kind, slice) || walk->device == slice->device_count) {
            walk->slice++;
            walk->device = 0;
            continue;
        }
        *ret = (struct device){slice->driver, pool_name(walk->state, slice), slice->devices[walk->device++]};
        if (!map64_get(&walk->memory->used_devices, device_key(walk->memory, ret->driver, ret->pool, ret->name), NULL))
            return true;
    }
    return false;
}

int64_t devices_count_free(struct engine *engine, node_id node, struct device_kind kind, int64_t enough)
{
    struct device_walk walk;
    struct device device;
    int64_t count = 0;

    device_walk_begin(&walk, engine, node, kind);
    while (count < enough && device_walk_next(&walk, &device))
        count++;
    return count;
}

/*
 * Can pods on the node use the device? Told by the slice that it is from, else by its pool, which is named like its
 * node.
 */
static bool device_reaches(struct engine *engine, const struct device *device, node_id node)
{
    struct affinity_memory *memory = engine->affinity;
    uint64_t number;

    index_slices(engine);
    if (!map64_get(&memory->pools, pair_of(device->driver, device->pool), &number) ||
        memory->pool_slice.items[number] == NO_ID)
        return device->pool == engine->state->nodes.items[node].name;
    const struct slice *slice = &engine->state->slices.items[memory->pool_slice.items[number]];
    return slice->is_for_all_nodes || slice->node == node;
}

bool devices_reach(struct engine *engine, const struct claim *claim, node_id node)
{
    for (uint32_t i = 0; i < claim->device_count; i++) {
        if (!device_reaches(engine, &claim->devices[i], node))
            return false;
    }
    return true;
}

bool devices_are_free(struct engine *engine, const struct claim *claim)
{
    struct affinity_memory *memory = engine->affinity;

    find_used(engine);
    for (uint32_t i = 0; i < claim->device_count; i++) {
        const struct device *device = &claim->devices[i];
        if (map64_get(&memory->used_devices, device_key(memory, device->driver, device->pool, device->name), NULL))
            return false;
    }
    return true;
}
