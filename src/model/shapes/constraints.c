/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Constraints: written out as words, interned, and read back into structs for those that are new. Lists of names are
 * not copied again: they point into the words, which are kept.
 */
#include "model/parts.h"

static void write_name(struct state *state, const char *name)
{
    name_id id = name_add(state, name);

    vec_push(&state->words, id);
}

static void write_count(struct state *state, size_t count)
{
    BUG_ON(count > UINT32_MAX);
    vec_push(&state->words, (uint32_t)count);
}

static void write_names(struct state *state, const char *const *names, size_t count)
{
    write_count(state, count);
    for (size_t i = 0; i < count; i++)
        write_name(state, names[i]);
}

static void write_selector(struct state *state, const struct selector_spec *selector)
{
    write_count(state, selector->count);
    for (size_t i = 0; i < selector->count; i++) {
        const struct match_spec *match = &selector->all[i];

        vec_push(&state->words, (uint32_t)match->op);
        write_name(state, match->key);
        write_names(state, match->values, match->value_count);
    }
}

static void write_pod_terms(struct state *state, const struct pod_term_spec *terms, size_t count)
{
    write_count(state, count);
    for (size_t i = 0; i < count; i++) {
        write_selector(state, &terms[i].selector);
        write_names(state, terms[i].namespaces, terms[i].namespace_count);
        vec_push(&state->words, terms[i].all_namespaces);
        write_name(state, terms[i].topology_key);
        vec_push(&state->words, (uint32_t)terms[i].weight);
    }
}

static void write_nodes(struct state *state, const struct constraints_spec *spec)
{
    vec_push(&state->words, spec->has_node_selector || spec->node_selector_count > 0);
    write_count(state, spec->node_selector_count);
    for (size_t i = 0; i < spec->node_selector_count; i++) {
        write_name(state, spec->node_selector[i].key);
        write_name(state, spec->node_selector[i].value);
    }
    write_count(state, spec->node_term_count);
    for (size_t i = 0; i < spec->node_term_count; i++)
        write_selector(state, &spec->node_terms[i]);
    write_count(state, spec->preferred_node_count);
    for (size_t i = 0; i < spec->preferred_node_count; i++) {
        write_selector(state, &spec->preferred_nodes[i].selector);
        vec_push(&state->words, (uint32_t)spec->preferred_nodes[i].weight);
    }
    write_count(state, spec->toleration_count);
    for (size_t i = 0; i < spec->toleration_count; i++) {
        const struct toleration_spec *toleration = &spec->tolerations[i];

        write_name(state, toleration->key);
        write_name(state, toleration->value);
        vec_push(&state->words, toleration->exists);
        vec_push(&state->words, toleration->any_effect);
        vec_push(&state->words, toleration->any_effect ? 0 : (uint32_t)toleration->effect);
    }
}

static void write_rest(struct state *state, const struct constraints_spec *spec)
{
    write_pod_terms(state, spec->affinity, spec->affinity_count);
    write_pod_terms(state, spec->anti_affinity, spec->anti_affinity_count);
    write_pod_terms(state, spec->preferred_pods, spec->preferred_pod_count);
    write_count(state, spec->spread_count);
    for (size_t i = 0; i < spec->spread_count; i++) {
        write_selector(state, &spec->spread[i].selector);
        write_name(state, spec->spread[i].topology_key);
        vec_push(&state->words, (uint32_t)spec->spread[i].max_skew);
        vec_push(&state->words, spec->spread[i].is_hard);
    }
    write_count(state, spec->port_count);
    for (size_t i = 0; i < spec->port_count; i++) {
        write_name(state, spec->ports[i].address);
        vec_push(&state->words, spec->ports[i].port);
        vec_push(&state->words, spec->ports[i].protocol);
    }
    write_names(state, spec->volume_claims, spec->volume_claim_count);
    write_names(state, spec->config_maps, spec->config_map_count);
    write_name(state, spec->priority_class);
    vec_push(&state->words, (uint32_t)spec->priority);
}

/* Reads words back in the order in which they were written. */
struct reader {
    struct arena *arena;
    const uint32_t *at;
};

static uint32_t read_word(struct reader *reader)
{
    return *reader->at++;
}

static const name_id *read_names(struct reader *reader, uint32_t *ret_count)
{
    const name_id *names;

    *ret_count = read_word(reader);
    names = reader->at;
    reader->at += *ret_count;
    return names;
}

#define read_list(reader, type, ret_count) \
    ((type *)arena_calloc((reader)->arena, *(ret_count) = read_word(reader), sizeof(type)))

