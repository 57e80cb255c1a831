/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct field;
struct field_faults;
struct problems;

/*
 * The structural schema of a custom kind: compiled once from the openAPIV3Schema of a CustomResourceDefinition, then
 * applied to every object in the order in which the API server does it:
 *
 *     body -> schema_prune() -> schema_default() -> (admission) -> schema_validate() -> stored
 *
 * A schema comes from outside, so its size and depth are limited. It is immutable once compiled, and pure.
 */
enum { SCHEMA_NODES_MAX = 50000, SCHEMA_DEPTH_MAX = 100 };

struct schema;

/*
 * Compiles a schema; everything that makes it no structural schema is added to `problems`, below `field`. NULL when there
 * was any problem. Nothing is borrowed from `openapi`.
 */
struct schema *schema_compile(yyjson_mut_val *openapi, const struct field *field, struct problems *problems);
void schema_free(struct schema *schema);

static inline void schema_freep(struct schema **schema)
{
    schema_free(*schema);
}

/* Drops all members that the schema does not specify and lists them as `unknown field "spec.replcas"`. `faults` may be
 * NULL. apiVersion, kind and metadata of the object, and of resources embedded in it, are kept. Of members with one name the
 * last one is kept. */
void schema_prune(const struct schema *schema, yyjson_mut_doc *doc, struct field_faults *faults);

/* Fills in the defaults, and drops nulls that a default replaces. */
void schema_default(const struct schema *schema, yyjson_mut_doc *doc);
bool schema_has_defaults(const struct schema *schema);

/*
 * Lists what is wrong with an object that has its defaults. `old` is the object that is replaced, NULL for a new one:
 * transition rules compare the two. A rule in CEL that is not known here refuses the object and is named.
 */
void schema_validate(const struct schema *schema, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems);

/* The same for a write of the status: whatever else is wrong with the object does not stand in its way. Problems name
 * members as parts of the status, and their fields as parts of the object. */
void schema_validate_status(const struct schema *schema, yyjson_mut_doc *doc, yyjson_mut_doc *old,
                            struct problems *problems);

/*
 * How server-side apply sees a value: as a whole, member by member, or as elements that are told apart by keys or by
 * themselves. `struct schema_node` is one place of a schema; NULL stands for a place that the schema does not specify,
 * where objects are merged and lists are whole.
 */
struct schema_node;

enum schema_merge {
    SCHEMA_LEAF,        // a plain value
    SCHEMA_ATOMIC,      // an object or a list that has one owner
    SCHEMA_STRUCT,      // an object, member by member
    SCHEMA_MAP,         // likewise, with keys that the schema does not name
    SCHEMA_LIST_SET,    // elements are plain values, each once
    SCHEMA_LIST_KEYED,  // elements are objects, each with other keys
};

const struct schema_node *schema_root(const struct schema *schema);
/* Whether an object there has the members that are named, and no others. */
bool schema_is_struct(const struct schema_node *node);
enum schema_merge schema_merge_of(const struct schema_node *node, yyjson_mut_val *value);

/* The place of a member. `*ret_is_named` tells whether the schema names it; a member that is not specified gives NULL. */
const struct schema_node *schema_member(const struct schema_node *node, const char *name, bool *ret_is_named);
const struct schema_node *schema_items(const struct schema_node *node);

/* The keys of the elements of SCHEMA_LIST_KEYED, in the order in which the schema lists them; NULL past the last. */
const char *schema_key_at(const struct schema_node *node, size_t index);

/* The default of a place; NULL without one. Borrowed from the schema, and never changed. */
yyjson_mut_val *schema_default_of(const struct schema_node *node);

/* What the schema says that values at this place are. */
enum schema_form { SCHEMA_IS_ANY, SCHEMA_IS_NUMBER, SCHEMA_IS_TEXT, SCHEMA_IS_BOOL, SCHEMA_IS_LIST, SCHEMA_IS_OBJECT };
enum schema_form schema_type_of(const struct schema_node *node);

/* Whether values at this place are neither objects nor lists. */
bool schema_is_plain(const struct schema_node *node);

/* Whether objects at this place may have members that the schema does not specify. */
bool schema_preserves_unknown(const struct schema_node *node);
