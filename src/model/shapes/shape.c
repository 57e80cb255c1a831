/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Interning of shapes. A shape is written out as a list of words, with the length of each list before its items, so
 * that equal words mean equal shapes. The words' hash finds the first shape of a chain, the words decide. Shapes are
 * never dropped: there are about as many as there are kinds of workloads.
 */

#include "base/hash.h"
#include "model/parts.h"

uint64_t words_hash(const struct words *words)
{
    return hash_bytes(words->items, words->len * sizeof *words->items, 0);
}

void words_add64(struct words *words, uint64_t value)
{
    vec_push(words, (uint32_t)value);
    vec_push(words, (uint32_t)(value >> 32));
}

uint32_t shape_find(const struct map64 *by_hash, const uint32_t *next, const struct shape_key *keys,
                    const struct words *words, uint64_t hash)
{
    uint32_t id = map_find(by_hash, hash);

    for (; id != NO_ID; id = next[id])
        if (keys[id].count == words->len &&
            (words->len == 0 || memcmp(keys[id].words, words->items, words->len * sizeof *words->items) == 0))
            break;
    return id;
}

struct shape_key shape_key_new(struct state *state, const struct words *words)
{
    uint32_t *copy = arena_alloc(&state->kept, words->len * sizeof *copy);

    if (words->len > 0)
        memcpy(copy, words->items, words->len * sizeof *copy);
    return (struct shape_key){copy, words->len};
}

uint32_t shape_chain(struct map64 *by_hash, uint64_t hash, uint32_t id)
{
    uint32_t next = map_find(by_hash, hash);

    map64_put(by_hash, hash, id);
    return next;
}
