/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Slices: what drivers say of their devices. In v1beta1 the fields of a device stand under `basic`; what is not known here
 * makes a slice no less usable, since fields are added with every release.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/state.h"
#include "objects/decode/decode.h"
#include "objects/decode/device_parts_internal.h"
#include "objects/selector.h"
#include "text/quantity.h"

static int device_amount_decode(const struct json_at *at, const char *name, struct device_amount *ret_amount,
                                struct err *err)
{
    char number[32];
    const char *text = number;
    struct quantity quantity;

    /* Quantities may be written as numbers. */
    if (yyjson_is_uint(at->val))
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)yyjson_get_uint(at->val));
    else
        TRY(json_str(at, &text, err));
    int r = quantity_parse_exact(text, &quantity, err);
    if (r < 0)
        return json_fail(at, err, r, "expected a quantity");
    ret_amount->name = name;
    ret_amount->text = text == number ? "" : text;
    ret_amount->whole = (int64_t)(quantity.nano / QUANTITY_NANO_PER_ONE);
    ret_amount->nano = (int32_t)(quantity.nano % QUANTITY_NANO_PER_ONE);
    return 0;
}

/* A list of quantities, a map of names to quantities, or one to objects with a quantity at `value`. */
int device_amounts_decode(struct arena *arena, const struct json_at *map, const char *value,
                          const struct device_amount **ret_amounts, size_t *ret_count, struct err *err)
{
    struct device_amount *amounts = arena_calloc(arena, json_len(map), sizeof *amounts);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(map, &item); count++) {
        struct json_at at = value ? json_member(&item, value) : item;

        TRY(device_amount_decode(&at, item.key, &amounts[count], err));
        if (!*amounts[count].text)
            amounts[count].text = arena_printf(arena, "%lld", (long long)amounts[count].whole);
    }
    *ret_amounts = amounts;
    *ret_count = count;
    return 0;
}

/* The member `key`, if it is there; else the amount stays without a text. */
static int policy_amount_decode(struct arena *arena, const struct json_at *at, const char *key,
                                struct device_amount *ret_amount, struct err *err)
{
    struct json_at member = json_member(at, key);

    if (!member.val)
        return 0;
    TRY(device_amount_decode(&member, "", ret_amount, err));
    if (!*ret_amount->text)
        ret_amount->text = arena_printf(arena, "%lld", (long long)ret_amount->whole);
    return 0;
}

static int policy_decode(struct arena *arena, const struct json_at *at, struct capacity_policy *policy, struct err *err)
{
    struct json_at range;
    struct json_at list;

    TRY(policy_amount_decode(arena, at, "default", &policy->fallback, err));
    TRY(json_member_object(at, "validRange", JSON_OPTIONAL, &range, err));
    TRY(policy_amount_decode(arena, &range, "min", &policy->min, err));
    TRY(policy_amount_decode(arena, &range, "max", &policy->max, err));
    TRY(policy_amount_decode(arena, &range, "step", &policy->step, err));
    TRY(json_member_array(at, "validValues", JSON_OPTIONAL, &list, err));
    return device_amounts_decode(arena, &list, NULL, &policy->values, &policy->value_count, err);
}

/* What may be asked for of the capacities. */
static int policies_decode(struct arena *arena, const struct json_at *capacity, struct device_offer *offer,
                           struct err *err)
{
    struct capacity_policy *policies = arena_calloc(arena, json_len(capacity), sizeof *policies);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(capacity, &item);) {
        struct json_at policy;

        TRY(json_member_object(&item, "requestPolicy", JSON_OPTIONAL, &policy, err));
        if (!policy.val)
            continue;
        policies[count].name = item.key;
        TRY(policy_decode(arena, &policy, &policies[count++], err));
    }
    offer->policies = policies;
    offer->policy_count = count;
    return 0;
}

/* A value of a list, as text. */
static int list_value_decode(struct arena *arena, const struct json_at *at, enum attribute_kind kind,
                             const char **ret_text, struct err *err)
{
    int64_t number = 0;
    bool is_true = false;

    switch (kind) {
    case ATTRIBUTE_INT:
        TRY(json_int64(at, INT64_MIN, INT64_MAX, &number, err));
        *ret_text = arena_printf(arena, "%lld", (long long)number);
        return 0;
    case ATTRIBUTE_BOOL:
        TRY(json_bool(at, &is_true, err));
        *ret_text = is_true ? "true" : "false";
        return 0;
    default:
        return json_str(at, ret_text, err);
    }
}

/* Leaves `ret` alone when the attribute has no list that is known here. */
static int attribute_list_decode(struct arena *arena, const struct json_at *at, struct device_attribute *ret,
                                 struct err *err)
{
    static const char *const members[_ATTRIBUTE_KIND_MAX] = {"ints", "bools", "strings", "versions"};

