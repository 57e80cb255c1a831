/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Copies of offers and asks. Each is made twice: into the state's scratch memory, which tells how many bytes it takes, and
 * then into one block of that size. There are as many claims as pods, and a block each is little.
 */
#include "model/devices/keep_internal.h"

#include "base/strbuf.h"
#include "model/devices/claim.h"
#include "model/parts.h"

struct keeper {
    struct state *state;
    struct arena *scratch;
    char *at;  // NULL while bytes are counted
    size_t bytes;
};

enum { KEEP_ALIGNMENT = 16, FULL_NAME_MAX = 1024 };

static void *keep_bytes(struct keeper *k, size_t count, size_t size)
{
    size_t bytes = (count * size + KEEP_ALIGNMENT - 1) / KEEP_ALIGNMENT * KEEP_ALIGNMENT;
    void *piece = k->at;

    if (count == 0)
        return NULL;
    k->bytes += bytes;
    if (!k->at)
        return arena_alloc(k->scratch, bytes);
    k->at += bytes;
    return piece;
}

static const char *keep_text(struct keeper *k, const char *text)
{
    return state_name(k->state, name_add(k->state, text));
}

static const char *const *keep_texts(struct keeper *k, const char *const *from, size_t count)
{
    const char **to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = keep_text(k, from[i]);
    return to;
}

static const struct device_attribute *keep_attributes(struct keeper *k, const struct device_attribute *from,
                                                      size_t count)
{
    struct device_attribute *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = (struct device_attribute){
            .name = keep_text(k, from[i].name),
            .kind = from[i].kind,
            .integer = from[i].integer,
            .text = keep_text(k, from[i].text),
            .values = keep_texts(k, from[i].values, from[i].value_count),
            .value_count = from[i].value_count,
        };
    return to;
}

static struct device_amount keep_amount(struct keeper *k, const struct device_amount *from)
{
    return (struct device_amount){keep_text(k, from->name), keep_text(k, from->text), from->whole, from->nano};
}

static const struct device_amount *keep_amounts(struct keeper *k, const struct device_amount *from, size_t count)
{
    struct device_amount *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = keep_amount(k, &from[i]);
    return to;
}

static const struct capacity_policy *keep_policies(struct keeper *k, const struct capacity_policy *from, size_t count)
{
    struct capacity_policy *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = (struct capacity_policy){
            .name = keep_text(k, from[i].name),
            .fallback = keep_amount(k, &from[i].fallback),
            .min = keep_amount(k, &from[i].min),
            .max = keep_amount(k, &from[i].max),
            .step = keep_amount(k, &from[i].step),
            .values = keep_amounts(k, from[i].values, from[i].value_count),
            .value_count = from[i].value_count,
        };
    return to;
}

static struct counter_set *keep_counters(struct keeper *k, const struct counter_set *from, size_t count)
{
    struct counter_set *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = (struct counter_set){keep_text(k, from[i].name),
                                     keep_amounts(k, from[i].counters, from[i].counter_count), from[i].counter_count};
    return to;
}

static const struct device_taint *keep_taints(struct keeper *k, const struct device_taint *from, size_t count)
{
    struct device_taint *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = (struct device_taint){keep_text(k, from[i].key), keep_text(k, from[i].value), from[i].effect};
    return to;
}

static const struct selector_spec *keep_terms(struct keeper *k, const struct selector_spec *from, size_t count)
{
    struct selector_spec *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++) {
        struct match_spec *all = keep_bytes(k, from[i].count, sizeof *all);

        for (size_t m = 0; m < from[i].count; m++)
            all[m] = (struct match_spec){from[i].all[m].op, keep_text(k, from[i].all[m].key),
                                         keep_texts(k, from[i].all[m].values, from[i].all[m].value_count),
                                         from[i].all[m].value_count};
        to[i] = (struct selector_spec){all, from[i].count};
    }
    return to;
}

static struct node_reach keep_reach(struct keeper *k, const struct node_reach *from)
{
    struct constraints_spec terms = {.node_terms = from->terms, .node_term_count = from->term_count};
    struct node_reach to = {
        .node = keep_text(k, from->node),
        .is_for_all_nodes = from->is_for_all_nodes,
        .terms = keep_terms(k, from->terms, from->term_count),
        .term_count = from->term_count,
    };

    /* Interned like a pod's terms: most devices have the same, or none. */
    if (from->term_count > 0) {
        const struct constraints *kept = &k->state->constraints.items[constraints_add(k->state, &terms)];
        to.selectors = kept->node_terms;
        to.selector_count = kept->node_term_count;
    }
    return to;
}

static struct device_offer *keep_offers(struct keeper *k, const struct device_offer *from, size_t count)
{
    struct device_offer *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = (struct device_offer){
            .attributes = keep_attributes(k, from[i].attributes, from[i].attribute_count),
            .attribute_count = from[i].attribute_count,
            .capacity = keep_amounts(k, from[i].capacity, from[i].capacity_count),
            .capacity_count = from[i].capacity_count,
            .consumes = keep_counters(k, from[i].consumes, from[i].consume_count),
            .consume_count = from[i].consume_count,
            .taints = keep_taints(k, from[i].taints, from[i].taint_count),
            .taint_count = from[i].taint_count,
            .reach = keep_reach(k, &from[i].reach),
            .allows_multiple = from[i].allows_multiple,
            .binds_to_node = from[i].binds_to_node,
            .conditions = keep_texts(k, from[i].conditions, from[i].condition_count),
            .condition_count = from[i].condition_count,
            .failures = keep_texts(k, from[i].failures, from[i].failure_count),
            .failure_count = from[i].failure_count,
            .policies = keep_policies(k, from[i].policies, from[i].policy_count),
            .policy_count = from[i].policy_count,
        };
    return to;
}

