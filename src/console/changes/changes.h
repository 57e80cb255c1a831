/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "console/identity/access.h"

struct db;
struct err;

/*
 * What has changed, as rows of the database with numbers without gaps. A row is written in the transaction of its change, so
 * that all consoles of a database see the same changes in the same order. The newest CHANGES_KEPT are kept.
 */
enum { CHANGES_KEPT = 2048 };

struct change_row {
    const char *type;  // "project", "user", ...; "" for what is only followed by the cluster
    const char *action;
    const char *id;
    const char *name;
    const char *subject;  // who has done it, as in the audit log; NULL: it has no entry there
    enum scope scope;     // that the thing belongs to
    const char *department;
    const char *project;
    const char *owner;      // who alone may see it; NULL: it is not private
    const char *sync_kind;  // an item that the cluster has to follow, with `id`; NULL: none
    bool syncs_all;         // all items follow from it
};

/* In the transaction that is under way. `from` names the process. */
MUST_CHECK int change_add(struct db *db, const char *from, const struct change_row *row, struct err *err);

/* The number of the newest; 0: there is none. */
MUST_CHECK int changes_last(struct db *db, int64_t *ret_seq, struct err *err);

/* Calls `fn` for those after a number, up to a count. Members of `doc` are those of the row, with "time" and "from". */
typedef int (*change_fn)(void *arg, int64_t seq, yyjson_val *doc);
MUST_CHECK int changes_each(struct db *db, int64_t after, int64_t count, change_fn fn, void *arg, struct err *err);
