/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which devices are held follows from all claims. It is counted once a cycle, and then follows the claims that change. A
 * simulation that is taken back takes the length of their log back as well: entries behind it that were counted are of
 * claims that have changed back. Slices stay as they are during a cycle.
 */
#include "engine/nodes/devices.h"

#include "engine/context.h"
#include "engine/nodes/pods/affinity.h"
#include "engine/topology/topology.h"
#include "model/delta.h"

static uint32_t number_of(const struct affinity_memory *memory, const struct device *device)
{
    return device_number(&memory->inventory, device->driver, device->pool, device->name);
}

static const struct device_amount *share_amounts_of(const struct device_amount *all, const struct device *device)
{
    return device->amount_count > 0 ? &all[device->first_amount] : NULL;
}

static void hold(struct affinity_memory *memory, const struct held_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct device *device = &list->devices[i];
        uint32_t number = number_of(memory, device);

        if (number == NO_ID || device->is_admin)
            continue;
        if (device->is_share) {
            share_book_add(&memory->shares, number, share_amounts_of(list->amounts, device), device->amount_count);
            continue;
        }
        memory->holders.items[number]++;
        bitset_set(&memory->held, number);
    }
}

static void let_go(struct affinity_memory *memory, const struct held_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct device *device = &list->devices[i];
        uint32_t number = number_of(memory, device);

        if (number == NO_ID || device->is_admin)
            continue;
        if (device->is_share) {
            share_book_remove(&memory->shares, number, share_amounts_of(list->amounts, device), device->amount_count);
            continue;
        }
        if (--memory->holders.items[number] == 0)
            bitset_clear(&memory->held, number);
    }
}

static struct held_list list_of(const struct claim *claim)
{
    if (!claim->is_present || !claim->is_allocated)
        return (struct held_list){0};
    return (struct held_list){claim->devices, claim->amounts, claim->device_count};
}

static void count_all(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;
    const struct state *state = engine->state;

    inventory_refresh(&memory->inventory, state);
    bitset_resize(&memory->held, memory->inventory.device_count);
    bitset_clear_all(&memory->held);
    share_book_clear(&memory->shares);
    vec_clear(&memory->holders);
    vec_resize(&memory->holders, memory->inventory.device_count);
    vec_clear(&memory->counted);
    vec_resize(&memory->counted, state->claims.len);
    for (uint32_t i = 0; i < state->claims.len; i++) {
        memory->counted.items[i] = list_of(&state->claims.items[i]);
        hold(memory, &memory->counted.items[i]);
    }
    memory->claim_log_read = memory->claim_log_len;
}

static void count_again(struct engine *engine, uint32_t id)
{
    struct affinity_memory *memory = engine->affinity;
    struct held_list *counted = &memory->counted.items[id];
    struct held_list now = list_of(&engine->state->claims.items[id]);

    let_go(memory, counted);
    hold(memory, &now);
    *counted = now;
}

/* Claims of entries that were counted and then taken back are as they were before. */
static void count_taken_back(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;

    while (memory->claim_log_read > memory->claim_log_len)
        count_again(engine, memory->claim_log.items[--memory->claim_log_read]);
}

void devices_change(struct engine *engine, const struct claim *claim)
{
    struct affinity_memory *memory = engine->affinity;

    /* First, while this claim is as it was before: it may be among those that were taken back. */
    if (memory->are_devices_known)
        count_taken_back(engine);
    vec_resize(&memory->claim_log, memory->claim_log_len);
    vec_push(&memory->claim_log, (uint32_t)(claim - engine->state->claims.items));
    undo_set32(&engine->state->undo, &memory->claim_log_len, memory->claim_log_len + 1);
}

void devices_close(struct engine *engine)
{
    engine->affinity->are_devices_known = engine->affinity->is_in_cycle = false;
}

/* Brings what claims hold up to date. Between cycles it is counted anew when books have changed. */
static void find_used(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;
    uint64_t touches = topology_touches(engine);

    if (memory->are_devices_known && memory->is_in_cycle) {
        count_taken_back(engine);
        while (memory->claim_log_read < memory->claim_log_len)
            count_again(engine, memory->claim_log.items[memory->claim_log_read++]);
    } else if (!memory->are_devices_known || memory->devices_touches != touches) {
        count_all(engine);
        memory->are_devices_known = true;
        memory->devices_touches = touches;
    }
}

struct allocator *devices_allocator(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;

    find_used(engine);
    memory->allocator.inventory = &memory->inventory;
    memory->allocator.state = engine->state;
    memory->allocator.held = &memory->held;
    memory->allocator.shares = &memory->shares;
    return &memory->allocator;
}

bool devices_charge(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;
    struct state *state = engine->state;
    bool has_changed = false;

    inventory_refresh(&memory->inventory, state);
    for (uint32_t i = 0; i < state->claims.len; i++) {
        const struct claim *claim = &state->claims.items[i];
        uint32_t devices = claim->is_allocated ? claim->device_count + 1 : 0;

        if (!claim->is_present || claim->is_synthetic ||
            (claim->charge_clock == state->device_clock + 1 && claim->charged_devices == devices))
            continue;
        state_charge_claim(state, i, claim_charge(&memory->charges, &memory->inventory, state, claim));
        has_changed = true;
    }
    return has_changed;
}

