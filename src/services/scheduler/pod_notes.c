/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/pod_notes.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

struct pod_notes {
    struct map64 by_key;  // -> struct pod_note *
    struct list leaving;
};

struct pod_notes *pod_notes_new(void)
{
    return xcalloc(1, sizeof(struct pod_notes));
}

void pod_notes_free(struct pod_notes *notes)
{
    uint64_t key, value;

    if (!notes)
        return;
    for (size_t cursor = 0; map64_next(&notes->by_key, &cursor, &key, &value);)
        free((struct pod_note *)(uintptr_t)value);
    map64_done(&notes->by_key);
    free(notes);
}

struct pod_note *pod_note_find(const struct pod_notes *notes, object_key key)
{
    uint64_t value = 0;

    return map64_get(&notes->by_key, key, &value) ? (struct pod_note *)(uintptr_t)value : NULL;
}

struct pod_note *pod_note_put(struct pod_notes *notes, object_key key)
{
    struct pod_note *note = pod_note_find(notes, key);

    if (note)
        return note;
    note = xcalloc(1, sizeof *note);
    note->key = key;
    map64_put(&notes->by_key, key, (uint64_t)(uintptr_t)note);
    return note;
}

static bool is_empty(const struct pod_note *note)
{
    for (int kind = 0; kind < _SETBACK_MAX; kind++) {
        if (note->setbacks[kind])
            return false;
    }
    return !note->placement && !note->eviction && note->condition == 0 && note->promised == 0 && note->lone_gang == 0 &&
           !note->picks_namespaces && note->leaving_since == 0;
}

void pod_note_settle(struct pod_notes *notes, struct pod_note *note)
{
    if (!note || !is_empty(note))
        return;
    (void)map64_remove(&notes->by_key, note->key);
    free(note);
}

void pod_note_set_leaving(struct pod_notes *notes, object_key key, nsec_t since)
{
    struct pod_note *note = since > 0 ? pod_note_put(notes, key) : pod_note_find(notes, key);

    if (!note)
        return;
    if (since > 0 && note->leaving_since == 0)
        list_push(&notes->leaving, &note->in_leaving);
    else if (since == 0 && note->leaving_since > 0)
        list_remove(&notes->leaving, &note->in_leaving);
    note->leaving_since = since;
    pod_note_settle(notes, note);
}

const struct list *pod_notes_leaving(const struct pod_notes *notes)
{
    return &notes->leaving;
}

struct pod_note *pod_notes_next(const struct pod_notes *notes, size_t *cursor)
{
    uint64_t key, value;

    return map64_next(&notes->by_key, cursor, &key, &value) ? (struct pod_note *)(uintptr_t)value : NULL;
}

size_t pod_notes_len(const struct pod_notes *notes)
{
    return map64_len(&notes->by_key);
}
