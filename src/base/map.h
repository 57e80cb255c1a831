/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A hash map from uint64_t to uint64_t; any key and any value is allowed. Open addressing, so that a look-up is one
 * cache miss in most cases. Pointers are stored by casting through uintptr_t. All zeros is an empty map.
 *
 * The order of iteration follows the hash: the same history gives the same order on every machine, but it means
 * nothing. What a user can see has to be sorted by the caller.
 */
struct map64_slot;

struct map64 {
    struct map64_slot *slots;
    uint8_t *is_used;  // one byte a slot
    size_t len;
    size_t cap;  // 0 or a power of two
};

void map64_init(struct map64 *m);
void map64_done(struct map64 *m);

/* Removes all entries and keeps the memory. */
void map64_clear(struct map64 *m);

/* Whether `key` is there; if so its value is in `*ret_value`, which may be NULL. */
bool map64_get(const struct map64 *m, uint64_t key, uint64_t *ret_value);

/* Adds the key or replaces its value. */
void map64_put(struct map64 *m, uint64_t key, uint64_t value);

/* Whether `key` was there. */
bool map64_remove(struct map64 *m, uint64_t key);

/*
 * Walks over all entries; `*cursor` starts at 0. The map must not change on the way.
 *
 *     for (size_t cursor = 0; map64_next(&map, &cursor, &key, &value);)
 */
bool map64_next(const struct map64 *m, size_t *cursor, uint64_t *ret_key, uint64_t *ret_value);

static inline size_t map64_len(const struct map64 *m)
{
    return m->len;
}

/* Bytes held from the heap. */
size_t map64_bytes(const struct map64 *m);
