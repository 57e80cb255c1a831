/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/macros.h"
#include "model/delta.h"
#include "text/json.h"

struct err;

/*
 * Members of a JSON object into a struct, by a table. A member that is missing or null leaves its place in the struct
 * alone, so that what the caller put there is the default; a missing object or array gives a place without a value.
 */
enum field_type {
    FIELD_STR,       // const char *, borrowed from the document
    FIELD_BOOL,      // bool
    FIELD_INT32,     // int32_t
    FIELD_COUNT,     // int32_t, 0 or more
    FIELD_INT64,     // int64_t
    FIELD_DOUBLE,    // double
    FIELD_OBJECT,    // struct json_at
    FIELD_ARRAY,     // struct json_at
    FIELD_TIME,      // nsec_t: "2026-03-01T12:00:00Z"
    FIELD_DURATION,  // nsec_t: "1h30m"
};

struct field {
    const char *key;
    size_t offset;
    enum field_type type;
    bool is_required;
};

#define FIELD(struct_name, member, field_key, field_type) \
    {.key = (field_key), .offset = offsetof(struct struct_name, member), .type = (field_type)}
#define FIELD_NEEDED(struct_name, member, field_key, field_type) \
    {.key = (field_key), .offset = offsetof(struct struct_name, member), .type = (field_type), .is_required = true}

MUST_CHECK int fields_decode(const struct json_at *at, const struct field *fields, size_t count, void *into,
                             struct err *err);

/* Reads the fields of `table` into `*into`. */
#define FIELDS_DECODE(at, table, into, err) fields_decode((at), (table), ARRAY_LEN(table), (into), (err))

/* Hands a failure on; the only macro here that hides a return. */
#define TRY(call)           \
    do {                    \
        int try_r = (call); \
        if (try_r < 0)      \
            return try_r;   \
    } while (0)

/* Items of an array or members of an object; 0 where there is nothing. */
static inline size_t json_len(const struct json_at *at)
{
    return yyjson_is_ctn(at->val) ? yyjson_get_len(at->val) : 0;
}

/* The member `key` as a place, without a value when it is not there or `at` is no object. */
struct json_at json_member(const struct json_at *at, const char *key);

/*
 * The member `key` as a string, NULL when it is not there or is none. For labels, annotations and what may be anything.
 */
const char *json_peek_str(const struct json_at *at, const char *key);

/* The member `key` as a whole number, `fallback` when it is not there or is none. */
int64_t json_peek_int(const struct json_at *at, const char *key, int64_t fallback);

/* Labels and annotations: every value has to be a string. */
MUST_CHECK int pairs_decode(struct arena *arena, const struct json_at *at, const struct str_pair **ret_pairs,
                            size_t *ret_count, struct err *err);

/* An array of strings. */
MUST_CHECK int strings_decode(struct arena *arena, const struct json_at *at, const char *const **ret_strings,
                              size_t *ret_count, struct err *err);

/* Text made by printf in the arena. */
const char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number as JSON or a quantity would write it: the shortest text that reads as the same number. Returns `text`. */
enum { NUMBER_TEXT_MAX = 32 };
const char *number_format(yyjson_val *number, char text[static NUMBER_TEXT_MAX]);

/* Names and values may hold anything, and a message is one line: what would break or colour it becomes '?'. */
void text_flatten(char *text);

/* A whole number that is all of `text`, as in annotations. */
bool int_parse(const char *text, int64_t min, int64_t max, int64_t *ret_value);
