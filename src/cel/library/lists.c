/* SPDX-License-Identifier: Apache-2.0 */

/* Lists and sets. */
#include <stdlib.h>
#include <string.h>

#include "cel/library/library.h"

static const struct cel_value *items_of(struct cel_value list)
{
    return list.list->items->values;
}

/* Equality of items, which never fails. */
static bool is_same(struct run *run, struct cel_value a, struct cel_value b)
{
    return value_equal(run, a, b) == 1;
}

static struct cel_value is_sorted(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    for (size_t i = 1; i < args[0].list->len; i++) {
        int order = 0;
        (void)value_compare(run, items_of(args[0])[i - 1], items_of(args[0])[i], &order);
        if (order > 0)
            return cel_bool(false);
    }
    return cel_bool(true);
}

static struct cel_value sum_from(struct run *run, struct cel_value sum, struct cel_value list)
{
    for (size_t i = 0; i < list.list->len; i++) {
        sum = add_values(run, sum, items_of(list)[i]);
        if (sum.kind == CEL_ERROR)
            return sum.outcome == CEL_RANGE ? sum : no_overload();
    }
    return sum;
}

#define SUM(name, zero)                                                                    \
    static struct cel_value name(struct run *run, const struct cel_value *args, int count) \
    {                                                                                      \
        (void)count;                                                                       \
        return sum_from(run, (struct cel_value){.kind = zero}, args[0]);                   \
    }

SUM(sum_ints, CEL_INT)
SUM(sum_uints, CEL_UINT)
SUM(sum_doubles, CEL_DOUBLE)
SUM(sum_durations, CEL_DURATION)

static struct cel_value extreme(struct run *run, struct cel_value list, int wanted)
{
    if (list.list->len == 0)
        return error_value(CEL_FAILED, wanted > 0 ? "min called on empty list" : "max called on empty list");
    struct cel_value best = items_of(list)[0];
    for (size_t i = 1; i < list.list->len; i++) {
        int order = 0;
        (void)value_compare(run, best, items_of(list)[i], &order);
        if (order == wanted)
            best = items_of(list)[i];
    }
    return best;
}

static struct cel_value min_of(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return extreme(run, args[0], 1);
}

static struct cel_value max_of(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return extreme(run, args[0], -1);
}

static struct cel_value index_of(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    for (size_t i = 0; i < args[0].list->len; i++)
        if (is_same(run, items_of(args[0])[i], args[1]))
            return cel_int((int64_t)i);
    return cel_int(-1);
}

static struct cel_value last_index_of(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    for (size_t i = args[0].list->len; i-- > 0;)
        if (is_same(run, items_of(args[0])[i], args[1]))
            return cel_int((int64_t)i);
    return cel_int(-1);
}

static bool has_item(struct run *run, struct cel_value list, struct cel_value item)
{
    for (size_t i = 0; i < list.list->len && !run->stopped; i++)
        if (is_same(run, items_of(list)[i], item))
            return true;
    return false;
}

static struct cel_value includes(struct run *run, const struct cel_value *args, int count)
{
    enum { INCLUDES_MAX = 48 };

    (void)count;
    if (args[0].kind != CEL_LIST)
        return cel_bool(is_same(run, args[0], args[1]));
    for (size_t i = 0; i < args[0].list->len; i++) {
        if (i >= INCLUDES_MAX)
            return error_value(CEL_FAILED, "'includes' function cannot be applied to longer lists");
        if (is_same(run, items_of(args[0])[i], args[1]))
            return cel_bool(true);
    }
    return cel_bool(false);
}

static struct cel_value slice(struct run *run, const struct cel_value *args, int count)
{
    const int64_t start = args[1].integer;
    const int64_t end = args[2].integer;

    (void)count;
    if (start < 0 || end < start || (uint64_t)end > args[0].list->len)
        return error_value(CEL_RANGE, "cannot slice");
    return list_copy(run, items_of(args[0]) + start, (size_t)(end - start));
}

