/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a call costs: what Kubernetes' libraries say of their functions, and cel-go of the rest. Going over a text costs a
 * tenth for each character, a regular expression a quarter for each of its own.
 */
#include <math.h>
#include <string.h>

#include "cel/core.h"

enum rule {
    COST_ONE,
    COST_TRAVERSE,      // every item of the first argument
    COST_SCAN,          // the text of the first argument once
    COST_SCAN_TWICE,    // and of the result that is made of it
    COST_RESULT_TWICE,  // the text of the result
    COST_REGEX,
    COST_CONTAINS_IP,
    COST_CONTAINS_NETWORK,
    COST_VALIDATE,
};

static const struct {
    const char *function;
    enum rule rule;
} functions[] = {
    {"isSorted", COST_TRAVERSE},
    {"sum", COST_TRAVERSE},
    {"max", COST_TRAVERSE},
    {"min", COST_TRAVERSE},
    {"indexOf", COST_TRAVERSE},
    {"lastIndexOf", COST_TRAVERSE},
    {"url", COST_SCAN},
    {"lowerAscii", COST_SCAN},
    {"upperAscii", COST_SCAN},
    {"substring", COST_SCAN},
    {"trim", COST_SCAN},
    {"replace", COST_SCAN_TWICE},
    {"split", COST_SCAN_TWICE},
    {"join", COST_RESULT_TWICE},
    {"find", COST_REGEX},
    {"findAll", COST_REGEX},
    {"cidr", COST_SCAN},
    {"isIP", COST_SCAN},
    {"isCIDR", COST_SCAN},
    {"ip", COST_SCAN},
    {"ip.isCanonical", COST_SCAN_TWICE},
    {"quantity", COST_SCAN},
    {"isQuantity", COST_SCAN},
    {"semver", COST_SCAN},
    {"isSemver", COST_SCAN},
    {"containsIP", COST_CONTAINS_IP},
    {"containsCIDR", COST_CONTAINS_NETWORK},
    {"validate", COST_VALIDATE},
};

enum overload_rule {
    OVERLOAD_SCAN_FIRST,
    OVERLOAD_ITEMS_SECOND,
    OVERLOAD_SHORTER,
    OVERLOAD_BOTH,
    OVERLOAD_REGEX,
    OVERLOAD_CONTAINS,
    OVERLOAD_LIST_RESULT,
    OVERLOAD_FLATTEN,
    OVERLOAD_PAIRS_FIRST,  // this and what follows takes as long as it costs
    OVERLOAD_PAIRS_SECOND,
    OVERLOAD_SETS,
    OVERLOAD_SETS_TWICE,
};