    for (int kind = 0; kind < _ATTRIBUTE_KIND_MAX; kind++) {
        struct json_at list = json_member(at, members[kind]);
        size_t count = 0;

        if (!list.val)
            continue;
        TRY(json_array(&list, err));
        const char **values = arena_calloc(arena, json_len(&list), sizeof *values);
        for (struct json_at item = {0}; json_next(&list, &item); count++)
            TRY(list_value_decode(arena, &item, (enum attribute_kind)kind, &values[count], err));
        ret->kind = (enum attribute_kind)kind;
        ret->values = values;
        ret->value_count = count;
        return 0;
    }
    return 0;
}

static int attribute_decode(struct arena *arena, const struct json_at *at, struct device_attribute *ret,
                            bool *ret_is_known, struct err *err)
{
    struct json_at number = json_member(at, "int");
    struct json_at truth = json_member(at, "bool");
    struct json_at version = json_member(at, "version");
    struct json_at text = json_member(at, "string");
    bool is_true = false;

    *ret = (struct device_attribute){.name = at->key};
    *ret_is_known = true;
    TRY(attribute_list_decode(arena, at, ret, err));
    if (ret->value_count > 0)
        return 0;
    if (number.val) {
        ret->kind = ATTRIBUTE_INT;
        return json_int64(&number, INT64_MIN, INT64_MAX, &ret->integer, err);
    }
    if (truth.val) {
        ret->kind = ATTRIBUTE_BOOL;
        TRY(json_bool(&truth, &is_true, err));
        ret->integer = is_true;
        return 0;
    }
    ret->kind = version.val ? ATTRIBUTE_VERSION : ATTRIBUTE_STRING;
    *ret_is_known = version.val || text.val;
    return *ret_is_known ? json_str(version.val ? &version : &text, &ret->text, err) : 0;
}

static int attributes_decode(struct arena *arena, const struct json_at *device, struct device_offer *offer,
                             struct err *err)
{
    struct json_at map;
    size_t count = 0;

    TRY(json_member_object(device, "attributes", JSON_OPTIONAL, &map, err));
    struct device_attribute *attributes = arena_calloc(arena, json_len(&map), sizeof *attributes);
    for (struct json_at item = {0}; json_next(&map, &item);) {
        bool is_known;

        TRY(attribute_decode(arena, &item, &attributes[count], &is_known, err));
        count += is_known;
    }
    offer->attributes = attributes;
    offer->attribute_count = count;
    return 0;
}

static int counters_decode(struct arena *arena, const struct json_at *list, const char *name_key,
                           const struct counter_set **ret_sets, size_t *ret_count, struct err *err)
{
    struct counter_set *sets = arena_calloc(arena, json_len(list), sizeof *sets);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(list, &item); count++) {
        struct json_at counters;

        TRY(json_member_str(&item, name_key, JSON_REQUIRED, &sets[count].name, err));
        TRY(json_member_object(&item, "counters", JSON_OPTIONAL, &counters, err));
        TRY(device_amounts_decode(arena, &counters, "value", &sets[count].counters, &sets[count].counter_count, err));
    }
    *ret_sets = sets;
    *ret_count = count;
    return 0;
}

enum device_effect device_effect_of(const char *text)
{
    if (text && strcmp(text, "NoSchedule") == 0)
        return DEVICE_EFFECT_NO_SCHEDULE;
    return text && strcmp(text, "NoExecute") == 0 ? DEVICE_EFFECT_NO_EXECUTE : DEVICE_EFFECT_NONE;
}

static int taints_decode(struct arena *arena, const struct json_at *device, struct device_offer *offer, struct err *err)
{
    struct json_at list;
    size_t count = 0;

    TRY(json_member_array(device, "taints", JSON_OPTIONAL, &list, err));
    struct device_taint *taints = arena_calloc(arena, json_len(&list), sizeof *taints);
    for (struct json_at item = {0}; json_next(&list, &item); count++) {
        TRY(json_member_str(&item, "key", JSON_REQUIRED, &taints[count].key, err));
        taints[count].value = json_peek_str(&item, "value");
        taints[count].effect = device_effect_of(json_peek_str(&item, "effect"));
    }
    offer->taints = taints;
    offer->taint_count = count;
    return 0;
}

