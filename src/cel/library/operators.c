/* SPDX-License-Identifier: Apache-2.0 */

/* Arithmetic, comparisons, membership and size. Numbers that overflow are errors, never wrapped. */
#include <math.h>
#include <string.h>

#include "cel/core.h"
#include "cel/library/library.h"

static struct cel_value overflow(void)
{
    return error_value(CEL_RANGE, "integer overflow");
}

static struct cel_value uint_value(uint64_t value)
{
    return (struct cel_value){.kind = CEL_UINT, .uinteger = value};
}

static struct cel_value double_value(double value)
{
    return (struct cel_value){.kind = CEL_DOUBLE, .number = value};
}

/* --- Sums --- */

static struct cel_value join_text(struct run *run, struct cel_value a, struct cel_value b)
{
    char *bytes = run_alloc(run, a.text.len + b.text.len);

    if (!bytes)
        return stopped_value(run);
    if (a.text.len)
        memcpy(bytes, a.text.bytes, a.text.len);
    if (b.text.len)
        memcpy(bytes + a.text.len, b.text.bytes, b.text.len);
    struct cel_value joined = text_value(bytes, a.text.len + b.text.len);
    joined.kind = a.kind;
    return joined;
}

struct cel_value add_values(struct run *run, struct cel_value a, struct cel_value b)
{
    int64_t sum;
    uint64_t usum;

    if (a.kind == CEL_TIMESTAMP || b.kind == CEL_TIMESTAMP)
        return add_to_timestamp(run, a.kind == CEL_TIMESTAMP ? a : b, a.kind == CEL_TIMESTAMP ? b : a);
    if (a.kind != b.kind)
        return no_overload();
    switch (a.kind) {
    case CEL_INT:
    case CEL_DURATION:
        if (__builtin_add_overflow(a.integer, b.integer, &sum))
            return overflow();
        return a.kind == CEL_INT ? cel_int(sum) : duration_value(sum);
    case CEL_UINT:
        return __builtin_add_overflow(a.uinteger, b.uinteger, &usum) ? overflow() : uint_value(usum);
    case CEL_DOUBLE:
        return double_value(a.number + b.number);
    case CEL_STRING:
    case CEL_BYTES:
        return join_text(run, a, b);
    case CEL_LIST:
        return list_append(run, a, b.list->items->values, b.list->len);
    default:
        return no_overload();
    }
}

static struct cel_value add(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return add_values(run, args[0], args[1]);
}

static struct cel_value subtract(struct run *run, const struct cel_value *args, int count)
{
    struct cel_value a = args[0];
    struct cel_value b = args[1];
    int64_t result;
    uint64_t uresult;

    (void)count;
    if (a.kind == CEL_TIMESTAMP)
        return subtract_from_timestamp(run, a, b);
    switch (a.kind) {
    case CEL_INT:
    case CEL_DURATION:
        if (__builtin_sub_overflow(a.integer, b.integer, &result))
            return overflow();
        return a.kind == CEL_INT ? cel_int(result) : duration_value(result);
    case CEL_UINT:
        return __builtin_sub_overflow(a.uinteger, b.uinteger, &uresult) ? overflow() : uint_value(uresult);
    default:
        return double_value(a.number - b.number);
    }
}

/* --- Products --- */

static struct cel_value multiply(struct run *run, const struct cel_value *args, int count)
{
    int64_t result;
    uint64_t uresult;

    (void)run;
    (void)count;
    switch (args[0].kind) {
    case CEL_INT:
        return __builtin_mul_overflow(args[0].integer, args[1].integer, &result) ? overflow() : cel_int(result);
    case CEL_UINT:
        return __builtin_mul_overflow(args[0].uinteger, args[1].uinteger, &uresult) ? overflow() : uint_value(uresult);
    default:
        return double_value(args[0].number * args[1].number);
    }
}

static struct cel_value divide_integers(const struct cel_value *args, bool is_modulo)
{
    const int64_t a = args[0].integer;
    const int64_t b = args[1].integer;

    if (b == 0)
        return error_value(CEL_DIVISION, is_modulo ? "modulus by zero" : "division by zero");
    if (a == INT64_MIN && b == -1)
        return overflow();
    return cel_int(is_modulo ? a % b : a / b);
}

static struct cel_value divide_by(const struct cel_value *args, bool is_modulo)
{
    if (args[0].kind == CEL_INT)
        return divide_integers(args, is_modulo);
    if (args[0].kind == CEL_DOUBLE)
        return double_value(args[0].number / args[1].number);
    if (args[1].uinteger == 0)
        return error_value(CEL_DIVISION, is_modulo ? "modulus by zero" : "division by zero");
    return uint_value(is_modulo ? args[0].uinteger % args[1].uinteger : args[0].uinteger / args[1].uinteger);
}

