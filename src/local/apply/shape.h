/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "local/custom/schema.h"

struct api_kind;
struct arena;

/*
 * How a place of an object is merged: by the schema of a custom kind, or by the tables of built-in kinds, which go by the
 * names of members. A small value that is passed around.
 */
struct shape {
    const struct schema_node *node;
    const char *kind;    // of the object
    const char *name;    // of the member that this is, or that holds the list whose element this is
    const char *parent;  // and of the one around it
    bool is_custom;
    bool is_root;
};

/* `schema` is NULL for built-in kinds. */
struct shape shape_of(const struct api_kind *kind, const struct schema *schema);

enum schema_merge shape_merge(const struct shape *shape, yyjson_mut_val *value);

/* A member. `*ret_is_named` tells whether the type names it, unlike a key of a map. */
struct shape shape_member(const struct shape *shape, const char *name, bool *ret_is_named);
struct shape shape_items(const struct shape *shape);

/*
 * The step of a set of fields to an element of a list of SCHEMA_LIST_SET or SCHEMA_LIST_KEYED; NULL when the element lacks
 * a key that has no default.
 */
const char *shape_step(const struct shape *shape, yyjson_mut_val *element, struct arena *arena);
