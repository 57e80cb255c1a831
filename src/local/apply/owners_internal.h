/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "local/apply/apply.h"
#include "local/apply/managers.h"
#include "local/apply/tree.h"

struct fields;

/* One request: the managers of the object before it, and those that it leaves. Everything lives in the arena. */
struct owners {
    const struct apply_request *request;
    struct shape shape;
    struct arena arena;
    struct managers before;
    struct managers managers;
};

void owners_init(struct owners *owners, const struct apply_request *request);
void owners_done(struct owners *owners);

/* Reads the managers of an object. */
void owners_read(struct owners *owners, yyjson_mut_val *object);

/* A set without what has no owner: the system's members of metadata, and what the request cannot write. */
struct fields *owners_filter(struct owners *owners, struct fields *fields);

/* The fields that differ, filtered so. */
struct tree_changes owners_compare(struct owners *owners, yyjson_mut_val *before, yyjson_mut_val *after);

/* Takes changed and removed fields from all managers but `self`, which may be NULL. */
void owners_yield(struct owners *owners, const struct manager *self, const struct tree_changes *changes);

/* Adds fields to the manager of an update, now. */
void owners_give(struct owners *owners, const char *name, const char *subresource, struct fields *fields);

/* Conflicts with managers other than `self`: fields of theirs that are changed. False when there are none. */
bool owners_conflict(struct owners *owners, const struct manager *self, const struct tree_changes *changes,
                     struct fields *allowed, struct apply_conflicts *conflicts);

/* The fields of the annotation that kubectl keeps that still have the value that it gave them. */
struct fields *owners_last_applied(struct owners *owners, yyjson_mut_val *live);

/* Updates that annotation, when there is one, to what is applied. */
void owners_set_last_applied(yyjson_mut_doc *doc, yyjson_mut_val *config);
