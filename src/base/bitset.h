/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/*
 * A set of the numbers 0 .. bits-1, one bit each. All zeros is an empty set of no bits. The bits past the last one in
 * the last word are always 0, so that words can be looked at whole.
 */
struct bitset {
    uint64_t *words;
    uint32_t bits;
    uint32_t cap_words;
};

#define BITSET_NONE UINT32_MAX

void bitset_done(struct bitset *b);

/* Makes room for the numbers below `bits`; new ones are not in the set, those at or above `bits` leave it. */
void bitset_resize(struct bitset *b, uint32_t bits);

/* Empties the set; it keeps its size. */
void bitset_clear_all(struct bitset *b);

/* The smallest member at or above `from`, BITSET_NONE when there is none. */
uint32_t bitset_next_set(const struct bitset *b, uint32_t from);

static inline uint32_t bitset_words(const struct bitset *b)
{
    return (uint32_t)(((uint64_t)b->bits + 63) / 64);
}

static inline void bitset_set(struct bitset *b, uint32_t i)
{
    BUG_ON(i >= b->bits);
    b->words[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bitset_clear(struct bitset *b, uint32_t i)
{
    BUG_ON(i >= b->bits);
    b->words[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* Numbers outside the set's size are no members. */
static inline bool bitset_test(const struct bitset *b, uint32_t i)
{
    return i < b->bits && (b->words[i / 64] >> (i % 64) & 1);
}
