/* SPDX-License-Identifier: Apache-2.0 */

/* Values: making, comparing and measuring them. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "cel/core.h"

const char *cel_outcome_name(enum cel_outcome outcome)
{
    static const char *const names[] = {
        "value",  "no such overload",    "no such key",          "out of range", "division by zero",
        "failed", "cost limit exceeded", "memory limit exceeded"};

    return names[outcome];
}

struct cel_value error_value(enum cel_outcome outcome, const char *explanation)
{
    return (struct cel_value){.kind = CEL_ERROR, .outcome = outcome, .explanation = explanation};
}

struct cel_value no_overload(void)
{
    return error_value(CEL_NO_OVERLOAD, "no such overload");
}

struct cel_value stopped_value(const struct run *run)
{
    return error_value(run->stopped, cel_outcome_name(run->stopped));
}

bool run_takes(struct run *run, size_t size)
{
    /* An arena rounds up. */
    const size_t rounded = MAX(size, (size_t)1) + 15 - (MAX(size, (size_t)1) + 15) % 16;

    if (size > SIZE_MAX / 2 || rounded > run->memory_left) {
        run->stopped = CEL_MEMORY;
        return false;
    }
    run->memory_left -= rounded;
    return true;
}

void *run_alloc(struct run *run, size_t size)
{
    return run_takes(run, size) ? arena_alloc(run->arena, MAX(size, (size_t)1)) : NULL;
}

uint64_t work_within(uint64_t cost_limit)
{
    return cost_limit > UINT64_MAX / WORK_PER_COST ? UINT64_MAX : cost_limit * WORK_PER_COST;
}

bool run_works(struct run *run, uint64_t steps)
{
    if (steps > run->work_left) {
        run->work_left = 0;
        run->stopped = run->stopped ? run->stopped : CEL_COST;
        return false;
    }
    run->work_left -= steps;
    return true;
}

struct cel_value cel_null(void)
{
    return (struct cel_value){.kind = CEL_NULL};
}

struct cel_value cel_bool(bool value)
{
    return (struct cel_value){.kind = CEL_BOOL, .boolean = value};
}

struct cel_value cel_int(int64_t value)
{
    return (struct cel_value){.kind = CEL_INT, .integer = value};
}

struct cel_value cel_string(const char *text)
{
    return cel_string_of(text, strlen(text));
}

struct cel_value cel_string_of(const char *bytes, size_t len)
{
    return (struct cel_value){.kind = CEL_STRING, .text = {bytes, len}};
}

struct cel_value text_value(const char *bytes, size_t len)
{
    return cel_string_of(bytes, len);
}

struct cel_value text_copy(struct run *run, const char *bytes, size_t len)
{
    char *copy = run_alloc(run, len);

    if (!copy)
        return stopped_value(run);
    if (len)
        memcpy(copy, bytes, len);
    return text_value(copy, len);
}

struct cel_value duration_value(int64_t nanos)
{
    return (struct cel_value){.kind = CEL_DURATION, .integer = nanos};
}

struct cel_value timestamp_value(struct run *run, struct timestamp time)
{
    struct timestamp *copy = run_alloc(run, sizeof *copy);

    if (!copy)
        return stopped_value(run);
    *copy = time;
    return (struct cel_value){.kind = CEL_TIMESTAMP, .other = copy};
}

struct cel_value optional_none(void)
{
    return (struct cel_value){.kind = CEL_OPTIONAL};
}

struct cel_value optional_of(struct run *run, struct cel_value value)
{
    struct cel_value *copy = run_alloc(run, sizeof *copy);

    if (!copy)
        return stopped_value(run);
    *copy = value;
    return (struct cel_value){.kind = CEL_OPTIONAL, .optional = copy};
}

/* --- Text --- */

bool text_equals(struct cel_text text, const char *other)
{
    return text.len == strlen(other) && memcmp(text.bytes, other, text.len) == 0;
}

int text_compare(struct cel_text a, struct cel_text b)
{
    size_t len = MIN(a.len, b.len);
    int order = len ? memcmp(a.bytes, b.bytes, len) : 0;

    if (order == 0)
        order = a.len < b.len ? -1 : a.len > b.len;
    return order < 0 ? -1 : order > 0;
}

size_t point_len(const char *at, size_t left)
{
    const unsigned char first = (unsigned char)*at;
    size_t len = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

    return MIN(len, left);
}

size_t text_points(struct run *run, struct cel_text text)
{
    size_t points = 0;

    if (!run_works(run, text.len / WORK_BYTES))
        return 0;
    for (size_t at = 0; at < text.len; points++)
        at += point_len(text.bytes + at, text.len - at);
    return points;
}

/* --- Lists and maps --- */

struct cel_value cel_list(struct arena *arena, const struct cel_value *items, size_t count)
{
    struct run run = {.arena = arena, .memory_left = SIZE_MAX / 2};

    return list_copy(&run, items, count);
}

