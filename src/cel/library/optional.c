/* SPDX-License-Identifier: Apache-2.0 */

/* Values that may be missing. or() and orValue() have nodes of their own, since their argument may never be needed. */
#include "cel/library/library.h"

static struct cel_value of(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return optional_of(run, args[0]);
}

static bool is_zero(struct cel_value value)
{
    switch (value.kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !value.boolean;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION:
        return value.integer == 0;
    case CEL_DOUBLE:
        return value.number == 0;
    case CEL_STRING:
    case CEL_BYTES:
        return value.text.len == 0;
    case CEL_LIST:
        return value.list->len == 0;
    case CEL_MAP:
        return value.map->len == 0;
    case CEL_OPTIONAL:
        return !value.optional;
    default:
        return false;
    }
}

static struct cel_value of_non_zero(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return is_zero(args[0]) ? optional_none() : optional_of(run, args[0]);
}

static struct cel_value none(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)args;
    (void)count;
    return optional_none();
}

static struct cel_value value_of(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return args[0].optional ? *args[0].optional : error_value(CEL_FAILED, "optional.none() dereference");
}

static struct cel_value has_value(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(args[0].optional != NULL);
}

static struct cel_value item_at(struct run *run, struct cel_value list, size_t index)
{
    return list.list->len == 0 ? optional_none() : optional_of(run, list.list->items->values[index]);
}

static struct cel_value first(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return item_at(run, args[0], 0);
}

static struct cel_value last(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return item_at(run, args[0], args[0].list->len - 1);
}

static struct cel_value unwrap(struct run *run, const struct cel_value *args, int count)
{
    struct cel_value list = list_copy(run, NULL, 0);

    (void)count;
    for (size_t i = 0; list.kind == CEL_LIST && i < args[0].list->len; i++) {
        struct cel_value item = args[0].list->items->values[i];
        if (item.kind != CEL_OPTIONAL)
            return error_value(CEL_FAILED, "value is not optional");
        if (item.optional)
            list = list_append(run, list, item.optional, 1);
    }
    return list;
}

static const struct overload rows[] = {
    {"optional.of", "optional_of", "(V) optional_type(V)", of},
    {"optional.ofNonZeroValue", "optional_ofNonZeroValue", "(V) optional_type(V)", of_non_zero},
    {"optional.none", "optional_none", "() optional_type(V)", none},
    {"optional.unwrap", "optional_unwrap", "(list(optional_type(V))) list(V)", unwrap},
    {"unwrapOpt", "optional_unwrapOpt", ".(list(optional_type(V))) list(V)", unwrap},
    {"value", "optional_value", ".(optional_type(V)) V", value_of},
    {"hasValue", "optional_hasValue", ".(optional_type(V)) bool", has_value},
    {"or", "optional_or_optional", ".(optional_type(V), optional_type(V)) optional_type(V)", none},
    {"orValue", "optional_orValue_value", ".(optional_type(V), V) V", none},
    {"first", "list_first", ".(list(V)) optional_type(V)", first},
    {"last", "list_last", ".(list(V)) optional_type(V)", last},
};

const struct overload_table optional_table = {rows, ARRAY_LEN(rows)};