static struct cel_value reverse(struct run *run, const struct cel_value *args, int count)
{
    const size_t len = args[0].list->len;
    struct cel_value list = list_copy(run, NULL, len);

    (void)count;
    for (size_t i = 0; list.kind == CEL_LIST && i < len; i++)
        list.list->items->values[i] = items_of(args[0])[len - 1 - i];
    return list;
}

static struct cel_value distinct(struct run *run, const struct cel_value *args, int count)
{
    struct cel_value list = list_copy(run, NULL, 0);

    (void)count;
    for (size_t i = 0; list.kind == CEL_LIST && i < args[0].list->len && !run->stopped; i++)
        if (!has_item(run, list, items_of(args[0])[i]))
            list = list_append(run, list, &items_of(args[0])[i], 1);
    return list;
}

static struct cel_value flatten_into(struct run *run, struct cel_value into, struct cel_value list, int64_t depth)
{
    for (size_t i = 0; into.kind == CEL_LIST && i < list.list->len && run_works(run, 1); i++) {
        const struct cel_value *item = &items_of(list)[i];
        into = item->kind == CEL_LIST && depth > 0 ? flatten_into(run, into, *item, depth - 1)
                                                   : list_append(run, into, item, 1);
    }
    return into;
}

static struct cel_value flatten(struct run *run, const struct cel_value *args, int count)
{
    const int64_t depth = count == 2 ? args[1].integer : 1;

    if (depth < 0)
        return error_value(CEL_RANGE, "level must be non-negative");
    return flatten_into(run, list_copy(run, NULL, 0), args[0], depth);
}

static struct cel_value range(struct run *run, const struct cel_value *args, int count)
{
    const int64_t len = MAX(args[0].integer, (int64_t)0);

    (void)count;
    /* What is beyond the limit is not made before it is counted. */
    if ((uint64_t)len > run->cost_limit) {
        run->cost += (uint64_t)len + 11;
        run->stopped = CEL_COST;
        return stopped_value(run);
    }
    struct cel_value list = list_copy(run, NULL, (size_t)len);
    for (int64_t i = 0; list.kind == CEL_LIST && i < len; i++)
        list.list->items->values[i] = cel_int(i);
    return list;
}

/* --- Sorting --- */

struct keyed {
    struct cel_value key;
    struct cel_value value;
    size_t index;
};

static int by_key(const void *a, const void *b, void *context)
{
    const struct keyed *one = a;
    const struct keyed *two = b;
    int order = 0;

    (void)value_compare(context, one->key, two->key, &order);
    return order ? order : (one->index > two->index) - (one->index < two->index);
}

static struct cel_value sort_with(struct run *run, struct cel_value list, struct cel_value keys)
{
    const size_t len = list.list->len;
    struct keyed *pairs = run_alloc(run, len * sizeof *pairs);
    int order;

    if (!pairs)
        return stopped_value(run);
    if (keys.list->len != len)
        return error_value(CEL_FAILED, "keys and items differ in number");
    for (size_t i = 0; i < len; i++) {
        pairs[i] = (struct keyed){items_of(keys)[i], items_of(list)[i], i};
        if (pairs[i].key.kind != pairs[0].key.kind && len > 1)
            return error_value(CEL_FAILED, "list elements must have the same type");
    }
    if (len && value_compare(run, pairs[0].key, pairs[0].key, &order).kind == CEL_ERROR &&
        pairs[0].key.kind != CEL_DOUBLE)
        return error_value(CEL_FAILED, "list elements must be comparable");
    if (len)
        qsort_r(pairs, len, sizeof *pairs, by_key, run);
    struct cel_value sorted = list_copy(run, NULL, len);
    for (size_t i = 0; sorted.kind == CEL_LIST && i < len; i++)
        sorted.list->items->values[i] = pairs[i].value;
    return sorted;
}

static struct cel_value sort(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return sort_with(run, args[0], args[0]);
}

static struct cel_value sort_by_keys(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return sort_with(run, args[0], args[1]);
}

/* --- Sets --- */

