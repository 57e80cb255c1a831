/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/mig/layout.h"

#include <string.h>

uint32_t mig_mask(uint32_t start, uint32_t size)
{
    return (uint32_t)(((UINT64_C(1) << size) - 1) << start);
}

/* Every place within the row, and at least one. */
static bool is_sound(const struct mig_profile *profile)
{
    uint32_t size = profile->size;

    return size > 0 && size <= MIG_ROW_MAX && profile->starts != 0 &&
           (UINT64_C(1) << (MIG_ROW_MAX - size + 1)) > profile->starts;
}

/* More memory comes first, then more processors; numbers decide among equals, so that the order does not depend on the
 * driver's. */
static bool is_before(const struct mig_profile *a, const struct mig_profile *b)
{
    if (a->size != b->size)
        return a->size > b->size;
    return a->slices != b->slices ? a->slices > b->slices : a->id < b->id;
}

void mig_layout_add(struct mig_layout *layout, const struct mig_profile *profile)
{
    uint32_t at = layout->count;

    if (!is_sound(profile) || at == ARRAY_LEN(layout->profiles) || mig_layout_find(layout, profile->id))
        return;
    for (; at > 0 && is_before(profile, &layout->profiles[at - 1]); at--)
        layout->profiles[at] = layout->profiles[at - 1];
    layout->profiles[at] = *profile;
    layout->count++;
}

const struct mig_profile *mig_layout_find(const struct mig_layout *layout, uint32_t id)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        if (layout->profiles[i].id == id)
            return &layout->profiles[i];
    }
    return NULL;
}

const struct mig_profile *mig_layout_find_name(const struct mig_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        if (strcmp(layout->profiles[i].name, name) == 0)
            return &layout->profiles[i];
    }
    return NULL;
}

/* From the left: of intervals of one length, those that end first leave room for the most. */
uint32_t mig_layout_room(const struct mig_profile *profile, uint32_t taken)
{
    uint32_t room = 0;

    for (uint32_t start = 0; start + profile->size <= MIG_ROW_MAX; start++) {
        uint32_t mask = mig_mask(start, profile->size);

        if (!(profile->starts >> start & 1) || (mask & taken))
            continue;
        taken |= mask;
        room++;
    }
    return MIN(room, profile->most);
}

int mig_layout_compare(const struct mig_layout *layout, uint32_t taken, uint32_t other)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        uint32_t room = mig_layout_room(&layout->profiles[i], taken);
        uint32_t other_room = mig_layout_room(&layout->profiles[i], other);

        if (room != other_room)
            return room > other_room ? 1 : -1;
    }
    return 0;
}

/* The best of the places that are free of `avoided`. */
static int best_place(const struct mig_layout *layout, const struct mig_profile *profile, uint32_t kept,
                      uint32_t avoided)
{
    int best = -1;

    for (uint32_t start = 0; start + profile->size <= MIG_ROW_MAX; start++) {
        uint32_t mask = mig_mask(start, profile->size);

        if (!(profile->starts >> start & 1) || (mask & avoided))
            continue;
        if (best < 0 || mig_layout_compare(layout, kept | mask, kept | mig_mask((uint32_t)best, profile->size)) > 0)
            best = (int)start;
    }
    return best;
}

int mig_layout_place(const struct mig_layout *layout, const struct mig_profile *profile, uint32_t kept, uint32_t idle)
{
    int place = best_place(layout, profile, kept, kept | idle);

    return place >= 0 ? place : best_place(layout, profile, kept, kept);
}
