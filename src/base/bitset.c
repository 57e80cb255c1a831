/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void bitset_done(struct bitset *b)
{
    free(b->words);
    *b = (struct bitset){0};
}

void bitset_resize(struct bitset *b, uint32_t bits)
{
    uint32_t old_words = bitset_words(b);

    b->bits = bits;
    uint32_t words = bitset_words(b);
    if (words > b->cap_words) {
        b->cap_words = MAX(words, b->cap_words * 2);
        b->words = xreallocarray(b->words, b->cap_words, sizeof *b->words);
    }
    if (words > old_words)
        memset(b->words + old_words, 0, (words - old_words) * sizeof *b->words);
    if (bits % 64) {
        BUG_ON(!b->words);
        b->words[words - 1] &= (UINT64_C(1) << (bits % 64)) - 1;
    }
}

void bitset_clear_all(struct bitset *b)
{
    if (b->bits)
        memset(b->words, 0, bitset_words(b) * sizeof *b->words);
}

uint32_t bitset_next_set(const struct bitset *b, uint32_t from)
{
    if (from >= b->bits)
        return BITSET_NONE;

    uint32_t at = from / 64;
    uint64_t word = b->words[at] & (UINT64_MAX << (from % 64));
    while (!word) {
        if (++at >= bitset_words(b))
            return BITSET_NONE;
        word = b->words[at];
    }
    return at * 64 + (uint32_t)__builtin_ctzll(word);
}
