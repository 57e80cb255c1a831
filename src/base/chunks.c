/* SPDX-License-Identifier: Apache-2.0 */

/* Blocks are all of one size, so that an index becomes a place by a shift and a mask. */
#include "base/chunks.h"

#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"

void chunks_init(struct chunks *chunks, size_t item_size)
{
    *chunks = (struct chunks){.item_size = item_size};
}

void chunks_done(struct chunks *chunks)
{
    for (uint32_t i = 0; i < chunks->block_count; i++)
        free(chunks->blocks[i]);
    free(chunks->blocks);
    *chunks = (struct chunks){.item_size = chunks->item_size};
}

void chunks_make_room(struct chunks *chunks)
{
    if (chunks->len >> CHUNK_BITS < chunks->block_count)
        return;
    BUG_ON(chunks->len == UINT32_MAX);
    chunks->blocks = xreallocarray(chunks->blocks, (size_t)chunks->block_count + 1, sizeof *chunks->blocks);
    chunks->blocks[chunks->block_count++] = xcalloc(CHUNK_ITEMS, chunks->item_size);
}
