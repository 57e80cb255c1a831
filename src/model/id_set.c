/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A dense list beside an array of places: adding, removing and asking are one step each, and walking touches members
 * only.
 */
#include "model/state.h"

static void make_room(struct id_set *set, uint32_t id)
{
    uint32_t from = set->place.len;

    if (id < from)
        return;
    vec_resize(&set->place, (uint64_t)id + 1);
    memset(set->place.items + from, 0xff, (size_t)(set->place.len - from) * sizeof *set->place.items);
}

bool id_set_has(const struct id_set *set, uint32_t id)
{
    return id < set->place.len && set->place.items[id] != NO_ID;
}

void id_set_add(struct id_set *set, uint32_t id)
{
    if (id_set_has(set, id))
        return;
    make_room(set, id);
    set->place.items[id] = set->ids.len;
    vec_push(&set->ids, id);
}

void id_set_remove(struct id_set *set, uint32_t id)
{
    if (!id_set_has(set, id))
        return;
    uint32_t place = set->place.items[id];
    uint32_t last = vec_last(&set->ids);

    set->ids.items[place] = last;
    set->place.items[last] = place;
    set->place.items[id] = NO_ID;
    set->ids.len--;
}

void id_set_clear(struct id_set *set)
{
    vec_foreach (&set->ids, id)
        set->place.items[*id] = NO_ID;
    vec_clear(&set->ids);
}

void id_set_done(struct id_set *set)
{
    vec_done(&set->ids);
    vec_done(&set->place);
}
