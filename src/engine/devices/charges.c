/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/devices/charges.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/devices/allocate_internal.h"

/* Slices of MIG profiles: a whole GPU has seven. */
enum { MIG_SLICES = 7, ASKS_MAX = 4096 };

/* Far from the end of the type: more GPUs than there are. */
#define CHARGE_MAX (INT64_C(1) << 53)

/* No device does. */
enum { COST_UNKNOWN = -1 };

void charge_book_done(struct charge_book *book)
{
    vec_done(&book->parts);
    map64_done(&book->by_ask);
}

size_t charge_book_bytes(const struct charge_book *book)
{
    return vec_bytes(&book->parts) + map64_bytes(&book->by_ask);
}

static void refresh(struct charge_book *book, const struct inventory *inventory)
{
    if (book->clock == inventory->clock + 1)
        return;
    book->clock = inventory->clock + 1;
    vec_clear(&book->parts);
    vec_resize(&book->parts, inventory->device_count);
    map64_clear(&book->by_ask);
}

static int64_t part_of(device_nano some, device_nano all, int64_t whole)
{
    if (all <= 0 || some >= all)
        return whole;
    return some <= 0 ? 0 : (int64_t)(some * whole / all);
}

static bool are_of_one_pool(const struct slice *a, const struct slice *b)
{
    return a->is_present && b->is_present && a->driver == b->driver && a->pool == b->pool &&
           a->generation == b->generation;
}

static device_nano counter_in(const struct slice *slice, const char *set, const char *counter)
{
    for (uint32_t c = 0; c < slice->counter_count; c++)
        for (size_t n = 0; slice->counters[c].name == set && n < slice->counters[c].counter_count; n++)
            if (slice->counters[c].counters[n].name == counter)
                return amount_nano(&slice->counters[c].counters[n]);
    return 0;
}

/* How much of a counter the pool has. Its slices stand together, in `ordered`. */
static device_nano counter_of(const struct inventory *inventory, const struct state *state, const struct slice *slice,
                              const char *set, const char *counter)
{
    uint32_t at = inventory->rank.items[slice - state->slices.items];

    while (at > 0 && are_of_one_pool(slice, &state->slices.items[inventory->ordered.items[at - 1]]))
        at--;
    for (; at < inventory->ordered.len; at++) {
        const struct slice *other = &state->slices.items[inventory->ordered.items[at]];

        if (!are_of_one_pool(slice, other))
            break;
        device_nano sum = counter_in(other, set, counter);
        if (sum > 0)
            return sum;
    }
    return 0;
}

static int64_t part_by_counters(const struct inventory *inventory, const struct state *state, const struct slice *slice,
                                const struct device_offer *offer)
{
    int64_t most = 0;

    for (size_t c = 0; c < offer->consume_count; c++)
        for (size_t n = 0; n < offer->consumes[c].counter_count; n++) {
            const struct device_amount *drawn = &offer->consumes[c].counters[n];
            device_nano all = counter_of(inventory, state, slice, offer->consumes[c].name, drawn->name);

            if (all > 0)
                most = MAX(most, part_of(amount_nano(drawn), all, GPU_ONE));
        }
    return most;
}

/* The slices that a MIG profile such as 3g.40gb has; 0 for what is none. */
static int64_t mig_slices(const struct device_offer *offer)
{
    for (size_t i = 0; i < offer->attribute_count; i++) {
        const struct device_attribute *attribute = &offer->attributes[i];
        const char *slash = strrchr(attribute->name, '/');
        char *end;

        if (attribute->kind != ATTRIBUTE_STRING || attribute->value_count > 0 ||
            strcmp(slash ? slash + 1 : attribute->name, "profile") != 0)
            continue;
        long slices = strtol(attribute->text, &end, 10);
        return end != attribute->text && *end == 'g' && slices > 0 ? MIN((int64_t)slices, INT64_C(7)) : 0;
    }
    return 0;
}

static int64_t device_part(struct charge_book *book, const struct inventory *inventory, const struct state *state,
                           const struct slice *slice, uint32_t device, uint32_t number)
{
    const struct device_offer *offer = slice->offers ? &slice->offers[device] : NULL;
    int64_t *part = &book->parts.items[number];

    if (*part > 0)
        return *part;
    *part = GPU_ONE;
    if (!offer)
        return *part;
    int64_t by_counters = part_by_counters(inventory, state, slice, offer);
    int64_t slices = mig_slices(offer);
    if (by_counters > 0)
        *part = by_counters;
    else if (slices > 0)
        *part = slices * GPU_ONE / MIG_SLICES;
    return *part;
}

/* The largest part of a capacity, in the order of offer->capacity or by name. */
static int64_t share_part(const struct device_offer *offer, const struct device_amount *amounts, uint32_t count,
                          int64_t whole)
{
    int64_t most = 0;

    for (size_t c = 0; c < offer->capacity_count; c++)
        for (uint32_t i = 0; i < count; i++)
            if (amounts[i].name == offer->capacity[c].name)
                most = MAX(most, part_of(amount_nano(&amounts[i]), amount_nano(&offer->capacity[c]), whole));
    return count > 0 ? most : whole;
}

