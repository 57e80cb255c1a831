/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Linear probing. An entry sits at or after the slot its hash names, with no free slot in between; removing therefore
 * moves later entries back instead of leaving a mark, and look-ups never get slower over time. At most 3/4 is used.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 16 };

struct map64_slot {
    uint64_t key;
    uint64_t value;
};

/* The finalizer of MurmurHash3: each bit of the key moves each bit of the result. */
static uint64_t mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdU;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53U;
    return key ^ (key >> 33);
}

static size_t home_of(const struct map64 *m, uint64_t key)
{
    return (size_t)mix(key) & (m->cap - 1);
}

static size_t after(const struct map64 *m, size_t slot)
{
    return (slot + 1) & (m->cap - 1);
}

/* The slot of `key`, or the free one where it belongs. */
static size_t slot_of(const struct map64 *m, uint64_t key)
{
    size_t slot = home_of(m, key);

    while (m->is_used[slot] && m->slots[slot].key != key)
        slot = after(m, slot);
    return slot;
}

void map64_init(struct map64 *m)
{
    *m = (struct map64){0};
}

void map64_done(struct map64 *m)
{
    free(m->slots);
    free(m->is_used);
    map64_init(m);
}

void map64_clear(struct map64 *m)
{
    if (m->cap)
        memset(m->is_used, 0, m->cap);
    m->len = 0;
}

bool map64_get(const struct map64 *m, uint64_t key, uint64_t *ret_value)
{
    if (m->len == 0)
        return false;

    size_t slot = slot_of(m, key);
    if (!m->is_used[slot])
        return false;
    if (ret_value)
        *ret_value = m->slots[slot].value;
    return true;
}

static void grow(struct map64 *m)
{
    struct map64 old = *m;

    m->cap = old.cap ? old.cap * 2 : FIRST_SLOTS;
    m->slots = xreallocarray(NULL, m->cap, sizeof *m->slots);
    m->is_used = xcalloc(m->cap, 1);
    for (size_t i = 0; i < old.cap; i++) {
        if (!old.is_used[i])
            continue;
        size_t slot = slot_of(m, old.slots[i].key);

        m->slots[slot] = old.slots[i];
        m->is_used[slot] = 1;
    }
    free(old.slots);
    free(old.is_used);
}

void map64_put(struct map64 *m, uint64_t key, uint64_t value)
{
    if (m->len >= m->cap / 4 * 3)
        grow(m);

    size_t slot = slot_of(m, key);
    m->len += !m->is_used[slot];
    m->is_used[slot] = 1;
    m->slots[slot] = (struct map64_slot){.key = key, .value = value};
}

bool map64_remove(struct map64 *m, uint64_t key)
{
    if (m->len == 0)
        return false;

    size_t hole = slot_of(m, key);
    if (!m->is_used[hole])
        return false;

    for (size_t at = after(m, hole); m->is_used[at]; at = after(m, at)) {
        size_t from_home = (at - home_of(m, m->slots[at].key)) & (m->cap - 1);
        size_t from_hole = (at - hole) & (m->cap - 1);

        /* An entry whose home lies between the hole and itself would be lost by moving it before its home. */
        if (from_home < from_hole)
            continue;
        m->slots[hole] = m->slots[at];
        hole = at;
    }
    m->is_used[hole] = 0;
    m->len--;
    return true;
}

bool map64_next(const struct map64 *m, size_t *cursor, uint64_t *ret_key, uint64_t *ret_value)
{
    while (*cursor < m->cap) {
        size_t slot = (*cursor)++;

        if (!m->is_used[slot])
            continue;
        *ret_key = m->slots[slot].key;
        *ret_value = m->slots[slot].value;
        return true;
    }
    return false;
}

size_t map64_bytes(const struct map64 *m)
{
    return m->cap * (sizeof *m->slots + sizeof *m->is_used);
}