static const struct {
    const char *id;
    enum overload_rule rule;
} overloads[] = {
    {"starts_with_string", OVERLOAD_SCAN_FIRST},
    {"ends_with_string", OVERLOAD_SCAN_FIRST},
    {"string_to_bytes", OVERLOAD_SCAN_FIRST},
    {"bytes_to_string", OVERLOAD_SCAN_FIRST},
    {"strings_quote", OVERLOAD_SCAN_FIRST},
    {"string_format", OVERLOAD_SCAN_FIRST},
    {"in_list", OVERLOAD_ITEMS_SECOND},
    {"less_string", OVERLOAD_SHORTER},
    {"greater_string", OVERLOAD_SHORTER},
    {"less_equals_string", OVERLOAD_SHORTER},
    {"greater_equals_string", OVERLOAD_SHORTER},
    {"less_bytes", OVERLOAD_SHORTER},
    {"greater_bytes", OVERLOAD_SHORTER},
    {"less_equals_bytes", OVERLOAD_SHORTER},
    {"greater_equals_bytes", OVERLOAD_SHORTER},
    {"add_string", OVERLOAD_BOTH},
    {"add_bytes", OVERLOAD_BOTH},
    {"matches", OVERLOAD_REGEX},
    {"matches_string", OVERLOAD_REGEX},
    {"contains_string", OVERLOAD_CONTAINS},
    {"list_slice", OVERLOAD_LIST_RESULT},
    {"lists_range", OVERLOAD_LIST_RESULT},
    {"list_reverse", OVERLOAD_LIST_RESULT},
    {"list_flatten", OVERLOAD_FLATTEN},
    {"list_flatten_int", OVERLOAD_FLATTEN},
    {"list_distinct", OVERLOAD_PAIRS_FIRST},
    {"list_int_sort", OVERLOAD_PAIRS_FIRST},
    {"list_uint_sort", OVERLOAD_PAIRS_FIRST},
    {"list_double_sort", OVERLOAD_PAIRS_FIRST},
    {"list_bool_sort", OVERLOAD_PAIRS_FIRST},
    {"list_google.protobuf.Duration_sort", OVERLOAD_PAIRS_FIRST},
    {"list_google.protobuf.Timestamp_sort", OVERLOAD_PAIRS_FIRST},
    {"list_string_sort", OVERLOAD_PAIRS_FIRST},
    {"list_bytes_sort", OVERLOAD_PAIRS_FIRST},
    {"list_int_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_uint_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_double_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_bool_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_google.protobuf.Duration_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_google.protobuf.Timestamp_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_string_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_bytes_sortByAssociatedKeys", OVERLOAD_PAIRS_SECOND},
    {"list_sets_contains_list", OVERLOAD_SETS},
    {"list_sets_intersects_list", OVERLOAD_SETS},
    {"list_sets_equivalent_list", OVERLOAD_SETS_TWICE},
};

static const double per_character = 0.1;
static const double per_regex_character = 0.25;

static uint64_t scan(uint64_t size, double factor)
{
    return (uint64_t)ceil((double)size * factor);
}

static uint64_t traverse(struct run *run, struct cel_value value)
{
    uint64_t cost = 0;

    if (!run_works(run, 1))
        return 0;
    switch (value.kind) {
    case CEL_STRING:
    case CEL_BYTES:
        return (uint64_t)((double)value.text.len * per_character);
    case CEL_LIST:
        for (size_t i = 0; i < value.list->len; i++)
            cost += traverse(run, value.list->items->values[i]);
        return cost;
    case CEL_MAP:
        for (size_t i = 0; i < value.map->len; i++)
            cost += traverse(run, value.map->entries[i].key) + traverse(run, value.map->entries[i].value);
        return cost;
    default:
        return 1;
    }
}

static uint64_t regex(struct run *run, struct cel_value text, uint64_t regex_size)
{
    return (uint64_t)ceil((1.0 + (double)value_size(run, text)) * per_character) *
           scan(regex_size, per_regex_character);
}

/* The costs of functions that Kubernetes adds; false where it leaves the matter to cel-go. */
static bool library_cost(struct run *run, const struct node *node, const struct cel_value *args,
                         struct cel_value result, uint64_t *ret_cost)
{
    const char *id = node->overload ? node->overload->id : "";
    const size_t count = sizeof functions / sizeof *functions;
    uint64_t first = node->arg_count ? value_size(run, args[0]) : 0;
    uint64_t network = scan(2 * first, per_character);
    size_t i = 0;

    while (i < count && strcmp(functions[i].function, node->function->name) != 0)
        i++;
    if (i == count)
        return false;
    switch (functions[i].rule) {
    case COST_ONE:
        *ret_cost = 1;
        return true;
    case COST_TRAVERSE:
        *ret_cost = traverse(run, args[0]);
        return true;
    case COST_SCAN:
        *ret_cost = strcmp(id, "cidr_ip") == 0 ? 1 : scan(first, per_character);
        return true;
    case COST_SCAN_TWICE:
        *ret_cost = scan(first, 2 * per_character);
        return true;
    case COST_RESULT_TWICE:
        *ret_cost = scan(value_size(run, result), 2 * per_character);
        return true;
    case COST_REGEX:
        *ret_cost = regex(run, args[0], value_size(run, args[1]));
        return true;
    case COST_CONTAINS_IP:
        *ret_cost =
            network + (strcmp(id, "cidr_contains_ip_string") == 0 ? scan(value_size(run, args[1]), per_character) : 0);
        return true;
    case COST_CONTAINS_NETWORK:
        *ret_cost = network + scan(first, per_character) + 1 +
                    (strcmp(id, "cidr_contains_cidr_string") == 0 ? scan(value_size(run, args[1]), per_character) : 0);
        return true;
    case COST_VALIDATE:
        if (args[0].kind != CEL_FORMAT)
            return false;
        *ret_cost = regex(run, args[1], format_regex_size(args[0]));
        return true;
    }
    return false;
}

