/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sorted lists of gangs in blocks. A queue may hold tens of thousands, of which a commit changes a few: finding a place
 * is a binary search over blocks and then in one, and moving others about stays within that block. Blocks of short
 * lists are small, since most queues hold few gangs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/queues/kept_orders.h"

enum { SMALL_BLOCK = 8 };

static struct kept_block *new_block(uint32_t cap)
{
    struct kept_block *block = xmalloc(sizeof *block + cap * sizeof *block->ids);

    *block = (struct kept_block){.cap = cap};
    return block;
}

void kept_list_done(struct kept_list *list)
{
    vec_foreach (&list->blocks, block)
        free(*block);
    vec_done(&list->blocks);
    list->len = 0;
}

size_t kept_list_bytes(const struct kept_list *list)
{
    size_t bytes = vec_bytes(&list->blocks);

    for (uint32_t i = 0; i < list->blocks.len; i++)
        bytes += sizeof(struct kept_block) + list->blocks.items[i]->cap * sizeof(gang_id);
    return bytes;
}

struct kept_place kept_list_find(const struct kept_list *list, const struct kept_orders *kept,
                                 const struct state *state, const struct gang_key *key)
{
    uint32_t low = 0;
    uint32_t high = list->blocks.len;

    /* The first block whose last gang does not precede the key. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct kept_block *block = list->blocks.items[middle];
        if (gang_key_precedes(state, &kept->gangs.items[block->ids[block->len - 1]].key, key))
            low = middle + 1;
        else
            high = middle;
    }
    struct kept_place place = {.block = low};
    if (low == list->blocks.len)
        return place;

    const struct kept_block *block = list->blocks.items[low];
    high = block->len;
    while (place.index < high) {
        uint32_t middle = place.index + (high - place.index) / 2;
        if (gang_key_precedes(state, &kept->gangs.items[block->ids[middle]].key, key))
            place.index = middle + 1;
        else
            high = middle;
    }
    return place;
}

/* Moves the upper half of a full block to one of its own, and `place` with it. */
static void split(struct kept_list *list, struct kept_place *place)
{
    struct kept_block *block = list->blocks.items[place->block];
    struct kept_block *upper = new_block(KEPT_BLOCK);

    upper->len = block->len / 2;
    block->len -= upper->len;
    memcpy(upper->ids, block->ids + block->len, upper->len * sizeof *upper->ids);
    upper->classes = block->classes;
    vec_insert_at(&list->blocks, place->block + 1, upper);
    if (place->index > block->len) {
        place->block++;
        place->index -= block->len;
    }
}

void kept_list_insert(struct kept_list *list, struct kept_place place, gang_id gang)
{
    if (list->blocks.len == 0)
        vec_push(&list->blocks, new_block(SMALL_BLOCK));
    if (place.block == list->blocks.len) {
        place.block--;
        place.index = list->blocks.items[place.block]->len;
    }
    if (list->blocks.items[place.block]->len == KEPT_BLOCK)
        split(list, &place);

    struct kept_block *block = list->blocks.items[place.block];
    if (block->len == block->cap) {
        uint32_t cap = MIN(block->cap * 4, (uint32_t)KEPT_BLOCK);
        block = xrealloc(block, sizeof *block + cap * sizeof *block->ids);
        block->cap = cap;
        list->blocks.items[place.block] = block;
    }
    memmove(block->ids + place.index + 1, block->ids + place.index, (block->len - place.index) * sizeof *block->ids);
    block->ids[place.index] = gang;
    block->len++;
    block->classes = 0;
    list->len++;
}

void kept_list_remove(struct kept_list *list, struct kept_place place)
{
    struct kept_block *block = list->blocks.items[place.block];

    block->len--;
    memmove(block->ids + place.index, block->ids + place.index + 1, (block->len - place.index) * sizeof *block->ids);
    list->len--;
    if (block->len == 0) {
        free(block);
        vec_remove_at(&list->blocks, place.block);
    }
}

void kept_list_fill(struct kept_list *list, const gang_id *gangs, uint32_t count)
{
    kept_list_done(list);
    list->len = count;
    while (count > 0) {
        uint32_t len = MIN(count, (uint32_t)KEPT_BLOCK);
        struct kept_block *block = new_block(MAX(len, (uint32_t)SMALL_BLOCK));

        memcpy(block->ids, gangs, len * sizeof *gangs);
        block->len = len;
        vec_push(&list->blocks, block);
        gangs += len;
        count -= len;
    }
}
