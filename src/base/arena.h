/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Memory that is given back all at once: everything of one scheduling cycle, one file or one request. Allocating is a
 * pointer bump; there is no freeing of a single piece, and no pointer outlives arena_clear() or arena_done(). Pieces
 * never move. Runs out of memory as xmalloc() does.
 */
struct arena_block;

struct arena {
    struct arena_block *blocks;  // the one in use first
    size_t bytes;                // held from the heap
};

void arena_init(struct arena *a);
void arena_done(struct arena *a);

/* Forgets all pieces and keeps the largest block, so that a cycle like the last one allocates nothing. */
void arena_clear(struct arena *a);

/* `size` bytes, aligned to 16, not initialised. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull));

/* `count` x `size` bytes of zeros. */
void *arena_calloc(struct arena *a, size_t count, size_t size) __attribute__((malloc, returns_nonnull));

char *arena_strdup(struct arena *a, const char *text) __attribute__((malloc, returns_nonnull));

/* A zeroed object of `type`. */
#define ARENA_NEW(a, type) ((type *)arena_calloc((a), 1, sizeof(type)))

/* Bytes that the arena holds from the heap, used or not. */
static inline size_t arena_bytes(const struct arena *a)
{
    return a->bytes;
}
