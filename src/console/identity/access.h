/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/vec.h"
#include "console/identity/held_role.h"
#include "console/identity/secrets.h"

struct db;
struct err;

/* The scopes of access rules, from the widest. */
enum scope { SCOPE_TENANT, SCOPE_CLUSTER, SCOPE_DEPARTMENT, SCOPE_PROJECT, _SCOPE_MAX };

const char *scope_name(enum scope scope);
bool scope_parse(const char *text, enum scope *ret_scope);

/* A role within a scope. There is one tenant and one cluster: both reach everything. */
struct access_grant {
    int64_t role;
    uint8_t actions[_RESOURCE_TYPE_MAX];  // that the role allows
    enum scope scope;
    char scope_id[UUID_TEXT_MAX];
};

/* All that one subject may do. All zeros: nothing. */
struct access VEC_OF(struct access_grant);

MUST_CHECK int access_load(struct access *access, struct db *db, const char *subject, struct err *err);
/* And what the groups of a user, by its item, may do. */
MUST_CHECK int access_load_groups(struct access *access, struct db *db, yyjson_val *user, struct err *err);

/* The place of a group's rules: no user or service account has such an identifier. */
enum { GROUP_PLACE_MAX = 264 };
#define GROUP_PLACE "group/"

void access_done(struct access *access);

/* Whether it allows the action anywhere; or everywhere. */
bool access_has(const struct access *access, enum resource_type type, enum action action);
bool access_has_everywhere(const struct access *access, enum resource_type type, enum action action);

/* Whether it allows the action in a department, or in a project of a department; `project` may be NULL. */
bool access_covers(const struct access *access, enum resource_type type, enum action action, const char *department,
                   const char *project);

/* Whether somebody with this access may give the role in a scope: each of the role's permissions is covered there. The
 * department is that of the scope; both are NULL for the tenant and the cluster. */
bool access_may_give(const struct access *access, const uint8_t actions_given[static _RESOURCE_TYPE_MAX],
                     const char *department, const char *project);
