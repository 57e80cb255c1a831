/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A merge sort, since comparing needs the state's names, which qsort cannot pass on, and since gangs come nearly in
 * order (by age): halves that are in order already are not merged.
 */
#include "engine/queues/kept_sort_internal.h"

#include <string.h>

#include "base/mem.h"
#include "model/state.h"

void kept_sort_add(struct kept_sort *sort, queue_id queue, gang_id gang, const struct gang_key *key)
{
    vec_push(&sort->entries, (struct sort_entry){*key, queue, gang});
}

static bool precedes(const struct state *state, const struct sort_entry *l, const struct sort_entry *r)
{
    if (l->queue != r->queue)
        return l->queue < r->queue;
    return gang_key_precedes(state, &l->key, &r->key);
}

static void merge(const struct state *state, struct sort_entry *all, uint32_t middle, uint32_t len,
                  struct sort_entry *room)
{
    uint32_t left = 0;
    uint32_t right = middle;
    uint32_t to = 0;

    if (!precedes(state, &all[middle], &all[middle - 1]))
        return;
    memcpy(room, all, middle * sizeof *all);
    while (left < middle && right < len)
        all[to++] = precedes(state, &all[right], &room[left]) ? all[right++] : room[left++];
    memcpy(all + to, room + left, (middle - left) * sizeof *all);
}

static void sort_short(const struct state *state, struct sort_entry *all, uint32_t len)
{
    for (uint32_t i = 1; i < len; i++) {
        struct sort_entry entry = all[i];
        uint32_t at = i;
        for (; at > 0 && precedes(state, &entry, &all[at - 1]); at--)
            all[at] = all[at - 1];
        all[at] = entry;
    }
}

void kept_sort_run(struct kept_sort *sort, const struct state *state)
{
    enum { SHORT = 16 };
    uint32_t len = sort->entries.len;
    struct sort_entry *all = sort->entries.items;
    _cleanup_(freep) struct sort_entry *room = xmalloc(len * sizeof *room);

    for (uint32_t start = 0; start < len; start += SHORT)
        sort_short(state, all + start, MIN((uint32_t)SHORT, len - start));
    for (uint64_t half = SHORT; half < len; half *= 2) {
        for (uint64_t start = 0; start + half < len; start += 2 * half)
            merge(state, all + start, (uint32_t)half, (uint32_t)MIN(2 * half, len - start), room);
    }
}

const gang_id *kept_sort_take(struct kept_sort *sort, queue_id *ret_queue, uint32_t *ret_count)
{
    if (sort->taken == sort->entries.len)
        return NULL;
    queue_id queue = sort->entries.items[sort->taken].queue;
    vec_clear(&sort->gangs);
    while (sort->taken < sort->entries.len && sort->entries.items[sort->taken].queue == queue)
        vec_push(&sort->gangs, sort->entries.items[sort->taken++].gang);
    *ret_queue = queue;
    *ret_count = sort->gangs.len;
    return sort->gangs.items;
}

void kept_sort_done(struct kept_sort *sort)
{
    vec_done(&sort->entries);
    vec_done(&sort->gangs);
}
