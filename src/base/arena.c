/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A list of blocks, each twice as large as the one before up to a limit, so that small users stay small and large ones
 * allocate seldom. A piece larger than a block gets a block of its own. Not safe for threads: an arena has one user.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_GROWTH = 1 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    size_t used;
    alignas(ALIGNMENT) unsigned char mem[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_done(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *block = a->blocks;

        a->blocks = block->next;
        free(block);
    }
    a->bytes = 0;
}

void arena_clear(struct arena *a)
{
    struct arena_block *largest = NULL;

    for (struct arena_block *block = a->blocks; block; block = block->next) {
        if (!largest || block->size > largest->size)
            largest = block;
    }
    if (!largest)
        return;

    while (a->blocks) {
        struct arena_block *block = a->blocks;

        a->blocks = block->next;
        if (block != largest)
            free(block);
    }
    largest->next = NULL;
    largest->used = 0;
    a->blocks = largest;
    a->bytes = sizeof *largest + largest->size;
}

static struct arena_block *add_block(struct arena *a, size_t least)
{
    size_t size = a->blocks ? MIN(a->blocks->size * 2, (size_t)LARGEST_GROWTH) : (size_t)FIRST_BLOCK;

    size = MAX(size, least);
    struct arena_block *block = xmalloc(sizeof *block + size);
    *block = (struct arena_block){.next = a->blocks, .size = size};
    a->blocks = block;
    a->bytes += sizeof *block + size;
    return block;
}

void *arena_alloc(struct arena *a, size_t size)
{
    BUG_ON(size > SIZE_MAX / 2);
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct arena_block *block = a->blocks;

    if (!block || block->size - block->used < rounded)
        block = add_block(a, rounded);
    void *piece = block->mem + block->used;
    block->used += rounded;
    return piece;
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
    size_t bytes;

    BUG_ON(__builtin_mul_overflow(count, size, &bytes));
    return memset(arena_alloc(a, bytes), 0, bytes);
}

char *arena_strdup(struct arena *a, const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(arena_alloc(a, size), text, size);
}
