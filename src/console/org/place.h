/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"
#include "console/identity/access.h"

struct err;
struct json_at;
struct request;

/*
 * A scope of the organisation that an asset or a policy belongs to: the tenant, the cluster, a department or a project. What
 * belongs to a scope is there for everything below it.
 */
struct place {
    enum scope scope;
    char department[UUID_TEXT_MAX];  // of departments and projects
    char project[UUID_TEXT_MAX];     // of projects
    char name[256];                  // of the department or project
};

enum { PLACE_KEY_MAX = UUID_TEXT_MAX + 16 };

/* From the members scope, clusterId, departmentId and projectId. -EINVAL when there is no such place. */
MUST_CHECK int place_read(struct request *request, const struct json_at *meta, struct place *ret_place,
                          struct err *err);

/*
 * From the parameters of a query with the same names. `ret_is_given` says whether an identifier was given; without one,
 * `scope` alone gives the scope. -EINVAL when there is no such place.
 */
struct place_query {
    bool has_scope;  // the parameter `scope`
    bool has_place;  // an identifier
    enum scope scope;
    struct place place;  // the narrowest of the identifiers
};
MUST_CHECK int place_query(struct request *request, struct place_query *ret_query, struct err *err);

/* The place of a project by its identifier; -EINVAL when there is none. */
MUST_CHECK int place_of_project(struct request *request, const char *id, struct place *ret_place, struct err *err);

/* The members of an answer; and how a place is kept and read again. */
void place_put(const struct request *request, yyjson_mut_val *to, const struct place *place);
void place_save(const struct request *request, yyjson_mut_val *to, const struct place *place);
void place_load(yyjson_val *from, struct place *ret_place);

/* "department/123": unique for each place. Returns `key`. */
const char *place_key(const struct place *place, char key[static PLACE_KEY_MAX]);

/* Whether `inner` is `outer` or below it. */
bool place_holds(const struct place *outer, const struct place *inner);

/* Whether the action is allowed in the whole place; and whether what belongs to it may be seen: also from below. */
bool place_allows(const struct access *access, enum resource_type type, enum action action, const struct place *place);
MUST_CHECK int place_is_visible(const struct request *request, enum resource_type type, const struct place *place,
                                bool *ret_visible, struct err *err);
