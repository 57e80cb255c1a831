/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>
#include <yyjson.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "text/yaml.h"

struct err;

/* What a scalar means. */
enum yaml_scalar_type {
    YAML_SCALAR_STRING,
    YAML_SCALAR_NULL,
    YAML_SCALAR_BOOL,
    YAML_SCALAR_INT,
    YAML_SCALAR_UINT,  // beyond what a signed number holds
    YAML_SCALAR_REAL,
    YAML_SCALAR_NOT_FINITE,  // .inf and .nan, which JSON does not have
    YAML_SCALAR_MERGE,       // the key <<
};

struct yaml_scalar {
    enum yaml_scalar_type type;
    bool is_true;
    int64_t integer;
    uint64_t natural;
    double real;
};

/* Resolves a plain scalar without a tag; `text` ends with a NUL. */
struct yaml_scalar yaml_scalar_resolve(const char *text, size_t len);

/* A sequence or mapping that is not closed yet. */
struct yaml_frame {
    yyjson_mut_val *container;
    yyjson_mut_val *key;  // of a mapping: waits for its value
    bool is_map;
    bool is_merging;      // the key was <<: what comes next is merged into the mapping
    bool is_detached;     // the container itself is what a << merges
    uint32_t mark_count;  // when it was opened
    struct yaml_mark merge_mark;
    struct map64 keys;  // hash -> key value, when there are many
    VEC(yyjson_mut_val *) merged;
};

struct yaml_builder {
    yaml_parser_t parser;
    const char *text;
    size_t len;
    const char *name;
    struct err *err;
    yaml_twice_fn on_twice;  // NULL: a key that stands twice is refused
    void *twice_arg;

    /* Of the document that is being built. */
    yyjson_mut_doc *doc;
    yyjson_mut_val *root;
    VEC(struct yaml_frame) frames;
    VEC(struct yaml_mark) marks;
    struct intern anchor_names;
    VEC(yyjson_mut_val *) anchors;  // by id of the name
    size_t alias_bytes;
};

static inline struct yaml_mark yaml_mark_of(yaml_mark_t mark)
{
    return (struct yaml_mark){(uint32_t)(mark.line + 1), (uint32_t)(mark.column + 1)};
}

/* Reports what is wrong at the mark. Returns -EINVAL. */
int yaml_fail(struct yaml_builder *b, struct yaml_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Starts a document, takes in one event of it, and frees it. */
void yaml_build_init(struct yaml_builder *b);
int yaml_build(struct yaml_builder *b, const yaml_event_t *event);
void yaml_build_done(struct yaml_builder *b);