static const struct device_toleration *keep_tolerations(struct keeper *k, const struct device_toleration *from,
                                                        size_t count)
{
    struct device_toleration *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
        to[i].key = keep_text(k, from[i].key);
        to[i].value = keep_text(k, from[i].value);
    }
    return to;
}

/* As results of allocations name it. */
static const char *keep_full_name(struct keeper *k, const char *request, const char *sub)
{
    struct strbuf text;

    if (is_empty(sub))
        return keep_text(k, request);
    strbuf_init(&text, FULL_NAME_MAX);
    strbuf_addf(&text, "%s/%s", request ? request : "", sub);
    const char *kept = keep_text(k, text.text);
    strbuf_done(&text);
    return kept;
}

static const struct device_ask *keep_asks(struct keeper *k, const char *request, const struct device_ask *from,
                                          size_t count)
{
    struct device_ask *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = (struct device_ask){
            .name = keep_text(k, from[i].name),
            .full_name = keep_full_name(k, request, from[i].name),
            .device_class = keep_text(k, from[i].device_class),
            .selectors = keep_texts(k, from[i].selectors, from[i].selector_count),
            .selector_count = from[i].selector_count,
            .is_all = from[i].is_all,
            .count = from[i].count,
            .is_admin = from[i].is_admin,
            .tolerations = keep_tolerations(k, from[i].tolerations, from[i].toleration_count),
            .toleration_count = from[i].toleration_count,
            .capacity = keep_amounts(k, from[i].capacity, from[i].capacity_count),
            .capacity_count = from[i].capacity_count,
        };
    return to;
}

static const struct device_config *keep_configs(struct keeper *k, const struct device_config *from, size_t count)
{
    struct device_config *to = keep_bytes(k, count, sizeof *to);

    for (size_t i = 0; i < count; i++)
        to[i] = (struct device_config){keep_texts(k, from[i].requests, from[i].request_count), from[i].request_count,
                                       keep_text(k, from[i].text)};
    return to;
}

static void keep_ask(struct keeper *k, const struct claim_ask *from, struct claim_ask *to)
{
    struct device_request *requests = keep_bytes(k, from->request_count, sizeof *requests);
    struct device_constraint *constraints = keep_bytes(k, from->constraint_count, sizeof *constraints);

    for (size_t i = 0; i < from->request_count; i++)
        requests[i] = (struct device_request){
            keep_text(k, from->requests[i].name),
            keep_asks(k, from->requests[i].name, from->requests[i].asks, from->requests[i].ask_count),
            from->requests[i].ask_count};
    for (size_t i = 0; i < from->constraint_count; i++) {
        const struct device_constraint *one = &from->constraints[i];
        constraints[i] = (struct device_constraint){keep_texts(k, one->requests, one->request_count),
                                                    one->request_count, keep_text(k, one->attribute), one->is_distinct};
    }
    *to = (struct claim_ask){requests,
                             from->request_count,
                             constraints,
                             from->constraint_count,
                             keep_configs(k, from->configs, from->config_count),
                             from->config_count};
}

/* The block for all that the first round counted. */
static void *second_round(struct keeper *k)
{
    k->at = k->bytes > 0 ? xcalloc(1, k->bytes) : NULL;
    return k->at;
}

void *offers_keep(struct state *state, const struct slice_spec *spec, struct device_offer **ret_offers,
                  struct counter_set **ret_counters, struct node_reach *ret_reach)
{
    struct arena scratch;
    struct keeper k = {.state = state, .scratch = &scratch};
    void *block = NULL;

    arena_init(&scratch);
    for (int round = 0; round < 2; round++) {
        if (round == 1)
            block = second_round(&k);
        if (round == 1 && !block)
            break;
        *ret_offers = keep_offers(&k, spec->offers, spec->offer_count);
        *ret_counters = keep_counters(&k, spec->counters, spec->counter_count);
        *ret_reach = keep_reach(&k, &spec->reach);
    }
    arena_done(&scratch);
    return block;
}

void *claim_ask_keep(struct state *state, const struct claim_ask *from, struct claim_ask *ret_ask)
{
    struct arena scratch;
    struct keeper k = {.state = state, .scratch = &scratch};

    arena_init(&scratch);
    keep_ask(&k, from, ret_ask);
    void *block = second_round(&k);
    if (block)
        keep_ask(&k, from, ret_ask);
    arena_done(&scratch);
    return block;
}

void *class_keep(struct state *state, const struct device_class_spec *spec, const char *const **ret_selectors,
                 const struct device_config **ret_configs)
{
    struct arena scratch;
    struct keeper k = {.state = state, .scratch = &scratch};
    void *block = NULL;

    arena_init(&scratch);
    for (int round = 0; round < 2; round++) {
        if (round == 1)
            block = second_round(&k);
        if (round == 1 && !block)
            break;
        *ret_selectors = keep_texts(&k, spec->selectors, spec->selector_count);
        *ret_configs = keep_configs(&k, spec->configs, spec->config_count);
    }
    arena_done(&scratch);
    return block;
}