/*
 * Can pods on the node use the device? Told by the slice that it is from, else by its pool, which is named like its
 * node.
 */
static bool device_reaches(struct engine *engine, const struct device *device, node_id node)
{
    struct affinity_memory *memory = engine->affinity;
    uint32_t number = number_of(memory, device);
    uint32_t place;

    if (number == NO_ID)
        return device->pool == engine->state->nodes.items[node].name;
    const struct slice *slice = device_slice(&memory->inventory, engine->state, number, &place);
    return device_reaches_node(engine->state, slice, place, node);
}

bool devices_reach(struct engine *engine, const struct claim *claim, node_id node)
{
    inventory_refresh(&engine->affinity->inventory, engine->state);
    for (uint32_t i = 0; i < claim->device_count; i++) {
        if (!device_reaches(engine, &claim->devices[i], node))
            return false;
    }
    return true;
}

/* What the claim's shares of the device before the one at `end` take of a capacity. */
static device_nano taken_before(const struct claim *claim, uint32_t end, const char *name)
{
    const struct device *device = &claim->devices[end];
    device_nano sum = 0;

    for (uint32_t i = 0; i < end; i++) {
        const struct device *other = &claim->devices[i];
        const struct device_amount *amounts = share_amounts_of(claim->amounts, other);

        for (uint32_t a = 0; other->name == device->name && other->pool == device->pool &&
                             other->driver == device->driver && other->is_share && a < other->amount_count;
             a++)
            sum += amounts[a].name == name ? amount_nano(&amounts[a]) : 0;
    }
    return sum;
}

/* Is as much left of the device as the claim's share at `index` takes? */
static bool share_is_free(const struct engine *engine, const struct claim *claim, uint32_t index, uint32_t number)
{
    const struct affinity_memory *memory = engine->affinity;
    const struct device *device = &claim->devices[index];
    const struct device_amount *amounts = share_amounts_of(claim->amounts, device);
    uint32_t place;
    const struct slice *slice = device_slice(&memory->inventory, engine->state, number, &place);
    const struct device_offer *offer = slice->offers ? &slice->offers[place] : NULL;

    for (uint32_t i = 0; i < device->amount_count; i++) {
        device_nano left =
            -share_book_sum(&memory->shares, number, amounts[i].name) - taken_before(claim, index, amounts[i].name);

        for (size_t c = 0; offer && c < offer->capacity_count; c++)
            if (offer->capacity[c].name == amounts[i].name)
                left += amount_nano(&offer->capacity[c]);
        if (amount_nano(&amounts[i]) > left)
            return false;
    }
    return true;
}

bool devices_are_free(struct engine *engine, const struct claim *claim, node_id node)
{
    struct affinity_memory *memory = engine->affinity;
    struct allocator *allocator = devices_allocator(engine);

    for (uint32_t i = 0; i < claim->device_count; i++) {
        uint32_t number = number_of(memory, &claim->devices[i]);

        if (number == NO_ID || claim->devices[i].is_admin)
            continue;
        if (bitset_test(&memory->held, number))
            return false;
        if (claim->devices[i].is_share && !share_is_free(engine, claim, i, number))
            return false;
    }
    return allocator_counters_allow(allocator, node, claim->devices, claim->device_count);
}

/* How the request is met that the device is for; none that tolerates anything when the claim does not say. */
static const struct device_ask *ask_of(const struct state *state, const struct claim *claim, name_id request)
{
    static const struct device_ask nothing = {0};
    const char *name = state_name(state, request);

    for (size_t r = 0; r < claim->ask.request_count; r++)
        for (size_t o = 0; o < claim->ask.requests[r].ask_count; o++)
            if (claim->ask.requests[r].asks[o].full_name == name)
                return &claim->ask.requests[r].asks[o];
    return &nothing;
}

bool devices_evict(struct engine *engine, const struct claim *claim)
{
    const struct affinity_memory *memory = engine->affinity;

    inventory_refresh(&engine->affinity->inventory, engine->state);
    for (uint32_t i = 0; i < claim->device_count; i++) {
        uint32_t number = number_of(memory, &claim->devices[i]);
        uint32_t place;

        if (number == NO_ID)
            continue;
        const struct slice *slice = device_slice(&memory->inventory, engine->state, number, &place);
        const struct device_offer *offer = slice->offers ? &slice->offers[place] : NULL;
        for (size_t t = 0; offer && t < offer->taint_count; t++)
            if (offer->taints[t].effect == DEVICE_EFFECT_NO_EXECUTE &&
                !taint_is_tolerated(&offer->taints[t], ask_of(engine->state, claim, claim->devices[i].request)))
                return true;
    }
    return false;
}