struct cel_value list_copy(struct run *run, const struct cel_value *items, size_t count)
{
    const size_t size =
        count <= run->memory_left / sizeof(struct cel_value) ? count * sizeof(struct cel_value) : SIZE_MAX;
    struct cel_list *list = run_alloc(run, sizeof *list);
    struct items *shared = run_alloc(run, sizeof *shared);
    struct cel_value *values = run_alloc(run, size);

    if (!list || !shared || !values)
        return stopped_value(run);
    if (count && items)
        memcpy(values, items, count * sizeof *values);
    *shared = (struct items){values, count, count};
    *list = (struct cel_list){shared, count};
    return (struct cel_value){.kind = CEL_LIST, .list = list};
}

struct cel_value list_append(struct run *run, struct cel_value list, const struct cel_value *items, size_t count)
{
    struct items *shared = list.list->items;
    size_t len = list.list->len;
    struct cel_list *longer = run_alloc(run, sizeof *longer);

    if (!longer)
        return stopped_value(run);
    if (shared->used != len || shared->cap - len < count) {
        size_t cap = 2 * len + count + 4;
        struct cel_value *values = run_alloc(run, cap * sizeof *values);
        struct items *grown = run_alloc(run, sizeof *grown);
        if (!values || !grown)
            return stopped_value(run);
        if (len)
            memcpy(values, shared->values, len * sizeof *values);
        *grown = (struct items){values, len, cap};
        shared = grown;
    }
    if (count)
        memcpy(shared->values + len, items, count * sizeof *items);
    shared->used = len + count;
    *longer = (struct cel_list){shared, len + count};
    return (struct cel_value){.kind = CEL_LIST, .list = longer};
}

struct cel_map *cel_map_new(struct arena *arena)
{
    return arena_calloc(arena, 1, sizeof(struct cel_map));
}

void cel_map_put(struct arena *arena, struct cel_map *map, struct cel_value key, struct cel_value value)
{
    if (map->len == map->cap) {
        size_t cap = MAX(2 * map->cap, (size_t)4);
        struct map_entry *entries = arena_calloc(arena, cap, sizeof *entries);
        if (map->len)
            memcpy(entries, map->entries, map->len * sizeof *entries);
        map->entries = entries;
        map->cap = cap;
    }
    map->entries[map->len++] = (struct map_entry){key, value};
}

void cel_map_set_default(struct cel_map *map, const struct cel_value *value)
{
    map->fallback = value;
}

struct cel_value cel_map_value(const struct cel_map *map)
{
    return (struct cel_value){.kind = CEL_MAP, .map = map};
}

const struct cel_value *map_member(struct run *run, const struct cel_map *map, struct cel_value key)
{
    for (size_t i = 0; i < map->len && !run->stopped; i++)
        if (value_equal(run, map->entries[i].key, key) == 1)
            return &map->entries[i].value;
    return NULL;
}

struct cel_map *cel_map_find_map(struct cel_map *map, struct cel_value key)
{
    struct run run = {.work_left = UINT64_MAX};
    const struct cel_value *found = map_member(&run, map, key);
    struct cel_map *inner = NULL;

    /* Whoever holds the outer map may change the inner one. */
    if (found && found->kind == CEL_MAP)
        memcpy(&inner, &found->map, sizeof inner);
    return inner;
}

/* --- Equality and order --- */

static bool is_number(struct cel_value value)
{
    return value.kind == CEL_INT || value.kind == CEL_UINT || value.kind == CEL_DOUBLE;
}