/* nodeName, allNodes and nodeSelector, which slices and devices have alike. */
static int reach_decode(struct arena *arena, const struct json_at *at, struct node_reach *reach, struct err *err)
{
    struct json_at selector;
    struct json_at terms;

    TRY(json_member_str(at, "nodeName", JSON_OPTIONAL, &reach->node, err));
    TRY(json_member_bool(at, "allNodes", JSON_OPTIONAL, &reach->is_for_all_nodes, err));
    TRY(json_member_object(at, "nodeSelector", JSON_OPTIONAL, &selector, err));
    if (!selector.val)
        return 0;
    TRY(json_member_array(&selector, "nodeSelectorTerms", JSON_OPTIONAL, &terms, err));
    return node_terms_decode(arena, &terms, &reach->terms, &reach->term_count, err);
}

static int conditions_decode(struct arena *arena, const struct json_at *device, struct device_offer *offer,
                             struct err *err)
{
    struct json_at list;

    TRY(json_member_array(device, "bindingConditions", JSON_OPTIONAL, &list, err));
    TRY(strings_decode(arena, &list, &offer->conditions, &offer->condition_count, err));
    TRY(json_member_array(device, "bindingFailureConditions", JSON_OPTIONAL, &list, err));
    return strings_decode(arena, &list, &offer->failures, &offer->failure_count, err);
}

static int offer_decode(struct arena *arena, const struct json_at *item, struct device_offer *offer, struct err *err)
{
    struct json_at basic;
    struct json_at list;
    struct json_at capacity;

    TRY(json_member_object(item, "basic", JSON_OPTIONAL, &basic, err));
    const struct json_at *device = basic.val ? &basic : item;
    TRY(attributes_decode(arena, device, offer, err));
    TRY(json_member_object(device, "capacity", JSON_OPTIONAL, &capacity, err));
    TRY(device_amounts_decode(arena, &capacity, "value", &offer->capacity, &offer->capacity_count, err));
    TRY(policies_decode(arena, &capacity, offer, err));
    TRY(json_member_array(device, "consumesCounters", JSON_OPTIONAL, &list, err));
    TRY(counters_decode(arena, &list, "counterSet", &offer->consumes, &offer->consume_count, err));
    TRY(taints_decode(arena, device, offer, err));
    TRY(reach_decode(arena, device, &offer->reach, err));
    TRY(json_member_bool(device, "allowMultipleAllocations", JSON_OPTIONAL, &offer->allows_multiple, err));
    TRY(json_member_bool(device, "bindsToNode", JSON_OPTIONAL, &offer->binds_to_node, err));
    return conditions_decode(arena, device, offer, err);
}

static int devices_decode(struct arena *arena, const struct json_at *list, struct slice_spec *spec, struct err *err)
{
    const char **names = arena_calloc(arena, json_len(list), sizeof *names);
    struct device_offer *offers = arena_calloc(arena, json_len(list), sizeof *offers);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(list, &item); count++) {
        TRY(json_member_str(&item, "name", JSON_REQUIRED, &names[count], err));
        TRY(offer_decode(arena, &item, &offers[count], err));
    }
    spec->devices = names;
    spec->device_count = count;
    spec->offers = offers;
    spec->offer_count = count;
    return 0;
}

int resource_slice_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    struct arena *arena = &reader->scratch;
    struct slice_spec spec = {.name = object->name, .pool = ""};
    struct json_at in;
    struct json_at pool;
    struct json_at list;

    TRY(json_member_object(&object->root, "spec", JSON_REQUIRED, &in, err));
    TRY(json_member_str(&in, "driver", JSON_REQUIRED, &spec.driver, err));
    TRY(json_member_object(&in, "pool", JSON_OPTIONAL, &pool, err));
    TRY(json_member_str(&pool, "name", JSON_OPTIONAL, &spec.pool, err));
    TRY(json_member_int64(&pool, "generation", JSON_OPTIONAL, 0, INT64_MAX, &spec.generation, err));
    TRY(json_member_int64(&pool, "resourceSliceCount", JSON_OPTIONAL, 0, INT64_MAX, &spec.slice_count, err));
    TRY(json_member_bool(&in, "perDeviceNodeSelection", JSON_OPTIONAL, &spec.has_device_nodes, err));
    TRY(reach_decode(arena, &in, &spec.reach, err));
    TRY(json_member_array(&in, "sharedCounters", JSON_OPTIONAL, &list, err));
    TRY(counters_decode(arena, &list, "name", &spec.counters, &spec.counter_count, err));
    TRY(json_member_array(&in, "devices", JSON_OPTIONAL, &list, err));
    TRY(devices_decode(arena, &list, &spec, err));
    spec.is_for_all_nodes = spec.reach.is_for_all_nodes;
    if (!spec.is_for_all_nodes)
        spec.node = spec.reach.node ? spec.reach.node : "";
    return state_put_slice(reader->state, &spec, err);
}
