/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * The undo log: every change that a simulation makes to the state goes through undo_set32 or undo_set64, which note the
 * old value. A mark is a place in the log; going back to it puts every value back as it was, bit for bit, and costs what
 * was changed since. While nothing is being simulated (`is_recording` false) the log stays empty and a change is a store.
 *
 * Addresses must stay where they are while the log holds them: what a cycle can change never moves during the cycle.
 */
struct undo_entry {
    uintptr_t address;  // its lowest bit tells 32-bit values from 64-bit ones
    uint64_t old;
};

struct undo {
    struct undo_entry *entries;
    uint32_t len;
    uint32_t cap;
    bool is_recording;
};

typedef uint32_t undo_mark;

void undo_init(struct undo *undo);
void undo_done(struct undo *undo);

/* Doubles the room of the log; called by undo_note alone. */
void undo_grow(struct undo *undo);

static inline undo_mark undo_here(const struct undo *undo)
{
    return undo->len;
}

static inline void undo_note(struct undo *undo, uintptr_t address, uint64_t old)
{
    if (!undo->is_recording)
        return;
    if (undo->len == undo->cap)
        undo_grow(undo);
    undo->entries[undo->len++] = (struct undo_entry){address, old};
}

static inline void undo_set64(struct undo *undo, void *at, uint64_t value)
{
    uint64_t old;
    memcpy(&old, at, sizeof old);
    undo_note(undo, (uintptr_t)at, old);
    memcpy(at, &value, sizeof value);
}

static inline void undo_set32(struct undo *undo, void *at, uint32_t value)
{
    uint32_t old;
    memcpy(&old, at, sizeof old);
    undo_note(undo, (uintptr_t)at | 1, old);
    memcpy(at, &value, sizeof value);
}

static inline void undo_add64(struct undo *undo, int64_t *at, int64_t change)
{
    undo_set64(undo, at, (uint64_t)(*at + change));
}

/* Puts back everything changed since `mark`, last change first. */
void undo_back_to(struct undo *undo, undo_mark mark);

/* Forgets the log: what was changed stays. */
void undo_forget(struct undo *undo);
