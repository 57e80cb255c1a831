/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Followers of one kind step from change to change by `next_of_kind`, so that a rare kind does not pay for a busy one; only
 * the first step of a follower looks at changes of other kinds.
 */
#include "store/history.h"

#include <errno.h>

#include "base/mem.h"

/* Before the next change of a kind has come. */
static const uint64_t NOT_YET = UINT64_MAX;

static struct store_change *at(const struct history *history, uint64_t position)
{
    return &history->ring[position % history->max];
}

void history_init(struct history *history, uint32_t max, uint64_t floor)
{
    *history = (struct history){.max = max, .floor = floor};
    history->ring = xcalloc(max, sizeof *history->ring);
}

static void drop_oldest(struct history *history)
{
    struct store_change *oldest = at(history, history->begin++);

    history->bytes -= oldest->after->body_len;
    history->floor = oldest->version;
    store_object_unref(oldest->before);
    store_object_unref(oldest->after);
}

void history_done(struct history *history)
{
    while (history->begin < history->end)
        drop_oldest(history);
    free(history->ring);
    vec_done(&history->last_of_kind);
}

void history_add(struct history *history, struct store_change change)
{
    size_t bytes = change.after->body_len;

    while (history->begin < history->end &&
           (history->end - history->begin == history->max || history->bytes + bytes > STORE_HISTORY_BYTES_MAX))
        drop_oldest(history);

    if (change.before)
        store_object_ref(change.before);
    store_object_ref(change.after);
    change.next_of_kind = NOT_YET;
    if (change.kind >= history->last_of_kind.len)
        vec_resize(&history->last_of_kind, change.kind + 1);
    uint64_t *last = &history->last_of_kind.items[change.kind];
    if (*last > history->begin)
        at(history, *last - 1)->next_of_kind = history->end;
    *at(history, history->end++) = change;
    *last = history->end;
    history->bytes += bytes;
}

int history_position(const struct history *history, uint64_t version, uint64_t *ret_position)
{
    uint64_t newest = history->end > history->begin ? at(history, history->end - 1)->version : history->floor;
    uint64_t low = history->begin;
    uint64_t high = history->end;

    if (version < history->floor)
        return -ESTALE;
    if (version > newest)
        return -ERANGE;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (at(history, middle)->version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_position = low;
    return 0;
}

int history_next(const struct history *history, uint32_t kind, uint64_t *position,
                 const struct store_change **ret_change)
{
    uint64_t last = kind < history->last_of_kind.len ? history->last_of_kind.items[kind] : 0;

    if (*position < history->begin)
        return -ESTALE;
    if (*position >= last)
        return 0;
    while (at(history, *position)->kind != kind)
        ++*position;
    *ret_change = at(history, *position);
    *position = (*ret_change)->next_of_kind == NOT_YET ? history->end : (*ret_change)->next_of_kind;
    return 1;
}
