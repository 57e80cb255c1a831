/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/time.h"
#include "base/vec.h"

struct arena;
struct fields;

/* metadata.managedFields: who owns which fields. All texts and sets live in an arena. */
struct manager {
    const char *name;
    const char *api_version;
    const char *subresource;  // "" for the object itself
    const char *time;         // "" without one
    bool is_applier;          // operation Apply; otherwise Update
    struct fields *fields;
};

struct managers VEC_OF(struct manager);

/* Above this many that update, the oldest become one that is called ancient-changes. */
enum { MANAGERS_UPDATING_MAX = 10, MANAGERS_MAX = 1000 };

/* Reads the managers of an object. Entries that are no FieldsV1 are left out. */
void managers_read(yyjson_mut_val *object, struct managers *managers, struct arena *arena);

/* Writes them into the object's metadata, in their order, those without fields left out. */
void managers_write(const struct managers *managers, yyjson_mut_doc *doc);

/* The manager with the same identity: appliers by name and subresource, the others by their version as well. NULL when
 * there is none. */
struct manager *managers_find(struct managers *managers, const struct manager *like);

/* Joins the oldest of too many that update. */
void managers_cap(struct managers *managers, struct arena *arena);

/* Whether both have the same fields for the same managers; times do not count. */
bool managers_is_equal(struct managers *a, struct managers *b);

/* The time as managedFields have it. */
const char *managers_time(nsec_t time, struct arena *arena);
