/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;

/*
 * Reading YAML from outside as JSON documents, so that whatever reads JSON (text/json.h) reads YAML as well.
 *
 * Plain scalars mean what kubectl takes them for (YAML 1.1 as Go's library reads it): yes, no, on and off are booleans,
 * 010 is eight, ~ is null, what is quoted is a string. Anchors, aliases and merge keys are resolved. A key that stands
 * twice in a mapping is refused, and so is nesting beyond JSON_DEPTH_MAX and a document whose aliases make more than
 * YAML_ALIAS_MAX of it. Messages start with "name:line:column: ".
 */

/* Bytes of values and strings that all aliases of one document may add to it. */
enum { YAML_ALIAS_MAX = 16 << 20 };

/* A place in the text, counted from 1; {0, 0} where it is not known. */
struct yaml_mark {
    uint32_t line;
    uint32_t column;
};

struct yaml_doc {
    yyjson_doc *json;
    struct yaml_mark *marks;  // of each value, in the order in which the document holds them
    uint32_t mark_count;
};

struct yaml_docs VEC_OF(struct yaml_doc);

/*
 * Parses `len` bytes, which `name` stands for in messages, and appends the documents in them to `docs`; empty ones are
 * left out. Returns 0, or -EINVAL with `docs` as it was.
 */
MUST_CHECK int yaml_parse(const char *text, size_t len, const char *name, struct yaml_docs *docs, struct err *err);

/* The same for those who decide themselves about keys that stand twice in a mapping: `fn` is told of each, from the second one
 * on, and the document has all of them. */
typedef void (*yaml_twice_fn)(void *arg, const char *key, struct yaml_mark mark);
MUST_CHECK int yaml_parse_twice(const char *text, size_t len, const char *name, yaml_twice_fn fn, void *arg,
                                struct yaml_docs *docs, struct err *err);

/* Frees the documents; the list is empty and usable after it. */
void yaml_docs_done(struct yaml_docs *docs);

/* Where the value stands in the text. What an alias or a merge key made stands where the alias is. */
struct yaml_mark yaml_where(const struct yaml_doc *doc, const yyjson_val *val);

/*
 * Writes a JSON value as a YAML document that yaml_parse() and kubectl read as the same value: block style, strings in quotes
 * only where they would be taken for something else. Write errors are left in `out` for ferror().
 */
void yaml_write(yyjson_val *value, FILE *out);