/* A list is made, and `size` steps are taken. */
static uint64_t making_list(double factor, uint64_t size)
{
    return (uint64_t)(int64_t)((double)size * factor) + 11;
}

static uint64_t pairs(struct run *run, struct cel_value list)
{
    if (list.kind != CEL_LIST)
        return COST_UNKNOWN;
    uint64_t size = value_size(run, list);
    bool is_text =
        size && (list.list->items->values[0].kind == CEL_STRING || list.list->items->values[0].kind == CEL_BYTES);

    return making_list(is_text ? 2 + per_character : 2, size * size);
}

static uint64_t flatten(struct run *run, const struct cel_value *args, uint32_t count)
{
    double depth = count == 2 && args[1].kind == CEL_INT ? (double)args[1].integer : 1;

    return making_list(depth, value_size(run, args[0]));
}

static uint64_t overload_cost(struct run *run, enum overload_rule rule, const struct cel_value *args, uint32_t count,
                              struct cel_value result)
{
    uint64_t first = value_size(run, args[0]);
    uint64_t second = count > 1 ? value_size(run, args[1]) : 0;

    switch (rule) {
    case OVERLOAD_SCAN_FIRST:
        return scan(first, per_character);
    case OVERLOAD_ITEMS_SECOND:
        return second;
    case OVERLOAD_SHORTER:
        return scan(MIN(first, second), per_character);
    case OVERLOAD_BOTH:
        return scan(first + second, per_character);
    case OVERLOAD_REGEX:
        return regex(run, args[0], second);
    case OVERLOAD_CONTAINS:
        return scan(first, per_character) * scan(second, per_character);
    case OVERLOAD_LIST_RESULT:
        return making_list(1, value_size(run, result));
    case OVERLOAD_FLATTEN:
        return flatten(run, args, count);
    case OVERLOAD_PAIRS_FIRST:
        return pairs(run, args[0]);
    case OVERLOAD_PAIRS_SECOND:
        return pairs(run, args[1]);
    case OVERLOAD_SETS:
        return 1 + first * second;
    case OVERLOAD_SETS_TWICE:
        return 1 + 2 * first * second;
    }
    return 1;
}

bool is_cost_foreseen(const struct node *node)
{
    if (!node->overload)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(overloads); i++)
        if (strcmp(overloads[i].id, node->overload->id) == 0)
            return overloads[i].rule >= OVERLOAD_PAIRS_FIRST;
    return false;
}

uint64_t call_cost(struct run *run, const struct node *node, const struct cel_value *args, uint32_t count,
                   struct cel_value result)
{
    const char *id = node->overload ? node->overload->id : "";
    uint64_t cost;

    if (node->kind == NODE_EQUAL && args[0].kind >= CEL_QUANTITY)
        return 1;
    if (node->kind == NODE_EQUAL || node->kind == NODE_UNEQUAL)
        return overload_cost(run, OVERLOAD_SHORTER, args, count, result);
    for (size_t i = 0; i < ARRAY_LEN(overloads); i++) {
        if (strcmp(overloads[i].id, id) != 0)
            continue;
        /* What a library says of its function comes before what cel-go says, but lists and sets speak for themselves. */
        if (overloads[i].rule < OVERLOAD_LIST_RESULT && library_cost(run, node, args, result, &cost))
            return cost;
        return overload_cost(run, overloads[i].rule, args, count, result);
    }
    return library_cost(run, node, args, result, &cost) ? cost : 1;
}