static int64_t allocated_charge(struct charge_book *book, struct inventory *inventory, const struct state *state,
                                const struct claim *claim)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < claim->device_count; i++) {
        const struct device *device = &claim->devices[i];
        uint32_t number = device_number(inventory, device->driver, device->pool, device->name);
        uint32_t place;

        if (device->is_admin)
            continue;
        if (number == NO_ID) {
            sum += claim->is_gpu ? GPU_ONE : 0;
            continue;
        }
        const struct slice *slice = device_slice(inventory, state, number, &place);
        if (!slice->is_gpu)
            continue;
        int64_t part = device_part(book, inventory, state, slice, place, number);
        if (device->is_share && slice->offers)
            part = share_part(&slice->offers[place], claim->amounts + device->first_amount, device->amount_count, part);
        sum += part;
    }
    return sum;
}

/* What one device would cost the ask; COST_UNKNOWN when it does not do. */
static int64_t cost_of(struct charge_book *book, struct allocator *allocator, const struct option *option,
                       const struct slice *slice, uint32_t device)
{
    uint32_t number = allocator->inventory->first.items[slice - allocator->state->slices.items] + device;
    const struct device_offer *offer = slice->offers ? &slice->offers[device] : NULL;
    const struct device_amount *amounts;
    const char *name;

    if (device_meets(allocator, option, slice, device, number) != ANSWER_YES)
        return COST_UNKNOWN;
    if (!slice->is_gpu)
        return 0;
    int64_t part = device_part(book, allocator->inventory, allocator->state, slice, device, number);
    if (!offer || (!offer->allows_multiple && option->ask->capacity_count == 0))
        return part;
    if (share_amounts(&allocator->arena, offer, option->ask, &amounts, &name) != SHARE_OK)
        return COST_UNKNOWN;
    return offer->allows_multiple ? share_part(offer, amounts, (uint32_t)offer->capacity_count, part) : part;
}

static int64_t least_cost(struct charge_book *book, struct inventory *inventory, const struct state *state,
                          const struct device_ask *ask)
{
    struct allocator allocator = {.inventory = inventory, .state = state};
    struct option option = {.ask = ask};
    int64_t least = COST_UNKNOWN;

    option_find_class(&allocator, &option);
    if (!option.class)
        return COST_UNKNOWN;
    vec_foreach (&state->slices, slice)
        for (uint32_t d = 0; slice->is_present && d < slice->device_count && least != 0; d++) {
            int64_t cost = cost_of(book, &allocator, &option, slice, d);

            if (cost != COST_UNKNOWN && (least == COST_UNKNOWN || cost < least))
                least = cost;
        }
    arena_done(&allocator.arena);
    return least;
}

/* Texts are those of state->names: equal ones are at one place. */
static uint64_t hash_ask(const struct device_ask *ask)
{
    uint64_t hash = hash_bytes(&ask->device_class, sizeof ask->device_class, 0);

    hash = hash_bytes(ask->selectors, ask->selector_count * sizeof *ask->selectors, hash);
    for (size_t i = 0; i < ask->capacity_count; i++) {
        const struct device_amount *wanted = &ask->capacity[i];
        const uint64_t words[] = {(uint64_t)(uintptr_t)wanted->name, (uint64_t)wanted->whole, (uint64_t)wanted->nano};

        hash = hash_bytes(words, sizeof words, hash);
    }
    return hash;
}

/* The least that the ask can cost. */
static int64_t ask_charge(struct charge_book *book, struct inventory *inventory, const struct state *state,
                          const struct device_ask *ask)
{
    uint64_t hash = hash_ask(ask);
    uint64_t known;
    int64_t count = ask->is_all ? 1 : CLAMP(ask->count, INT64_C(1), CHARGE_MAX / GPU_ONE);

    if (ask->is_admin)
        return 0;
    if (!map64_get(&book->by_ask, hash, &known)) {
        if (map64_len(&book->by_ask) >= ASKS_MAX)
            map64_clear(&book->by_ask);
        known = (uint64_t)(least_cost(book, inventory, state, ask) + 1);
        map64_put(&book->by_ask, hash, known);
    }
    int64_t cost = (int64_t)known - 1;
    return cost == COST_UNKNOWN ? COST_UNKNOWN : count * cost;
}

static int64_t request_charge(struct charge_book *book, struct inventory *inventory, const struct state *state,
                              const struct device_request *request)
{
    int64_t least = COST_UNKNOWN;

    for (size_t o = 0; o < request->ask_count; o++) {
        int64_t cost = ask_charge(book, inventory, state, &request->asks[o]);

        if (cost != COST_UNKNOWN && (least == COST_UNKNOWN || cost < least))
            least = cost;
    }
    return least;
}

int64_t claim_charge(struct charge_book *book, struct inventory *inventory, const struct state *state,
                     const struct claim *claim)
{
    const struct device_ask plain = {
        .device_class = state_name(state, claim->device_class), .full_name = "", .count = claim->count};
    int64_t sum = 0;

    refresh(book, inventory);
    if (claim->is_allocated)
        return allocated_charge(book, inventory, state, claim);
    if (claim->ask.request_count == 0)
        return ask_charge(book, inventory, state, &plain);
    for (size_t r = 0; r < claim->ask.request_count; r++) {
        int64_t cost = request_charge(book, inventory, state, &claim->ask.requests[r]);

        if (cost == COST_UNKNOWN)
            return COST_UNKNOWN;
        sum = MIN(sum + cost, CHARGE_MAX);
    }
    return sum;
}