static struct selector read_selector(struct reader *reader)
{
    struct selector selector;
    struct match *all = read_list(reader, struct match, &selector.count);

    for (uint32_t i = 0; i < selector.count; i++) {
        all[i].op = (enum match_op)read_word(reader);
        all[i].key = read_word(reader);
        all[i].values = read_names(reader, &all[i].value_count);
    }
    selector.all = all;
    return selector;
}

static const struct pod_term *read_pod_terms(struct reader *reader, uint32_t *ret_count)
{
    struct pod_term *terms = read_list(reader, struct pod_term, ret_count);

    for (uint32_t i = 0; i < *ret_count; i++) {
        terms[i].selector = read_selector(reader);
        terms[i].namespaces = read_names(reader, &terms[i].namespace_count);
        terms[i].all_namespaces = read_word(reader);
        terms[i].topology_key = read_word(reader);
        terms[i].weight = (int32_t)read_word(reader);
    }
    return terms;
}

static void read_nodes(struct reader *reader, struct constraints *to)
{
    to->has_node_selector = read_word(reader);
    struct label *pairs = read_list(reader, struct label, &to->node_selector_count);
    for (uint32_t i = 0; i < to->node_selector_count; i++) {
        pairs[i].key = read_word(reader);
        pairs[i].value = read_word(reader);
    }
    to->node_selector = pairs;

    struct selector *terms = read_list(reader, struct selector, &to->node_term_count);
    for (uint32_t i = 0; i < to->node_term_count; i++)
        terms[i] = read_selector(reader);
    to->node_terms = terms;

    struct preferred_node_term *preferred = read_list(reader, struct preferred_node_term, &to->preferred_node_count);
    for (uint32_t i = 0; i < to->preferred_node_count; i++) {
        preferred[i].selector = read_selector(reader);
        preferred[i].weight = (int32_t)read_word(reader);
    }
    to->preferred_nodes = preferred;

    struct toleration *tolerations = read_list(reader, struct toleration, &to->toleration_count);
    for (uint32_t i = 0; i < to->toleration_count; i++) {
        tolerations[i].key = read_word(reader);
        tolerations[i].value = read_word(reader);
        tolerations[i].exists = read_word(reader);
        tolerations[i].any_effect = read_word(reader);
        tolerations[i].effect = (enum taint_effect)read_word(reader);
    }
    to->tolerations = tolerations;
}

static void read_rest(struct reader *reader, struct constraints *to)
{
    to->affinity = read_pod_terms(reader, &to->affinity_count);
    to->anti_affinity = read_pod_terms(reader, &to->anti_affinity_count);
    to->preferred_pods = read_pod_terms(reader, &to->preferred_pod_count);

    struct spread_term *spread = read_list(reader, struct spread_term, &to->spread_count);
    for (uint32_t i = 0; i < to->spread_count; i++) {
        spread[i].selector = read_selector(reader);
        spread[i].topology_key = read_word(reader);
        spread[i].max_skew = (int32_t)read_word(reader);
        spread[i].is_hard = read_word(reader);
    }
    to->spread = spread;

    struct host_port *ports = read_list(reader, struct host_port, &to->port_count);
    for (uint32_t i = 0; i < to->port_count; i++) {
        ports[i].address = read_word(reader);
        ports[i].port = (uint16_t)read_word(reader);
        ports[i].protocol = (uint8_t)read_word(reader);
    }
    to->ports = ports;

    to->volume_claims = read_names(reader, &to->volume_claim_count);
    to->config_maps = read_names(reader, &to->config_map_count);
    to->priority_class = read_word(reader);
    to->priority = (int32_t)read_word(reader);
}

constraints_id constraints_add(struct state *state, const struct constraints_spec *spec)
{
    struct constraints constraints;

    vec_clear(&state->words);
    write_nodes(state, spec);
    write_rest(state, spec);

    uint64_t hash = words_hash(&state->words);
    constraints_id id = shape_find(&state->constraints_by_hash, state->constraints_next.items,
                                   state->constraints_keys.items, &state->words, hash);
    if (id != NO_ID)
        return id;

    id = state->constraints.len;
    struct shape_key key = shape_key_new(state, &state->words);
    struct reader reader = {.arena = &state->kept, .at = key.words};
    read_nodes(&reader, &constraints);
    read_rest(&reader, &constraints);
    vec_push(&state->constraints, constraints);
    vec_push(&state->constraints_keys, key);
    vec_push(&state->constraints_next, shape_chain(&state->constraints_by_hash, hash, id));
    return id;
}
