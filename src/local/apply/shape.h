/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "local/custom/schema.h"

struct api_kind;
struct arena;
struct type;
struct type_row;

/*
 * How a place of an object is merged: by the schema of a custom kind, or by the types of built-in kinds. A small value that
 * is passed around.
 */
struct shape {
    const struct schema_node *node;
    const struct type *root;     // of a built-in kind
    const struct type_row *row;  // the member that this is, or that holds the list or map whose element this is
    bool is_element;
    bool is_custom;
    bool is_root;
};

/* `schema` is NULL for built-in kinds. */
struct shape shape_of(const struct api_kind *kind, const struct schema *schema);

enum schema_merge shape_merge(const struct shape *shape, yyjson_mut_val *value);

/* What values at a place are; anything where nothing is declared, or where a value has several forms. */
enum shape_type { SHAPE_ANY, SHAPE_NUMBER, SHAPE_TEXT, SHAPE_BOOL, SHAPE_LIST, SHAPE_OBJECT };
enum shape_type shape_type_of(const struct shape *shape);

/* Whether objects at a place of a built-in kind may have a member, which is at `member`; `is_named` is that of
 * shape_member(). */
bool shape_declares(const struct shape *shape, const struct shape *member, bool is_named);

/* A member. `*ret_is_named` tells whether the type names it, unlike a key of a map. */
struct shape shape_member(const struct shape *shape, const char *name, bool *ret_is_named);
struct shape shape_items(const struct shape *shape);

/*
 * The step of a set of fields to an element of a list of SCHEMA_LIST_SET or SCHEMA_LIST_KEYED; NULL when the element lacks
 * a key that has no default.
 */
const char *shape_step(const struct shape *shape, yyjson_mut_val *element, struct arena *arena);
