/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * The console's relational database: a file of SQLite, or a PostgreSQL server. Both understand the same statements, whose
 * parameters are $1, $2, ...; values are whole numbers and texts.
 *
 * A file has one writer: whoever opens it for writing holds it until it is closed, and a second one is refused with -EBUSY.
 * PostgreSQL has as many as there are consoles, and their transactions come one after the other, as those of a file do: each
 * sees all that the one before it has committed. A lost connection is made again when the next statement comes.
 *
 * Calls block, for a bounded time. Failures: -EEXIST for a row that a UNIQUE constraint refuses; -ESHUTDOWN when the database
 * cannot be reached or is locked, of which REST makes a 503; -EIO otherwise.
 */
struct db;

enum db_type { DB_NULL, DB_NUMBER, DB_TEXT };

struct db_value {
    enum db_type type;
    int64_t number;
    const char *text;  // borrowed
};

#define db_number(n) ((struct db_value){.type = DB_NUMBER, .number = (n)})
#define db_text(t) ((struct db_value){.type = DB_TEXT, .text = (t)})

enum db_mode { DB_WRITE, DB_READ };

/*
 * `url` is "postgresql://..." or "postgres://...", or else the path of a file, which is made where it is missing. Brings the
 * tables to the form of this release, unless it is opened for reading; refuses those of a newer one with -ENOTSUP.
 */
MUST_CHECK int db_open(const char *url, enum db_mode mode, struct db **ret_db, struct err *err);
void db_close(struct db *db);
void db_closep(struct db **db);

/* A statement. `values` has `count` parameters. */
struct db_call {
    const char *sql;
    const struct db_value *values;
    size_t count;
};

/* The first value stands for none, so that a call without values is a list, too. */
#define DB_VALUES(...) ((const struct db_value[]){{.type = DB_NULL}, __VA_ARGS__})
#define DB_CALL(the_sql, ...)                               \
    ((struct db_call){.sql = (the_sql),                     \
                      .values = DB_VALUES(__VA_ARGS__) + 1, \
                      .count = sizeof DB_VALUES(__VA_ARGS__) / sizeof(struct db_value) - 1})

/* Runs a statement. `ret_changed` is the number of rows that it has changed, and may be NULL. */
MUST_CHECK int db_run(struct db *db, struct db_call call, int64_t *ret_changed, struct err *err);

/* Calls `fn` for each row of the result; what it returns, when negative, ends the walk and is returned. */
typedef int (*db_row_fn)(void *arg, const struct db_value *columns, size_t count);
MUST_CHECK int db_query(struct db *db, struct db_call call, db_row_fn fn, void *arg, struct err *err);

/* The first column of the first row: a number, or a text to be freed. Both return -ENOENT when there is no row. */
MUST_CHECK int db_query_number(struct db *db, struct db_call call, int64_t *ret_number, struct err *err);
MUST_CHECK int db_query_text(struct db *db, struct db_call call, char **ret_text, struct err *err);

/*
 * A transaction: what is between is done wholly or not at all, and is durable once db_commit() has returned 0. A statement
 * that fails leaves nothing to be committed: db_rollback() comes next. db_rollback() without a transaction does nothing.
 */
MUST_CHECK int db_begin(struct db *db, struct err *err);
MUST_CHECK int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);
bool db_in_transaction(const struct db *db);

/*
 * Whether this process is the one, among all that have the database open for writing, that acts on other systems. The first
 * that asks is, until it closes the database or loses its connection; then the next one that asks. Not within a transaction.
 */
MUST_CHECK int db_lead(struct db *db, bool *ret_leads, struct err *err);

/* How many steps of the tables' history this release knows, and how many the database has taken. */
int64_t db_schema_known(void);
MUST_CHECK int db_schema_taken(struct db *db, int64_t *ret_taken, struct err *err);
