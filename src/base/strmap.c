/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Open addressing with linear probing, at most three quarters full. An entry that goes is filled by moving later ones of
 * its run up, so that there are no tombstones and a miss ends at the first free slot.
 */
#include "base/strmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"

enum { FIRST_CAP = 16 };

struct strmap_slot {
    uint64_t hash;
    const char *namespace;
    const char *name;
    void *value;  // NULL: free
};

void strmap_init(struct strmap *map)
{
    *map = (struct strmap){0};
}

void strmap_done(struct strmap *map)
{
    free(map->slots);
    *map = (struct strmap){0};
}

static uint64_t hash_of(const char *namespace, const char *name)
{
    return hash_str(name, hash_str(namespace, 0));
}

/* The slot of the key, or the free one where it would be. The map has slots. */
static struct strmap_slot *find(const struct strmap *map, uint64_t hash, const char *namespace, const char *name)
{
    size_t mask = map->cap - 1;

    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        struct strmap_slot *slot = &map->slots[at];

        if (!slot->value ||
            (slot->hash == hash && strcmp(slot->name, name) == 0 && strcmp(slot->namespace, namespace) == 0))
            return slot;
    }
}

static void grow(struct strmap *map)
{
    struct strmap old = *map;

    map->cap = old.cap ? old.cap * 2 : FIRST_CAP;
    map->slots = xcalloc(map->cap, sizeof *map->slots);
    for (size_t i = 0; i < old.cap; i++) {
        const struct strmap_slot *slot = &old.slots[i];

        if (slot->value)
            *find(map, slot->hash, slot->namespace, slot->name) = *slot;
    }
    free(old.slots);
}

void *strmap_get(const struct strmap *map, const char *namespace, const char *name)
{
    return map->len ? find(map, hash_of(namespace, name), namespace, name)->value : NULL;
}

void *strmap_put(struct strmap *map, const char *namespace, const char *name, void *value)
{
    BUG_ON(!value);
    if ((map->len + 1) * 4 > map->cap * 3)
        grow(map);
    uint64_t hash = hash_of(namespace, name);
    struct strmap_slot *slot = find(map, hash, namespace, name);
    void *before = slot->value;

    map->len += !before;
    *slot = (struct strmap_slot){hash, namespace, name, value};
    return before;
}

/* Moves up what a probe would no longer find past the gap at `gap`. */
static void close_gap(struct strmap *map, size_t gap)
{
    size_t mask = map->cap - 1;

    for (size_t at = (gap + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
        size_t home = map->slots[at].hash & mask;

        /* Whether the gap lies between the entry's home and where it is, around the end of the table too. */
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        map->slots[gap] = map->slots[at];
        gap = at;
    }
    map->slots[gap] = (struct strmap_slot){0};
}

void *strmap_remove(struct strmap *map, const char *namespace, const char *name)
{
    if (!map->len)
        return NULL;
    struct strmap_slot *slot = find(map, hash_of(namespace, name), namespace, name);
    void *value = slot->value;

    if (value) {
        close_gap(map, (size_t)(slot - map->slots));
        map->len--;
    }
    return value;
}

void *strmap_next(const struct strmap *map, size_t *cursor)
{
    while (*cursor < map->cap) {
        void *value = map->slots[(*cursor)++].value;

        if (value)
            return value;
    }
    return NULL;
}

size_t strmap_bytes(const struct strmap *map)
{
    return map->cap * sizeof *map->slots;
}
