/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"

struct strbuf;

struct err;

/*
 * Reading JSON from outside. A document is parsed by yyjson; its members are fetched by the functions below, which
 * check type and range and name the member in what they report:
 *
 *     nodes.json:3:14: unexpected character, expected a comma or a closing bracket
 *     nodes[2].limits["nvidia.com/gpu"]: expected a whole number >= 0, found string
 */

/* Documents nested deeper than this are refused, so that code which follows the nesting may recurse. */
enum { JSON_DEPTH_MAX = 512 };

/* Parses `len` bytes; `name` stands for them in messages. The document holds copies of all it needs and is freed with
 * yyjson_doc_free() or _cleanup_(json_doc_freep). Returns 0 or -EINVAL. */
MUST_CHECK int json_parse(const char *text, size_t len, const char *name, yyjson_doc **ret_doc, struct err *err);

/* Reads and parses a file, "-" or a gzip file, of at most `max_bytes`; fails as file_read() and json_parse() do. */
MUST_CHECK int json_read_file(const char *path, size_t max_bytes, yyjson_doc **ret_doc, struct err *err);

/* A document to be written, with an empty object as its root (`ret_root` may be NULL); never fails. It is freed with
 * yyjson_mut_doc_free(). */
yyjson_mut_doc *json_new_object(yyjson_mut_val **ret_root);

static inline void json_doc_freep(yyjson_doc **doc)
{
    yyjson_doc_free(*doc);
}

/*
 * A place in a document: a value and the way to it. Places are made on the stack and point to the place that holds
 * them, which has to live as long; making one allocates nothing. A place without a value (`val` is NULL) stands for a
 * member that is not there; it has no items and no members.
 */
struct json_at {
    yyjson_val *val;
    const struct json_at *parent;  // NULL at the root
    const char *key;               // NULL in an array and at the root
    size_t index;                  // in an array
};

struct json_at json_root(yyjson_doc *doc);

/* Writes the way to `at`, such as "spec.nodes[2].name", cut with "..." when too long; "the document" for the root.
 * Returns `text`. */
const char *json_path(const struct json_at *at, char *text, size_t size);

/* Reports that something is wrong at `at`: "<path>: <what>". Returns `code`. */
int json_fail(const struct json_at *at, struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * The value at a place. Each returns 0, or -EINVAL when the type is another or the value is out of range (whole numbers
 * may be written as 5, 5.0 or 5e0). Strings are borrowed from the document and hold no NUL.
 */
MUST_CHECK int json_str(const struct json_at *at, const char **ret_text, struct err *err);
MUST_CHECK int json_int64(const struct json_at *at, int64_t min, int64_t max, int64_t *ret_value, struct err *err);
MUST_CHECK int json_double(const struct json_at *at, double min, double max, double *ret_value, struct err *err);
MUST_CHECK int json_bool(const struct json_at *at, bool *ret_value, struct err *err);
MUST_CHECK int json_array(const struct json_at *at, struct err *err);
MUST_CHECK int json_object(const struct json_at *at, struct err *err);

enum json_need { JSON_OPTIONAL, JSON_REQUIRED };

/*
 * The member `key` of the object at `at`. Each returns 1 when it is there. An optional member that is missing or null
 * gives 0 and leaves `*ret_value` alone, so that what the caller put there is the default. Otherwise -EINVAL. `key` has
 * to live as long as a place that is returned. An array or object that is missing gives a place without a value.
 */
MUST_CHECK int json_member_str(const struct json_at *at, const char *key, enum json_need need, const char **ret_text,
                               struct err *err);
MUST_CHECK int json_member_int64(const struct json_at *at, const char *key, enum json_need need, int64_t min,
                                 int64_t max, int64_t *ret_value, struct err *err);
MUST_CHECK int json_member_double(const struct json_at *at, const char *key, enum json_need need, double min,
                                  double max, double *ret_value, struct err *err);
MUST_CHECK int json_member_bool(const struct json_at *at, const char *key, enum json_need need, bool *ret_value,
                                struct err *err);
MUST_CHECK int json_member_array(const struct json_at *at, const char *key, enum json_need need,
                                 struct json_at *ret_array, struct err *err);
MUST_CHECK int json_member_object(const struct json_at *at, const char *key, enum json_need need,
                                  struct json_at *ret_object, struct err *err);

/*
 * Walks over the items of an array or the members of an object, in the order of the text. `*item` starts as {0} and is
 * the next place each time it returns true; it does nothing on another type.
 *
 *     for (struct json_at item = {0}; json_next(&nodes, &item);)
 */
bool json_next(const struct json_at *at, struct json_at *item);

/* Appends the text as a JSON string, quotes included; JSON is YAML as well. */
void json_add_string(struct strbuf *text, const char *value);