static struct cel_value divide(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return divide_by(args, false);
}

static struct cel_value modulo(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return divide_by(args, true);
}

static struct cel_value negate(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    if (args[0].kind == CEL_DOUBLE)
        return double_value(-args[0].number);
    return args[0].integer == INT64_MIN ? overflow() : cel_int(-args[0].integer);
}

/* --- Order --- */

enum order { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

static struct cel_value ordered(struct run *run, const struct cel_value *args, enum order wanted)
{
    int order = 0;
    struct cel_value error = value_compare(run, args[0], args[1], &order);

    if (error.kind == CEL_ERROR)
        return error;
    return cel_bool(wanted == LESS         ? order < 0
                    : wanted == LESS_EQUAL ? order <= 0
                    : wanted == GREATER    ? order > 0
                                           : order >= 0);
}

#define ORDER(name, wanted)                                                                \
    static struct cel_value name(struct run *run, const struct cel_value *args, int count) \
    {                                                                                      \
        (void)count;                                                                       \
        return ordered(run, args, wanted);                                                 \
    }

ORDER(less, LESS)
ORDER(less_equal, LESS_EQUAL)
ORDER(greater, GREATER)
ORDER(greater_equal, GREATER_EQUAL)

/* --- The rest --- */

static struct cel_value logical_not(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(!args[0].boolean);
}

static struct cel_value not_strictly_false(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(args[0].kind != CEL_BOOL || args[0].boolean);
}

static struct cel_value in(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    if (args[1].kind == CEL_MAP)
        return cel_bool(map_member(run, args[1].map, args[0]) != NULL);
    for (size_t i = 0; i < args[1].list->len && !run->stopped; i++)
        if (value_equal(run, args[0], args[1].list->items->values[i]) == 1)
            return cel_bool(true);
    return cel_bool(false);
}

static struct cel_value size(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return cel_int((int64_t)value_size(run, args[0]));
}

/* Equality, choices and members have nodes of their own: only their types are looked at. */
static struct cel_value never(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)args;
    (void)count;
    return no_overload();
}

/* A map with all that another has, and room for more; NULL when the run is stopped. */
static struct cel_map *map_with_room(struct run *run, const struct cel_map *old, size_t more)
{
    struct cel_map *map = run_alloc(run, sizeof *map);

    if (!map)
        return NULL;
    *map = *old;
    map->fallback = NULL;
    if (old->used && *old->used == old->len && old->cap - old->len >= more)
        return map;
    map->cap = 2 * old->len + more;
    map->used = run_alloc(run, sizeof *map->used);
    map->entries = run_alloc(run, map->cap * sizeof *map->entries);
    if (!map->used || !map->entries)
        return NULL;
    if (old->len)
        memcpy(map->entries, old->entries, old->len * sizeof *map->entries);
    return map;
}

static struct cel_value map_insert(struct run *run, const struct cel_value *args, int count)
{
    const struct map_entry one = {args[1], count == 3 ? args[2] : cel_null()};
    const struct map_entry *more = count == 3 ? &one : args[1].map->entries;
    const size_t more_len = count == 3 ? 1 : args[1].map->len;
    struct cel_map *map = map_with_room(run, args[0].map, more_len);

    if (!map)
        return stopped_value(run);
    for (size_t i = 0; i < more_len; i++) {
        if (map_member(run, map, more[i].key))
            return error_value(CEL_FAILED, "insert failed: key already exists");
        map->entries[map->len++] = more[i];
    }
    *map->used = map->len;
    return cel_map_value(map);
}

#define COMPARISONS(sign, prefix, call)                                                                                \
    {sign, prefix "_bool", "(bool, bool) bool", call}, {sign, prefix "_int64", "(int, int) bool", call},               \
        {sign, prefix "_int64_double", "(int, double) bool", call},                                                    \
        {sign, prefix "_int64_uint64", "(int, uint) bool", call}, {sign, prefix "_uint64", "(uint, uint) bool", call}, \
        {sign, prefix "_uint64_double", "(uint, double) bool", call},                                                  \
        {sign, prefix "_uint64_int64", "(uint, int) bool", call},                                                      \
        {sign, prefix "_double", "(double, double) bool", call},                                                       \
        {sign, prefix "_double_int64", "(double, int) bool", call},                                                    \
        {sign, prefix "_double_uint64", "(double, uint) bool", call},                                                  \
        {sign, prefix "_string", "(string, string) bool", call}, {sign, prefix "_bytes", "(bytes, bytes) bool", call}, \
        {sign, prefix "_timestamp", "(" TIMESTAMP ", " TIMESTAMP ") bool", call},                                      \
    {                                                                                                                  \
        sign, prefix "_duration", "(" DURATION ", " DURATION ") bool", call                                            \
    }

