/* SPDX-License-Identifier: Apache-2.0 */
#include "model/undo.h"

#include "base/macros.h"
#include "base/mem.h"

enum { FIRST_ENTRIES = 1024 };

void undo_init(struct undo *undo)
{
    *undo = (struct undo){0};
}

void undo_done(struct undo *undo)
{
    free(undo->entries);
    *undo = (struct undo){0};
}

void undo_grow(struct undo *undo)
{
    BUG_ON(undo->cap > UINT32_MAX / 2);
    undo->cap = undo->cap ? undo->cap * 2 : FIRST_ENTRIES;
    undo->entries = xreallocarray(undo->entries, undo->cap, sizeof *undo->entries);
}

void undo_back_to(struct undo *undo, undo_mark mark)
{
    BUG_ON(mark > undo->len);
    while (undo->len > mark) {
        const struct undo_entry *entry = &undo->entries[--undo->len];

        if (entry->address & 1) {
            uint32_t old = (uint32_t)entry->old;

            memcpy((void *)(entry->address & ~(uintptr_t)1), &old, sizeof old);
        } else {
            memcpy((void *)entry->address, &entry->old, sizeof entry->old);
        }
    }
}

void undo_forget(struct undo *undo)
{
    undo->len = 0;
}
