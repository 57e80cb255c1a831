/* SPDX-License-Identifier: Apache-2.0 */

/* Counters that the devices of a pool share: what those that are held and picked leave for one more. */
#include "engine/devices/allocate_internal.h"

/* What the device takes of the counter. */
static device_nano drawn(const struct device_offer *offer, const char *set, const char *counter)
{
    device_nano sum = 0;

    for (size_t c = 0; c < offer->consume_count; c++)
        for (size_t n = 0; offer->consumes[c].name == set && n < offer->consumes[c].counter_count; n++)
            if (offer->consumes[c].counters[n].name == counter)
                sum += amount_nano(&offer->consumes[c].counters[n]);
    return sum;
}

static const struct pool_view *pool_of(const struct allocator *allocator, const struct slice *slice)
{
    uint32_t rank = allocator->inventory->rank.items[slice - allocator->state->slices.items];

    vec_foreach (&allocator->view.pools, pool)
        if (rank >= pool->pool_start && rank < pool->pool_end)
            return pool;
    return NULL;
}

static bool device_is_in_part_held(const struct allocator *allocator, uint32_t number)
{
    return device_is_held(allocator, number) ||
           share_book_has(allocator->shares, allocator->inventory->canon.items[number]);
}

/* What devices of the pool that are held or picked take of a counter. */
static device_nano drawn_by_all(const struct allocator *allocator, const struct pool_view *pool, const char *set,
                                const char *counter)
{
    device_nano sum = 0;

    for (uint32_t i = pool->pool_start; i < pool->pool_end; i++) {
        uint32_t id = allocator->inventory->ordered.items[i];
        const struct slice *slice = &allocator->state->slices.items[id];

        for (uint32_t d = 0; slice->generation == pool->generation && slice->offers && d < slice->device_count; d++)
            if (slice->offers[d].consume_count > 0 &&
                device_is_in_part_held(allocator, allocator->inventory->first.items[id] + d))
                sum += drawn(&slice->offers[d], set, counter);
    }
    vec_foreach (&allocator->picks, other)
        if (other->draws && pool_of(allocator, other->slice) == pool)
            sum += drawn(&other->slice->offers[other->device], set, counter);
    return sum;
}

static bool set_lacks(const struct allocator *allocator, const struct pool_view *pool, const struct counter_set *set,
                      const struct device_offer *offer, struct counter_lack *ret_lack)
{
    for (size_t n = 0; n < set->counter_count; n++) {
        const char *counter = set->counters[n].name;
        device_nano needed = drawn(offer, set->name, counter);
        device_nano left = amount_nano(&set->counters[n]) - drawn_by_all(allocator, pool, set->name, counter);

        if (needed > left) {
            *ret_lack = (struct counter_lack){set->name, counter, needed, left};
            return true;
        }
    }
    return false;
}

bool pick_must_draw(const struct allocator *allocator, const struct pick *pick)
{
    if (!pick->slice->offers || pick->slice->offers[pick->device].consume_count == 0)
        return false;
    if (!pick->is_share)
        return true;
    vec_foreach (&allocator->picks, other)
        if (other->number == pick->number)
            return false;
    return !share_book_has_amounts(allocator->shares, allocator->inventory->canon.items[pick->number]);
}

bool counter_lacking(const struct allocator *allocator, const struct pick *pick, struct counter_lack *ret_lack)
{
    const struct device_offer *offer = &pick->slice->offers[pick->device];
    const struct pool_view *pool = pool_of(allocator, pick->slice);

    for (uint32_t i = pool->pool_start; i < pool->pool_end; i++) {
        const struct slice *slice = &allocator->state->slices.items[allocator->inventory->ordered.items[i]];

        for (uint32_t c = 0; slice->generation == pool->generation && c < slice->counter_count; c++)
            if (set_lacks(allocator, pool, &slice->counters[c], offer, ret_lack))
                return true;
    }
    return false;
}

bool counters_have_room(const struct allocator *allocator, const struct pick *pick)
{
    struct counter_lack lack;

    return !pick->draws || !counter_lacking(allocator, pick, &lack);
}

bool allocator_counters_allow(struct allocator *allocator, node_id node, const struct device *devices, uint32_t count)
{
    allocator_begin(allocator, node);
    for (uint32_t i = 0; i < count; i++) {
        const struct device *device = &devices[i];
        uint32_t number = device_number(allocator->inventory, device->driver, device->pool, device->name);

        if (number == NO_ID || device->is_admin)
            continue;
        struct pick pick = {.number = number, .is_share = device->is_share};
        pick.slice = device_slice(allocator->inventory, allocator->state, number, &pick.device);
        /* Counters of a pool that the node does not see are none of its concern. */
        if (!pool_of(allocator, pick.slice))
            continue;
        pick.draws = pick_must_draw(allocator, &pick);
        if (!counters_have_room(allocator, &pick))
            return false;
        vec_push(&allocator->picks, pick);
    }
    return true;
}
