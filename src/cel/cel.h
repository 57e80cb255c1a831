/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/macros.h"

/*
 * CEL, the expression language of Kubernetes: device selectors, and rules of custom kinds.
 *
 * An environment declares the variables of an expression with their types. An expression is compiled once in an
 * environment: it is parsed, its types are checked as cel-go checks them, and the functions of Kubernetes' base
 * environment of 1.36 are at hand. A program is evaluated any number of times, each time with values of the variables and
 * within a cost limit. Costs are counted as Kubernetes counts them. Where they say too little of the work that an
 * expression makes, the work is counted too: the time of an evaluation has a bound that grows with its cost limit.
 *
 * Nothing here does I/O, keeps global state or knows the time. A program may be used by one thread at a time.
 */
struct cel_env;
struct cel_program;
struct cel_type;
struct cel_list;
struct cel_map;
struct cel_quantity;
struct cel_semver;

enum {
    CEL_EXPRESSION_BYTES_MAX = 100000,
    CEL_DEPTH_MAX = 250,                      // expressions within expressions
    CEL_TREE_DEPTH_MAX = 1000,                // the same, with chains such as 1 + 1 + 1 counted by their links
    CEL_TREE_SIZE_MAX = 1 << 17,              // expressions in all, once macros are expanded
    CEL_MEMORY_MAX = 64 << 20,                // bytes of values that one evaluation may make, and as many for counting
    CEL_DEVICE_COST_MAX = 1000000,            // what Kubernetes allows one device selector to cost
    CEL_DEVICE_EXPRESSION_BYTES_MAX = 10240,  // the length that the API allows for one
};

/* How an evaluation ended. */
enum cel_outcome {
    CEL_VALUE,        // there is a result
    CEL_NO_OVERLOAD,  // a function or an operator does not take these types
    CEL_NO_KEY,       // a map does not have the key, or an object the field
    CEL_RANGE,        // an index, a number or a time lies outside what is possible
    CEL_DIVISION,     // by zero
    CEL_FAILED,       // any other error of a function, such as text that is no number
    CEL_COST,         // the cost limit was exceeded
    CEL_MEMORY,       // CEL_MEMORY_MAX was exceeded
};

const char *cel_outcome_name(enum cel_outcome outcome);

/* --- Values --- */

enum cel_kind {
    CEL_ERROR,
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_DURATION,
    CEL_TIMESTAMP,
    CEL_LIST,
    CEL_MAP,
    CEL_TYPE,
    CEL_OPTIONAL,
    CEL_QUANTITY,
    CEL_SEMVER,
    CEL_IP,
    CEL_CIDR,
    CEL_URL,
    CEL_FORMAT,
    CEL_KIND_COUNT,
};

struct cel_text {
    const char *bytes;  // borrowed; not NUL-terminated
    size_t len;
};

/* A value is copied as it is; what it points to lies in the arena that it was made in. */
struct cel_value {
    enum cel_kind kind;
    enum cel_outcome outcome;  // of an error
    union {
        bool boolean;
        int64_t integer;  // also nanoseconds of a duration
        uint64_t uinteger;
        double number;
        struct cel_text text;
        const struct cel_list *list;
        const struct cel_map *map;
        const struct cel_type *type;
        const struct cel_value *optional;  // NULL: none
        const struct cel_quantity *quantity;
        const struct cel_semver *semver;
        const void *other;        // a timestamp, an address, a network, a URL, a format
        const char *explanation;  // of an error
    };
};

struct cel_value cel_null(void);
struct cel_value cel_bool(bool value);
struct cel_value cel_int(int64_t value);
struct cel_value cel_string(const char *text);
struct cel_value cel_string_of(const char *bytes, size_t len);

/* A quantity such as "80Gi", or a semantic version such as "1.2.3"; -EINVAL when the text is none. */
MUST_CHECK int cel_quantity(struct arena *arena, const char *text, struct cel_value *ret_value);
MUST_CHECK int cel_semver(struct arena *arena, const char *text, struct cel_value *ret_value);

/* A list of `count` values, which are copied. */
struct cel_value cel_list(struct arena *arena, const struct cel_value *items, size_t count);

/* An empty map, and an entry of it; the key is a string that is not in the map yet. A map with a default has a value for
 * each key that is asked for, and only its own entries when it is walked over. */
struct cel_map *cel_map_new(struct arena *arena);
void cel_map_put(struct arena *arena, struct cel_map *map, struct cel_value key, struct cel_value value);
void cel_map_set_default(struct cel_map *map, const struct cel_value *value);
struct cel_value cel_map_value(const struct cel_map *map);

/* The map that is the value of `key`, put there by the caller before; NULL when there is none. */
struct cel_map *cel_map_find_map(struct cel_map *map, struct cel_value key);

/* --- Environments --- */

struct cel_env *cel_env_new(void);
void cel_env_free(struct cel_env *env);

/*
 * Declares an object type with a field; more fields are declared by more calls. Types are written as Kubernetes writes
 * them: "string", "list(int)", "map(string, dyn)", "kubernetes.Quantity" or the name of an object type.
 */
void cel_env_field(struct cel_env *env, const char *object_type, const char *field, const char *type);
void cel_env_variable(struct cel_env *env, const char *name, const char *type);

/* --- Programs --- */

struct cel_variable {
    const char *name;
    struct cel_value value;
};

/*
 * Compiles an expression. -EINVAL when it is wrong, and `err` says where and why: "1:8: undeclared reference to 'x'".
 * The environment has to outlive the program.
 */
MUST_CHECK int cel_compile(const struct cel_env *env, const char *expression, struct cel_program **ret_program,
                           struct err *err);
void cel_program_free(struct cel_program *program);

/*
 * Takes an expression apart that is true when all of its parts are: `a && b && c`. The parts are of its text. Returns how
 * many there are; 0 when there is just one, more than `max`, or no expression.
 */
size_t cel_conjuncts(const char *expression, struct cel_text *parts, size_t max);

/* The type of the result, as it is written in cel_env_field(). */
const char *cel_program_type(const struct cel_program *program);

struct cel_result {
    enum cel_outcome outcome;
    struct cel_value value;
    uint64_t cost;
};

/* Evaluates a program. The result and all that is needed on the way lie in `arena`; an error explains itself in
 * `result.value.explanation`. */
struct cel_result cel_eval(const struct cel_program *program, const struct cel_variable *variables, size_t count,
                           uint64_t cost_limit, struct arena *arena);
