/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Texts live in an arena and never move; a table of ids with linear probing finds them. The hash is kept beside the
 * text, so that growing the table reads no text and most unequal strings differ before they are compared.
 */
#include "base/intern.h"

#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"

enum { FIRST_SLOTS = 64 };

struct intern_entry {
    const char *text;
    uint32_t len;
    uint32_t hash;
};

void intern_init(struct intern *in)
{
    *in = (struct intern){.table = xcalloc(FIRST_SLOTS, sizeof *in->table), .table_cap = FIRST_SLOTS};
    arena_init(&in->texts);
    (void)intern_id(in, "", 0);
}

void intern_done(struct intern *in)
{
    arena_done(&in->texts);
    vec_done(&in->entries);
    free(in->table);
    in->table = NULL;
    in->table_cap = 0;
}

/* The slot that holds the string, or the free one where it belongs. */
static uint32_t slot_of(const struct intern *in, const char *text, size_t len, uint32_t hash)
{
    uint32_t slot = hash & (in->table_cap - 1);

    for (; in->table[slot]; slot = (slot + 1) & (in->table_cap - 1)) {
        const struct intern_entry *entry = &in->entries.items[in->table[slot] - 1];

        if (entry->hash == hash && entry->len == len && memcmp(entry->text, text, len) == 0)
            break;
    }
    return slot;
}

static void grow(struct intern *in)
{
    BUG_ON(in->table_cap > UINT32_MAX / 2);
    in->table_cap *= 2;
    free(in->table);
    in->table = xcalloc(in->table_cap, sizeof *in->table);
    for (uint32_t id = 0; id < in->entries.len; id++) {
        uint32_t slot = in->entries.items[id].hash & (in->table_cap - 1);

        while (in->table[slot])
            slot = (slot + 1) & (in->table_cap - 1);
        in->table[slot] = id + 1;
    }
}

uint32_t intern_id(struct intern *in, const char *text, size_t len)
{
    uint32_t hash = (uint32_t)hash_bytes(text, len, 0);
    uint32_t slot = slot_of(in, text, len, hash);

    if (in->table[slot])
        return in->table[slot] - 1;

    BUG_ON(len > UINT32_MAX);
    char *copy = arena_alloc(&in->texts, len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';

    uint32_t id = in->entries.len;
    vec_push(&in->entries, (struct intern_entry){.text = copy, .len = (uint32_t)len, .hash = hash});
    in->table[slot] = id + 1;
    if (in->entries.len > in->table_cap / 4 * 3)
        grow(in);
    return id;
}

bool intern_find(const struct intern *in, const char *text, size_t len, uint32_t *ret_id)
{
    uint32_t slot = slot_of(in, text, len, (uint32_t)hash_bytes(text, len, 0));

    if (!in->table[slot])
        return false;
    *ret_id = in->table[slot] - 1;
    return true;
}

const char *intern_str(const struct intern *in, uint32_t id)
{
    BUG_ON(id >= in->entries.len);
    return in->entries.items[id].text;
}

uint32_t intern_len(const struct intern *in)
{
    return in->entries.len;
}

size_t intern_bytes(const struct intern *in)
{
    return arena_bytes(&in->texts) + in->entries.cap * sizeof *in->entries.items + in->table_cap * sizeof *in->table;
}
