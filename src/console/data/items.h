/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct db;
struct err;

/*
 * Things of the organisation: a kind, an identifier, a name that is unique within its kind and place, and a JSON object with
 * the rest. The kinds and what their place is:
 */
#define ITEM_USER "user"                        // "": names are unique
#define ITEM_SERVICE_ACCOUNT "service-account"  // ""
#define ITEM_ACCESS_KEY "access-key"            // the user whose key it is
#define ITEM_RULE "access-rule"                 // the subject; "group/" and the name of a group
#define ITEM_ROLE "role"                        // ""
#define ITEM_IDP "identity-provider"            // ""; the identifier is the name
#define ITEM_USER_LINK "user-link"    // the identity provider; the name is its subject, the identifier the user's
#define ITEM_DEPARTMENT "department"  // the cluster
#define ITEM_PROJECT "project"        // the cluster
#define ITEM_WORKLOAD "workload"      // the project
#define ITEM_WORKLOAD_TEMPLATE "template:workload"  // the scope, as place_key() writes it
#define ITEM_WORKLOAD_TYPE "workload-type"          // ""; those types whose defaults somebody has changed

struct item_key {
    const char *kind;
    const char *id;
    const char *place;
    const char *name;
};

/* -EEXIST when the name is taken. The item is copied. */
MUST_CHECK int item_insert(struct db *db, const struct item_key *key, const yyjson_mut_val *item, struct err *err);

/* -ENOENT when there is none, with a text for people. */
MUST_CHECK int item_update(struct db *db, const char *kind, const char *id, const yyjson_mut_val *item,
                           struct err *err);
MUST_CHECK int item_delete(struct db *db, const char *kind, const char *id, struct err *err);

/* Changes the name, too; -EEXIST when it is taken. */
MUST_CHECK int item_replace(struct db *db, const struct item_key *key, const yyjson_mut_val *item, struct err *err);

/* The next number of a sequence that the database keeps; the first one is `first`. */
MUST_CHECK int next_number(struct db *db, const char *sequence, int64_t first, int64_t *ret_number, struct err *err);

/* To be freed with yyjson_doc_free(); -ENOENT when there is none. */
MUST_CHECK int item_get(struct db *db, const char *kind, const char *id, yyjson_doc **ret_doc, struct err *err);
MUST_CHECK int item_find(struct db *db, const char *kind, const char *place, const char *name, yyjson_doc **ret_doc,
                         struct err *err);

/* Calls `fn` with each item of a kind, in the order of their names; those of one place, or all when it is NULL. */
typedef int (*item_fn)(void *arg, yyjson_val *item);
MUST_CHECK int items_each(struct db *db, const char *kind, const char *place, item_fn fn, void *arg, struct err *err);
