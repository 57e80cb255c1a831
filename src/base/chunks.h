/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A growable array whose items never move: they lie in blocks of a fixed number of items. For what is pointed to while it
 * grows. All zeros but for the size of an item is an empty one.
 */
struct chunks {
    size_t item_size;
    unsigned char **blocks;
    uint32_t block_count;
    uint32_t len;  // items in use; may be set back by whoever appended them
};

enum { CHUNK_BITS = 9, CHUNK_ITEMS = 1 << CHUNK_BITS };

void chunks_init(struct chunks *chunks, size_t item_size);
void chunks_done(struct chunks *chunks);

/* Makes room for the item at index `len`; called by those who append, before they do. */
void chunks_make_room(struct chunks *chunks);

static inline void *chunks_at(const struct chunks *chunks, uint32_t i)
{
    return chunks->blocks[i >> CHUNK_BITS] + (size_t)(i & (CHUNK_ITEMS - 1)) * chunks->item_size;
}

static inline size_t chunks_bytes(const struct chunks *chunks)
{
    return (size_t)chunks->block_count * (CHUNK_ITEMS * chunks->item_size + sizeof *chunks->blocks);
}
