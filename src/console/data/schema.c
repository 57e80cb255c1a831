/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The tables, one step after the other: a database that is opened by a newer release goes through the steps that it has not
 * seen, each in a transaction of its own. Released steps are never changed; new ones are added at the end.
 */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/macros.h"
#include "console/data/db_internal.h"

enum { STEP_STATEMENTS_MAX = 8 };

/* Both back ends know BIGINT and TEXT. Times are nanoseconds since 1970. */
static const char *const steps[][STEP_STATEMENTS_MAX] = {
    {
        /* Things with a name that is unique within its kind and place, as JSON: users, projects, access rules, ... */
        "CREATE TABLE items(kind TEXT NOT NULL, id TEXT NOT NULL, place TEXT NOT NULL, name TEXT NOT NULL,"
        " doc TEXT NOT NULL, PRIMARY KEY(kind, id), UNIQUE(kind, place, name))",
        /* How a subject proves who it is; never the secret itself. */
        "CREATE TABLE secrets(subject TEXT PRIMARY KEY, hash TEXT NOT NULL, failures BIGINT NOT NULL,"
        " locked_until BIGINT NOT NULL, must_change BIGINT NOT NULL)",
        /* Access tokens, refresh tokens and sessions that are valid; revoking one removes its row. */
        "CREATE TABLE grants(id TEXT PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, expires BIGINT NOT NULL,"
        " csrf TEXT NOT NULL, credential TEXT NOT NULL)",
        "CREATE INDEX grants_of_subject ON grants(subject)",
        "CREATE TABLE audit(seq BIGINT PRIMARY KEY, time BIGINT NOT NULL, entry TEXT NOT NULL, hash TEXT NOT NULL)",
    },
    {
        /* Secrets of others that are used again, encrypted with a key that is kept outside of the database. */
        "CREATE TABLE sealed(owner TEXT PRIMARY KEY, key_id BIGINT NOT NULL, box TEXT NOT NULL)",
    },
    {
        /* The newest changes in their order, for all consoles of the database. */
        "CREATE TABLE changes(seq BIGINT PRIMARY KEY, doc TEXT NOT NULL)",
        "CREATE INDEX audit_of_time ON audit(time)",
        /* When a session was used last. */
        "ALTER TABLE grants ADD COLUMN used BIGINT NOT NULL DEFAULT 0",
        "UPDATE grants SET used = expires - 43200000000000 WHERE kind = 'session'",
    },
    {
        /* What is to be sent to notification channels, and when. */
        "CREATE TABLE notices(seq BIGINT PRIMARY KEY, channel TEXT NOT NULL, notice TEXT NOT NULL,"
        " tries BIGINT NOT NULL, due BIGINT NOT NULL)",
    },
};

int64_t db_schema_known(void)
{
    return (int64_t)ARRAY_LEN(steps);
}

int db_schema_taken(struct db *db, int64_t *ret_taken, struct err *err)
{
    int r = db_query_number(db, DB_CALL("SELECT CAST(value AS BIGINT) FROM meta WHERE key = $1", db_text("schema")),
                            ret_taken, err);

    if (r == -ENOENT)
        return err_set(err, -EBADMSG, "this is not the database of a console: its table 'meta' has no schema");
    return r;
}

/* Another console may have taken the step since it was looked for. */
static int take_step(struct db *db, size_t step, struct err *err)
{
    char number[24];
    int64_t taken = 0;
    int r = db_begin(db, err);

    if (r < 0)
        return r;
    r = db_schema_taken(db, &taken, err);
    if (r == 0 && (size_t)taken > step) {
        db_rollback(db);
        return 0;
    }
    for (size_t i = 0; r == 0 && i < STEP_STATEMENTS_MAX && steps[step][i]; i++)
        r = db_run(db, (struct db_call){.sql = steps[step][i]}, NULL, err);
    (void)snprintf(number, sizeof number, "%zu", step + 1);
    if (r == 0)
        r = db_run(db, DB_CALL("UPDATE meta SET value = $1 WHERE key = $2", db_text(number), db_text("schema")), NULL,
                   err);
    if (r == 0)
        return db_commit(db, err);
    db_rollback(db);
    return err_wrap(err, r, "updating the tables to version %zu", step + 1);
}

static int make_meta(struct db *db, struct err *err)
{
    int r = db_begin(db, err);

    if (r < 0)
        return r;
    r = db_run(db, DB_CALL("CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)"), NULL, err);
    if (r == 0)
        r = db_run(db, DB_CALL("INSERT INTO meta VALUES('schema', '0') ON CONFLICT DO NOTHING"), NULL, err);
    if (r == 0)
        return db_commit(db, err);
    db_rollback(db);
    return r;
}

int db_migrate(struct db *db, enum db_mode mode, struct err *err)
{
    int64_t taken = 0;
    int r = mode == DB_WRITE ? make_meta(db, err) : 0;

    if (r == 0)
        r = db_schema_taken(db, &taken, err);
    if (r < 0)
        return r;
    if (taken < 0 || taken > db_schema_known())
        return err_set(
            err, -ENOTSUP,
            "the database was written by a newer release (version %lld of the tables, this release knows %lld)",
            (long long)taken, (long long)db_schema_known());
    if (mode == DB_READ && taken < db_schema_known())
        return err_set(err, -ENOTSUP, "the database is of an older release: start the console once, which updates it");
    for (size_t step = (size_t)taken; step < ARRAY_LEN(steps); step++) {
        r = take_step(db, step, err);
        if (r < 0)
            return r;
    }
    return 0;
}
