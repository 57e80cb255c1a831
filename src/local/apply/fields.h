/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/arena.h"

struct strbuf;

/*
 * A set of fields, as managedFields have them: a tree whose steps are written as in FieldsV1:
 *
 *     f:spec     a member        k:{"name":"app"}  an element by its keys
 *     v:"gpu"    an element by its value           i:0  an element by its place
 *
 * Sets live in an arena and share parts, so that none is changed once it is sorted. NULL is the empty set.
 */
struct fields_child {
    const char *step;
    struct fields *below;
};

struct fields {
    bool is_member;  // the field itself, apart from what is below
    uint32_t count;
    uint32_t cap;
    struct fields_child *children;  // ordered once fields_sort() was called
};

/* --- Making a set --- */

/* Makes the empty set at `*at` a node. */
struct fields *fields_touch(struct fields **at, struct arena *arena);

/* Hangs a set below a step; an empty one is left out. The step is borrowed. */
void fields_add(struct fields **at, const char *step, struct fields *below, struct arena *arena);

/* Orders a set that was made by the two functions above, and joins children that were added twice. Returns it. */
struct fields *fields_sort(struct fields *fields, struct arena *arena);

/* Reads FieldsV1; what is no field is left out. */
struct fields *fields_read(yyjson_mut_val *json, struct arena *arena);
yyjson_mut_val *fields_write(const struct fields *fields, yyjson_mut_doc *doc);

/* --- Sets of sorted sets --- */

struct fields *fields_union(struct fields *a, struct fields *b, struct arena *arena);
struct fields *fields_intersection(struct fields *a, struct fields *b, struct arena *arena);

/* The fields of `a` that are not in `b`. Fields below one that is taken out remain. */
struct fields *fields_difference(struct fields *a, struct fields *b, struct arena *arena);

/* `a` without the step and all below it. */
struct fields *fields_without(struct fields *a, const char *step, struct arena *arena);
/* Only the step and all below it. */
struct fields *fields_only(struct fields *a, const char *step, struct arena *arena);

bool fields_is_empty(const struct fields *fields);
bool fields_is_equal(const struct fields *a, const struct fields *b);

/* What is below a step; NULL when there is nothing. */
struct fields *fields_below(const struct fields *fields, const char *step);

/* Calls `visit` with the way to each field, as messages show it: .spec.containers[name="app"].image */
typedef void (*fields_visit_fn)(void *context, const char *path);
void fields_each(const struct fields *fields, fields_visit_fn visit, void *context);
