/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/events/recent_internal.h"

#include <stdlib.h>

#include "base/mem.h"

void recent_init(struct recent *recent, uint32_t cap)
{
    *recent = (struct recent){.cap = cap, .links = xcalloc(cap, sizeof *recent->links)};
    map64_init(&recent->by_key);
}

void recent_done(struct recent *recent)
{
    free(recent->links);
    map64_done(&recent->by_key);
    *recent = (struct recent){0};
}

static void unlink_slot(struct recent *recent, uint32_t slot)
{
    struct recent_link *link = &recent->links[slot];

    if (link->newer)
        recent->links[link->newer - 1].older = link->older;
    else
        recent->newest = link->older;
    if (link->older)
        recent->links[link->older - 1].newer = link->newer;
    else
        recent->oldest = link->newer;
}

static void link_newest(struct recent *recent, uint32_t slot)
{
    struct recent_link *link = &recent->links[slot];

    link->newer = 0;
    link->older = recent->newest;
    if (recent->newest)
        recent->links[recent->newest - 1].newer = slot + 1;
    else
        recent->oldest = slot + 1;
    recent->newest = slot + 1;
}

uint32_t recent_use(struct recent *recent, uint64_t key, bool *ret_is_new)
{
    uint64_t found = 0;
    uint32_t slot;

    *ret_is_new = !map64_get(&recent->by_key, key, &found);
    if (!*ret_is_new) {
        slot = (uint32_t)found - 1;
        unlink_slot(recent, slot);
    } else if (recent->len < recent->cap) {
        slot = recent->len++;
    } else {
        slot = recent->oldest - 1;
        unlink_slot(recent, slot);
        (void)map64_remove(&recent->by_key, recent->links[slot].key);
    }
    recent->links[slot].key = key;
    link_newest(recent, slot);
    if (*ret_is_new)
        map64_put(&recent->by_key, key, slot + 1);
    return slot;
}
