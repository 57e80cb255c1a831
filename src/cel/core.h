/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The shapes that the steps of compiling and evaluating share: syntax trees, types, plans and values. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "cel/cel.h"
#include "cel/pattern.h"

/* --- Types --- */

/* Limits of integers among doubles, in decimal because not every analyser reads hexadecimal ones. */
#define TWO_TO_62 4611686018427387904.0
#define TWO_TO_63 9223372036854775808.0
#define TWO_TO_64 18446744073709551616.0

enum type_kind {
    TYPE_ERROR,
    TYPE_DYN,
    TYPE_ANY,
    TYPE_NULL,
    TYPE_BOOL,
    TYPE_INT,
    TYPE_UINT,
    TYPE_DOUBLE,
    TYPE_STRING,
    TYPE_BYTES,
    TYPE_DURATION,
    TYPE_TIMESTAMP,
    TYPE_LIST,
    TYPE_MAP,
    TYPE_TYPE,
    TYPE_STRUCT,
    TYPE_OPAQUE,
    TYPE_PARAM,
};

struct cel_type {
    enum type_kind kind;
    const char *name;  // as it is written
    const struct cel_type *params[2];
    uint8_t param_count;
    uint32_t param_id;  // of a type parameter
};

extern const struct cel_type type_error, type_dyn, type_any, type_bool, type_int, type_uint, type_double, type_string,
    type_bytes, type_null;

const struct cel_type *type_list_of(struct arena *arena, const struct cel_type *item);
const struct cel_type *type_map_of(struct arena *arena, const struct cel_type *key, const struct cel_type *value);
const struct cel_type *type_optional_of(struct arena *arena, const struct cel_type *item);
const struct cel_type *type_type_of(struct arena *arena, const struct cel_type *item);
const struct cel_type *type_param(struct arena *arena, uint32_t id);

/* Reads a type; `*at` is moved behind it. Single capital letters are type parameters, numbered from 'A'. */
const struct cel_type *type_read(struct arena *arena, const char **at);
const struct cel_type *type_by_name(const char *name);
bool type_is_exact(const struct cel_type *a, const struct cel_type *b);
bool type_is_equivalent(const struct cel_type *a, const struct cel_type *b);
const char *type_text(struct arena *arena, const struct cel_type *type);
bool type_is_optional(const struct cel_type *type);

/* What is known of type parameters; a later entry for the same parameter counts. */
struct bindings VEC_OF(struct binding);
struct binding {
    uint32_t param_id;
    const struct cel_type *type;
};

bool type_is_assignable(struct bindings *bindings, const struct cel_type *to, const struct cel_type *from);
const struct cel_type *type_substitute(struct arena *arena, const struct bindings *bindings,
                                       const struct cel_type *type, bool is_free_dyn);

/* The type with `by` added to the numbers of its parameters; the type itself when it has none. */
const struct cel_type *type_renumber(struct arena *arena, const struct cel_type *type, uint32_t by);
const struct cel_type *type_most_general(const struct cel_type *a, const struct cel_type *b);

/* --- Syntax trees --- */

enum expr_kind { EXPR_LITERAL, EXPR_IDENT, EXPR_SELECT, EXPR_CALL, EXPR_LIST, EXPR_MAP, EXPR_FOLD };

struct function;

struct expr {
    enum expr_kind kind;
    int64_t id;
    size_t position;           // in the text
    struct cel_value literal;  // also of an identifier that names a type
    const char *name;          // identifier, field or function
    bool is_test;              // has()
    bool is_global;            // an identifier that begins with a dot, or one that was resolved to a constant
    bool is_constant;          // an identifier that names a type
    struct expr *target;       // of a select or a member call; the range of a fold
    struct expr **args;        // of a call, items of a list, keys and values of a map
    bool *is_optional;         // by item or by entry
    uint32_t arg_count;        // of a map: two for each entry
    const char *iter_var;      // of a fold
    const char *iter_var2;     // or NULL
    const char *accu_var;
    struct expr *accu_init;
    struct expr *condition;
    struct expr *step;
    struct expr *result;
    /* From the checker. */
    const struct cel_type *type;
    const struct function *function;
    const struct overload *overload;  // NULL when several fit
};