static const struct overload rows[] = {
    {"!_", "logical_not", "(bool) bool", logical_not},
    {"-_", "negate_double", "(double) double", negate},
    {"-_", "negate_int64", "(int) int", negate},
    {"@in", "in_list", "(A, list(A)) bool", in},
    {"@in", "in_map", "(A, map(A, B)) bool", in},
    {"@not_strictly_false", "not_strictly_false", "(bool) bool", not_strictly_false},
    {"_==_", "equals", "(A, A) bool", never},
    {"_!=_", "not_equals", "(A, A) bool", never},
    {"_?_:_", "conditional", "(bool, A, A) A", never},
    {"_%_", "modulo_int64", "(int, int) int", modulo},
    {"_%_", "modulo_uint64", "(uint, uint) uint", modulo},
    {"_*_", "multiply_double", "(double, double) double", multiply},
    {"_*_", "multiply_int64", "(int, int) int", multiply},
    {"_*_", "multiply_uint64", "(uint, uint) uint", multiply},
    {"_/_", "divide_double", "(double, double) double", divide},
    {"_/_", "divide_int64", "(int, int) int", divide},
    {"_/_", "divide_uint64", "(uint, uint) uint", divide},
    {"_+_", "add_bytes", "(bytes, bytes) bytes", add},
    {"_+_", "add_double", "(double, double) double", add},
    {"_+_", "add_duration_duration", "(" DURATION ", " DURATION ") " DURATION, add},
    {"_+_", "add_duration_timestamp", "(" DURATION ", " TIMESTAMP ") " TIMESTAMP, add},
    {"_+_", "add_timestamp_duration", "(" TIMESTAMP ", " DURATION ") " TIMESTAMP, add},
    {"_+_", "add_int64", "(int, int) int", add},
    {"_+_", "add_list", "(list(A), list(A)) list(A)", add},
    {"_+_", "add_string", "(string, string) string", add},
    {"_+_", "add_uint64", "(uint, uint) uint", add},
    {"_-_", "subtract_double", "(double, double) double", subtract},
    {"_-_", "subtract_duration_duration", "(" DURATION ", " DURATION ") " DURATION, subtract},
    {"_-_", "subtract_int64", "(int, int) int", subtract},
    {"_-_", "subtract_timestamp_duration", "(" TIMESTAMP ", " DURATION ") " TIMESTAMP, subtract},
    {"_-_", "subtract_timestamp_timestamp", "(" TIMESTAMP ", " TIMESTAMP ") " DURATION, subtract},
    {"_-_", "subtract_uint64", "(uint, uint) uint", subtract},
    COMPARISONS("_<=_", "less_equals", less_equal),
    COMPARISONS("_<_", "less", less),
    COMPARISONS("_>=_", "greater_equals", greater_equal),
    COMPARISONS("_>_", "greater", greater),
    {"_[_]", "index_list", "(list(A), int) A", never},
    {"_[_]", "index_map", "(map(A, B), A) B", never},
    {"_[_]", "optional_list_index_int", "(optional_type(list(V)), int) optional_type(V)", never},
    {"_[_]", "optional_map_index_value", "(optional_type(map(K, V)), K) optional_type(V)", never},
    {"_[?_]", "list_optindex_optional_int", "(list(V), int) optional_type(V)", never},
    {"_[?_]", "optional_list_optindex_optional_int", "(optional_type(list(V)), int) optional_type(V)", never},
    {"_[?_]", "map_optindex_optional_value", "(map(K, V), K) optional_type(V)", never},
    {"_[?_]", "optional_map_optindex_optional_value", "(optional_type(map(K, V)), K) optional_type(V)", never},
    {"cel.@mapInsert", "@mapInsert_map_key_value", "(map(K, V), K, V) map(K, V)", map_insert},
    {"cel.@mapInsert", "@mapInsert_map_map", "(map(K, V), map(K, V)) map(K, V)", map_insert},
    {"size", "size_bytes", "(bytes) int", size},
    {"size", "bytes_size", ".(bytes) int", size},
    {"size", "size_list", "(list(A)) int", size},
    {"size", "list_size", ".(list(A)) int", size},
    {"size", "size_map", "(map(A, B)) int", size},
    {"size", "map_size", ".(map(A, B)) int", size},
    {"size", "size_string", "(string) int", size},
    {"size", "string_size", ".(string) int", size},
};

const struct overload_table operator_table = {rows, ARRAY_LEN(rows)};