static bool contains_all(struct run *run, struct cel_value list, struct cel_value items)
{
    for (size_t i = 0; i < items.list->len && !run->stopped; i++)
        if (!has_item(run, list, items_of(items)[i]))
            return false;
    return true;
}

static struct cel_value sets_contains(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return cel_bool(contains_all(run, args[0], args[1]));
}

static struct cel_value sets_equivalent(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return cel_bool(contains_all(run, args[0], args[1]) && contains_all(run, args[1], args[0]));
}

static struct cel_value sets_intersects(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    for (size_t i = 0; i < args[0].list->len && !run->stopped; i++)
        if (has_item(run, args[1], items_of(args[0])[i]))
            return cel_bool(true);
    return cel_bool(false);
}

#define FOR_ORDERED(name, prefix, suffix, call, result)                                     \
    {name, prefix "int" suffix, ".(list(int)) " result("int"), call},                       \
        {name, prefix "uint" suffix, ".(list(uint)) " result("uint"), call},                \
        {name, prefix "double" suffix, ".(list(double)) " result("double"), call},          \
        {name, prefix "bool" suffix, ".(list(bool)) " result("bool"), call},                \
        {name, prefix DURATION suffix, ".(list(" DURATION ")) " result(DURATION), call},    \
        {name, prefix TIMESTAMP suffix, ".(list(" TIMESTAMP ")) " result(TIMESTAMP), call}, \
        {name, prefix "string" suffix, ".(list(string)) " result("string"), call},          \
    {                                                                                       \
        name, prefix "bytes" suffix, ".(list(bytes)) " result("bytes"), call                \
    }
#define TO_BOOL(type) "bool"
#define TO_ITEM(type) type
#define TO_LIST(type) "list(" type ")"
#define SORT_BY(type) \
    {"@sortByAssociatedKeys", "list_" type "_sortByAssociatedKeys", ".(list(T), list(" type ")) list(T)", sort_by_keys}

static const struct overload rows[] = {
    FOR_ORDERED("isSorted", "list_", "_is_sorted_bool", is_sorted, TO_BOOL),
    {"sum", "list_int_sum_int", ".(list(int)) int", sum_ints},
    {"sum", "list_uint_sum_uint", ".(list(uint)) uint", sum_uints},
    {"sum", "list_double_sum_double", ".(list(double)) double", sum_doubles},
    {"sum", "list_duration_sum_duration", ".(list(" DURATION ")) " DURATION, sum_durations},
    FOR_ORDERED("max", "list_", "_max", max_of, TO_ITEM),
    FOR_ORDERED("min", "list_", "_min", min_of, TO_ITEM),
    {"indexOf", "list_a_index_of_int", ".(list(A), A) int", index_of},
    {"lastIndexOf", "list_a_last_index_of_int", ".(list(A), A) int", last_index_of},
    {"includes", "list_includes_dyn_dyn", ".(dyn, dyn) bool", includes},
    {"slice", "list_slice", ".(list(T), int, int) list(T)", slice},
    {"reverse", "list_reverse", ".(list(T)) list(T)", reverse},
    {"distinct", "list_distinct", ".(list(T)) list(T)", distinct},
    {"flatten", "list_flatten", ".(list(list(T))) list(T)", flatten},
    {"flatten", "list_flatten_int", ".(list(dyn), int) list(dyn)", flatten},
    {"lists.range", "lists_range", "(int) list(int)", range},
    FOR_ORDERED("sort", "list_", "_sort", sort, TO_LIST),
    SORT_BY("int"),
    SORT_BY("uint"),
    SORT_BY("double"),
    SORT_BY("bool"),
    SORT_BY(DURATION),
    SORT_BY(TIMESTAMP),
    SORT_BY("string"),
    SORT_BY("bytes"),
    {"sets.contains", "list_sets_contains_list", "(list(T), list(T)) bool", sets_contains},
    {"sets.equivalent", "list_sets_equivalent_list", "(list(T), list(T)) bool", sets_equivalent},
    {"sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) bool", sets_intersects},
};

const struct overload_table list_table = {rows, ARRAY_LEN(rows)};
