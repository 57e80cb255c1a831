/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "console/data/db.h"

/* What a back end does. `self` is its connection. */
struct db_backend {
    int (*open)(const char *url, enum db_mode mode, void **ret_self, struct err *err);
    void (*close)(void *self);
    int (*query)(void *self, const struct db_call *call, db_row_fn fn, void *arg, int64_t *ret_changed,
                 struct err *err);
    /* Before a transaction, and before a statement outside of one: a lost connection is made again here. */
    int (*ready)(void *self, struct err *err);
    /* Begins a transaction that no other writer's overlaps. */
    int (*begin)(void *self, struct err *err);
    int (*lead)(void *self, bool *ret_leads, struct err *err);
};

extern const struct db_backend db_sqlite;
extern const struct db_backend db_postgres;

struct db {
    const struct db_backend *backend;
    void *self;
    bool is_begun;
};

/* Takes the steps that the database has not seen; or, for a reader, looks that it has seen them all. */
MUST_CHECK int db_migrate(struct db *db, enum db_mode mode, struct err *err);
