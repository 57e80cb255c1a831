/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"
#include "local/apply/shape.h"

struct arena;
struct err;
struct fields;

/* Objects and sets of fields. All sets are sorted, and live in the arena. */

/* The fields of an object that a manager applies. */
struct fields *tree_fields(const struct shape *shape, yyjson_mut_val *value, struct arena *arena);

/* The fields in which two objects differ. Either may be NULL. */
struct tree_changes {
    struct fields *added;
    struct fields *modified;
    struct fields *removed;
};

struct tree_changes tree_compare(const struct shape *shape, yyjson_mut_val *before, yyjson_mut_val *after,
                                 struct arena *arena);

/* `live` with all that `config` has, made in `doc`. */
yyjson_mut_val *tree_merge(const struct shape *shape, yyjson_mut_val *live, yyjson_mut_val *config, yyjson_mut_doc *doc,
                           struct arena *arena);

/* A copy of `value` without the fields of a set, made in `doc`. */
yyjson_mut_val *tree_without(const struct shape *shape, yyjson_mut_val *value, const struct fields *fields,
                             yyjson_mut_doc *doc, struct arena *arena);

/* The set with the members of types on the way to its fields: with .spec, when it has .spec.replicas. */
struct fields *tree_with_parents(const struct shape *shape, struct fields *fields, struct arena *arena);

/* Whether all elements of lists can be told apart, unless they may be repeated, and all members are declared. Returns 0, or -EINVAL: ".spec.ports:
 * duplicate entries for key [port=80]". */
MUST_CHECK int tree_check(const struct shape *shape, yyjson_mut_val *value, bool allows_repeated, struct err *err);