MUST_CHECK int cel_parse(struct arena *arena, const char *text, struct expr **ret_expr, struct err *err);
int position_error(const char *text, size_t position, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* --- Functions --- */

struct run;

/* Called with values that fit the overload's types, none of them an error. */
typedef struct cel_value (*call_fn)(struct run *run, const struct cel_value *args, int count);

enum { ARGS_MAX = 4 };

struct overload {
    const char *function;
    const char *id;
    const char *signature;  // ".(string, int) string"; the dot makes it a member
    call_fn call;
};

struct resolved_overload {
    const struct overload *row;
    bool is_member;
    int arg_count;
    const struct cel_type *args[ARGS_MAX];
    const struct cel_type *result;
};

struct function {
    const char *name;
    struct resolved_overload *overloads;
    uint32_t overload_count;
};

struct overload_table {
    const struct overload *rows;
    size_t count;
};

/* The tables of the libraries, in the order in which overloads are tried. */
extern const struct overload_table operator_table, conversion_table, string_table, list_table, time_table,
    optional_table, quantity_table, semver_table, network_table, url_table, format_table, regex_table;

struct env_field {
    const char *object;
    const char *name;
    const struct cel_type *type;
};

struct cel_env {
    struct arena arena;
    VEC(struct function) functions;
    VEC(struct env_field) fields;
    VEC(struct env_field) variables;  // without an object
};

const struct function *env_function(const struct cel_env *env, const char *name);

MUST_CHECK int cel_check(const struct cel_env *env, struct arena *arena, const char *text, struct expr *root,
                         struct err *err);

/* --- Plans --- */

enum node_kind {
    NODE_CONST,
    NODE_ATTRIBUTE,
    NODE_CALL,
    NODE_AND,
    NODE_OR,
    NODE_EQUAL,
    NODE_UNEQUAL,
    NODE_LIST,
    NODE_MAP,
    NODE_FOLD,
    NODE_IN_SET,
    NODE_OPTIONAL_OR,
    NODE_OPTIONAL_OR_VALUE
};

struct node;
struct attribute;

/* A step from a value to one of its members. */
struct qualifier {
    int64_t id;
    bool is_optional;
    bool is_test;
    bool is_constant;
    bool is_observed_as_attribute;
    struct cel_value constant;
    struct attribute *attribute;
};

enum attribute_kind { ATTRIBUTE_NAME, ATTRIBUTE_OPERAND, ATTRIBUTE_CHOICE };

/* A variable, the value of an operand or one of two attributes, followed by qualifiers. */
struct attribute {
    enum attribute_kind kind;
    int64_t id;
    const char *name;
    bool is_global;
    struct node *operand;  // also the condition
    struct attribute *yes;
    struct attribute *no;
    VEC(struct qualifier) qualifiers;
};

struct node {
    enum node_kind kind;
    int64_t id;
    struct cel_value constant;
    struct attribute *attribute;
    bool is_test;
    const struct function *function;
    const struct overload *overload;
    struct node **args;
    bool *is_optional;
    uint32_t arg_count;
    struct pattern *pattern;  // of a constant regular expression
    const struct expr *fold;
    struct node *range;
    struct node *accu_init;
    struct node *condition;
    struct node *step;
    struct node *result;
};

struct cel_program {
    struct arena arena;
    VEC(struct pattern *) patterns;
    VEC(struct attribute *) attributes;  // their vecs are on the heap
    struct node *root;
    const struct cel_type *type;
};

MUST_CHECK int cel_plan(struct cel_program *program, const struct expr *root, struct err *err);

/* --- Evaluation --- */

struct frame {
    const struct frame *parent;
    const struct node *fold;
    struct cel_value iter;
    struct cel_value iter2;
    struct cel_value *accu;
    bool *is_begun;      // the accumulator has its first value
    bool is_for_result;  // iteration variables are out of scope
};

struct cost_entry {
    uint32_t id;
    uint32_t below;  // one more than the place of the next value with this id
    struct cel_value value;
};

struct run {
    struct arena *arena;
    size_t memory_left;
    uint64_t work_left;
    const struct cel_variable *variables;
    size_t variable_count;
    uint64_t cost;
    uint64_t cost_limit;
    enum cel_outcome stopped;  // CEL_COST or CEL_MEMORY: nothing goes on
    VEC(struct cost_entry) stack;
    VEC(uint32_t) tops;             // by id: one more than the place of its topmost value
    const struct pattern *pattern;  // of the call under way
};

struct cel_value eval_node(struct run *run, const struct frame *frame, const struct node *node);

/*
 * What costs leave out: comparing long values, values within values that are shared, and regular expressions. A step is
 * about what comparing two numbers takes, or going over WORK_BYTES of text. Where too many are taken, the run is stopped
 * as by its cost, and false returned.
 */
enum { WORK_PER_COST = 32, WORK_BYTES = 16 };

uint64_t work_within(uint64_t cost_limit);
bool run_works(struct run *run, uint64_t steps);

/* What a call costs. Of a list that could not be computed Kubernetes cannot say what sorting it costs: the evaluation fails. */
#define COST_UNKNOWN UINT64_MAX
uint64_t call_cost(struct run *run, const struct node *node, const struct cel_value *args, uint32_t count,
                   struct cel_value result);

/* Does it take quadratic time, and can its cost be told before the call? */
bool is_cost_foreseen(const struct node *node);

/* --- Values --- */

/* Items are shared between lists: a list owns the first `len` items, and one that ends where the items end is extended in
 * place, so that adding item by item takes linear time. */
struct items {
    struct cel_value *values;
    size_t used;
    size_t cap;
};

struct cel_list {
    struct items *items;
    size_t len;
};

struct map_entry {
    struct cel_value key;
    struct cel_value value;
};

/* Entries are shared as items are: `used`, if there is one, says how many of them any map has. */
struct cel_map {
    struct map_entry *entries;
    size_t len;
    size_t cap;
    size_t *used;
    const struct cel_value *fallback;
};

struct timestamp {
    int64_t seconds;
    int32_t nanos;
};

/* A number times a power of ten: exact for all that Kubernetes accepts. */
struct cel_quantity {
    __int128 amount;   // in units of 10^-9
    bool is_computed;  // the result of a sum: Kubernetes cannot compare with it on the right
    bool is_short;     // Kubernetes keeps it as an integer and a power of ten
    int8_t scale;      // that power
};

struct cel_semver {
    uint64_t major, minor, patch;
    struct cel_text *pre;
    uint32_t pre_count;
};

struct address {
    uint8_t bytes[16];
    uint8_t len;   // 4 or 16
    uint8_t bits;  // of a network
};

/* Counts memory, which is the caller's to get; false, and the run is stopped, when there is too much. */
bool run_takes(struct run *run, size_t size);
void *run_alloc(struct run *run, size_t size);  // NULL where run_takes() is false
struct cel_value error_value(enum cel_outcome outcome, const char *explanation);
struct cel_value no_overload(void);
struct cel_value stopped_value(const struct run *run);
struct cel_value text_value(const char *bytes, size_t len);
struct cel_value text_copy(struct run *run, const char *bytes, size_t len);
bool text_equals(struct cel_text text, const char *other);
int text_compare(struct cel_text a, struct cel_text b);
size_t text_points(struct run *run, struct cel_text text);
size_t point_len(const char *at, size_t left);
struct cel_value list_copy(struct run *run, const struct cel_value *items, size_t count);
struct cel_value list_append(struct run *run, struct cel_value list, const struct cel_value *items, size_t count);
const struct cel_value *map_member(struct run *run, const struct cel_map *map, struct cel_value key);
struct cel_value optional_of(struct run *run, struct cel_value value);
struct cel_value optional_none(void);
struct cel_value duration_value(int64_t nanos);
struct cel_value timestamp_value(struct run *run, struct timestamp time);

/* Equality as == has it; -1 when the values cannot be compared at all. */
int value_equal(struct run *run, struct cel_value a, struct cel_value b);

/* -1, 0 or 1 in *ret_order; otherwise an error value is returned, whose kind is CEL_ERROR. */
struct cel_value value_compare(struct run *run, struct cel_value a, struct cel_value b, int *ret_order);
uint64_t value_size(struct run *run, struct cel_value value);
const struct cel_type *value_type(struct cel_value value);
bool value_fits(struct cel_value value, const struct cel_type *type);
int compare_numbers(struct cel_value a, struct cel_value b);

struct cel_value add_values(struct run *run, struct cel_value a, struct cel_value b);
bool read_timestamp(struct cel_text text, struct timestamp *ret_time);
bool read_duration(struct cel_text text, int64_t *ret_nanos);
size_t write_timestamp(struct timestamp time, char *out, size_t size);
size_t write_double(double number, char *out, size_t size);
bool read_address(struct cel_text text, struct address *ret_address);
bool read_network(struct cel_text text, struct address *ret_network);
size_t write_address(const struct address *address, char *out, size_t size);
bool read_quantity(struct cel_text text, struct cel_quantity *ret_quantity);
bool read_semver(struct arena *arena, struct cel_text text, struct cel_semver *ret_version);
int compare_semver(const struct cel_semver *a, const struct cel_semver *b);
bool is_request_uri(struct cel_text text);
uint32_t format_regex_size(struct cel_value format);
bool url_equals(const void *a, const void *b);
bool format_equals(const void *a, const void *b);