static int order_doubles(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int order_double_with(double number, struct cel_value other)
{
    if (other.kind == CEL_INT)
        return number < -TWO_TO_63 ? -1 : number > TWO_TO_63 ? 1 : order_doubles(number, (double)other.integer);
    if (other.kind == CEL_UINT)
        return number < 0 ? -1 : number > TWO_TO_64 ? 1 : order_doubles(number, (double)other.uinteger);
    return order_doubles(number, other.number);
}

/* Numbers of any types by their value; none of them is NaN. */
int compare_numbers(struct cel_value a, struct cel_value b)
{
    if (a.kind == CEL_DOUBLE)
        return order_double_with(a.number, b);
    if (b.kind == CEL_DOUBLE)
        return -order_double_with(b.number, a);
    if (a.kind == CEL_INT && b.kind == CEL_INT)
        return a.integer < b.integer ? -1 : a.integer > b.integer;
    if (a.kind == CEL_INT && a.integer < 0)
        return -1;
    if (b.kind == CEL_INT && b.integer < 0)
        return 1;
    return a.uinteger < b.uinteger ? -1 : a.uinteger > b.uinteger;
}

static bool is_nan(struct cel_value value)
{
    return value.kind == CEL_DOUBLE && isnan(value.number);
}

static int lists_equal(struct run *run, const struct cel_list *a, const struct cel_list *b)
{
    if (a->len != b->len)
        return 0;
    for (size_t i = 0; i < a->len; i++)
        if (value_equal(run, a->items->values[i], b->items->values[i]) != 1)
            return 0;
    return 1;
}

static int maps_equal(struct run *run, const struct cel_map *a, const struct cel_map *b)
{
    if (a->len != b->len)
        return 0;
    for (size_t i = 0; i < a->len; i++) {
        const struct cel_value *other = map_member(run, b, a->entries[i].key);
        if (!other || value_equal(run, a->entries[i].value, *other) != 1)
            return 0;
    }
    return 1;
}

static int times_equal(const struct timestamp *a, const struct timestamp *b)
{
    return a->seconds == b->seconds && a->nanos == b->nanos;
}

/* Kinds that refuse to be compared with another kind, where all others are just not equal. */
static bool is_strict(enum cel_kind kind)
{
    return kind >= CEL_QUANTITY;
}

static int same_kind_equal(struct run *run, struct cel_value a, struct cel_value b)
{
    switch (a.kind) {
    case CEL_BOOL:
        return a.boolean == b.boolean;
    case CEL_STRING:
    case CEL_BYTES:
        return text_compare(a.text, b.text) == 0;
    case CEL_DURATION:
        return a.integer == b.integer;
    case CEL_TIMESTAMP:
        return times_equal(a.other, b.other);
    case CEL_LIST:
        return lists_equal(run, a.list, b.list);
    case CEL_MAP:
        return maps_equal(run, a.map, b.map);
    case CEL_TYPE:
        return strcmp(a.type->name, b.type->name) == 0;
    case CEL_OPTIONAL:
        if (!a.optional || !b.optional)
            return a.optional == b.optional;
        return value_equal(run, *a.optional, *b.optional) == 1;
    case CEL_QUANTITY:
        return b.quantity->is_computed ? -1 : a.quantity->amount == b.quantity->amount;
    case CEL_SEMVER:
        return compare_semver(a.semver, b.semver) == 0;
    case CEL_IP:
    case CEL_CIDR:
        return memcmp(a.other, b.other, sizeof(struct address)) == 0;
    case CEL_URL:
        return url_equals(a.other, b.other);
    case CEL_FORMAT:
        return format_equals(a.other, b.other);
    default:
        return 1;
    }
}

/* The steps of comparing two values, without what is within them. */
static uint64_t comparing(struct cel_value a, struct cel_value b)
{
    const bool is_text = a.kind == b.kind && (a.kind == CEL_STRING || a.kind == CEL_BYTES);

    return 1 + (is_text ? MIN(a.text.len, b.text.len) / WORK_BYTES : 0);
}

int value_equal(struct run *run, struct cel_value a, struct cel_value b)
{
    if (!run_works(run, comparing(a, b)))
        return 0;
    if (a.kind == CEL_NULL || b.kind == CEL_NULL)
        return a.kind == b.kind;
    if (is_number(a) && is_number(b))
        return !is_nan(a) && !is_nan(b) && compare_numbers(a, b) == 0;
    if (a.kind != b.kind)
        return is_strict(a.kind) ? -1 : 0;
    return same_kind_equal(run, a, b);
}

struct cel_value value_compare(struct run *run, struct cel_value a, struct cel_value b, int *ret_order)
{
    if (!run_works(run, comparing(a, b)))
        return stopped_value(run);
    if (is_number(a) && is_number(b)) {
        if (is_nan(a) || is_nan(b))
            return error_value(CEL_FAILED, "NaN values cannot be ordered");
        *ret_order = compare_numbers(a, b);
        return cel_null();
    }
    if (is_nan(a))
        return error_value(CEL_FAILED, "NaN values cannot be ordered");
    if (a.kind != b.kind)
        return no_overload();
    switch (a.kind) {
    case CEL_BOOL:
        *ret_order = (int)a.boolean - (int)b.boolean;
        return cel_null();
    case CEL_STRING:
    case CEL_BYTES:
        *ret_order = text_compare(a.text, b.text);
        return cel_null();
    case CEL_DURATION:
        *ret_order = a.integer < b.integer ? -1 : a.integer > b.integer;
        return cel_null();
    case CEL_TIMESTAMP: {
        const struct timestamp *one = a.other;
        const struct timestamp *two = b.other;
        *ret_order = one->seconds != two->seconds ? (one->seconds < two->seconds ? -1 : 1)
                                                  : (one->nanos > two->nanos) - (one->nanos < two->nanos);
        return cel_null();
    }
    default:
        return no_overload();
    }
}

uint64_t value_size(struct run *run, struct cel_value value)
{
    switch (value.kind) {
    case CEL_STRING:
        return text_points(run, value.text);
    case CEL_BYTES:
        return value.text.len;
    case CEL_LIST:
        return value.list->len;
    case CEL_MAP:
        return value.map->len;
    case CEL_OPTIONAL:
        return value.optional ? value_size(run, *value.optional) : 1;
    case CEL_IP:
        return ((const struct address *)value.other)->len;
    case CEL_CIDR:
        return (((const struct address *)value.other)->bits + 7U) / 8U;
    default:
        return 1;
    }
}
