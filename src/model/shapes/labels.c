/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shapes/labels.h"

#include <errno.h>
#include <stdlib.h>

#include "model/parts.h"

name_id labels_get(struct labels labels, name_id key)
{
    uint32_t low = 0;
    uint32_t high = labels.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (labels.pairs[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < labels.count && labels.pairs[low].key == key ? labels.pairs[low].value : NO_ID;
}

static bool parse_int(const char *text, int64_t *ret_value)
{
    char *end;

    /* strtoll skips white space, which is no part of a number here. */
    if (*text != '-' && *text != '+' && (*text < '0' || *text > '9'))
        return false;
    errno = 0;
    *ret_value = strtoll(text, &end, 10);
    return errno == 0 && end > text && *end == '\0';
}

static bool is_one_of(const struct match *match, name_id value)
{
    for (uint32_t i = 0; i < match->value_count; i++)
        if (match->values[i] == value)
            return true;
    return false;
}

static bool compares(const struct state *state, const struct match *match, name_id label)
{
    int64_t have;
    int64_t bound;

    if (label == NO_ID || match->value_count != 1 || !parse_int(state_name(state, label), &have) ||
        !parse_int(state_name(state, match->values[0]), &bound))
        return false;
    return match->op == MATCH_GREATER ? have > bound : have < bound;
}

static bool matches(const struct state *state, const struct match *match, struct labels labels, name_id name)
{
    name_id label = labels_get(labels, match->key);

    switch (match->op) {
    case MATCH_IN:
        return label != NO_ID && is_one_of(match, label);
    case MATCH_NOT_IN:
        return label == NO_ID || !is_one_of(match, label);
    case MATCH_EXISTS:
        return label != NO_ID;
    case MATCH_NOT_EXISTS:
        return label == NO_ID;
    case MATCH_GREATER:
    case MATCH_LESS:
        return compares(state, match, label);
    case MATCH_FIELD_NAME_IN:
        return is_one_of(match, name);
    case MATCH_FIELD_NAME_NOT_IN:
        return !is_one_of(match, name);
    case _MATCH_OP_MAX:
        break;
    }
    return false;
}

bool selector_matches(const struct state *state, struct selector selector, struct labels labels, name_id name)
{
    for (uint32_t i = 0; i < selector.count; i++)
        if (!matches(state, &selector.all[i], labels, name))
            return false;
    return true;
}

/* Inserts by key; of two pairs with one key the later one counts. Labels are few, and mostly come in one order. */
static void insert_pair(struct words *words, name_id key, name_id value)
{
    uint32_t at = words->len;

    while (at > 0 && words->items[at - 2] > key)
        at -= 2;
    if (at > 0 && words->items[at - 2] == key) {
        words->items[at - 1] = value;
        return;
    }
    vec_insert_at(words, at, value);
    vec_insert_at(words, at, key);
}

labels_id labels_add(struct state *state, const struct str_pair *pairs, size_t count)
{
    struct words *words = &state->words;

    vec_clear(words);
    for (size_t i = 0; i < count; i++) {
        name_id key = name_add(state, pairs[i].key);

        insert_pair(words, key, name_add(state, pairs[i].value));
    }

    uint64_t hash = words_hash(words);
    uint32_t id = shape_find(&state->labels_by_hash, state->labels_next.items, state->labels_keys.items, words, hash);
    if (id != NO_ID)
        return id;

    id = state->labels.len;
    struct shape_key key = shape_key_new(state, words);
    struct label *copy = arena_alloc(&state->kept, (size_t)words->len / 2 * sizeof *copy);
    for (uint32_t i = 0; i < words->len / 2; i++)
        copy[i] = (struct label){words->items[2 * i], words->items[2 * i + 1]};
    vec_push(&state->labels, (struct labels){copy, words->len / 2});
    vec_push(&state->labels_keys, key);
    vec_push(&state->labels_next, shape_chain(&state->labels_by_hash, hash, id));
    return id;
}
