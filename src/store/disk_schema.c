/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables, one step after the other: a store that is opened by a newer release goes through the steps that it has not
 * seen. The number of steps taken is SQLite's user_version.
 */
#include <errno.h>

#include "base/err.h"
#include "store/disk_internal.h"

/* "Must": tells a store from any other database, in the file's header. */
enum { APPLICATION_ID = 0x4d757374 };

static const char *const steps[] = {
    /* Rows have kilobytes, for which tables with a rowid are best. Versions of removed objects leave no row, so that the
     * last version is kept by itself. */
    ("CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
     "CREATE TABLE kinds(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
     "CREATE TABLE objects(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL REFERENCES kinds, ns TEXT NOT NULL,"
     " name TEXT NOT NULL, version INTEGER NOT NULL, expires INTEGER NOT NULL, body BLOB NOT NULL,"
     " UNIQUE(kind, ns, name));"
     "INSERT INTO meta VALUES('version', 0);"),
};

static int read_number(sqlite3 *db, const char *sql, int64_t *ret_number, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    int r = result == SQLITE_ROW ? 0 : disk_fail(err, db, result, "reading its form");
    if (r == 0)
        *ret_number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return r;
}

static int take_step(sqlite3 *db, size_t step, struct err *err)
{
    char mark[96];
    int r = disk_run(db, "BEGIN IMMEDIATE", "changing the tables", err);

    if (r < 0)
        return r;
    sqlite3_snprintf(sizeof mark, mark, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", APPLICATION_ID,
                     (int)step + 1);
    r = disk_run(db, steps[step], "changing the tables", err);
    if (r == 0)
        r = disk_run(db, mark, "changing the tables", err);
    if (r < 0)
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int disk_migrate(sqlite3 *db, struct err *err)
{
    int64_t application = 0;
    int64_t taken = 0;
    int64_t tables = 0;
    int r = read_number(db, "PRAGMA application_id", &application, err);

    if (r == 0)
        r = read_number(db, "PRAGMA user_version", &taken, err);
    if (r == 0)
        r = read_number(db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (r < 0)
        return r;
    if (application != APPLICATION_ID && (application || taken || tables))
        return err_set(err, -EBADMSG, "the file is a database of another program");
    if (taken < 0 || taken > (int64_t)ARRAY_LEN(steps))
        return err_set(err, -ENOTSUP, "the store was written by a newer release (form %lld, this release knows %zu)",
                       (long long)taken, ARRAY_LEN(steps));
    for (size_t step = (size_t)taken; step < ARRAY_LEN(steps); step++) {
        r = take_step(db, step, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int disk_last_version(sqlite3 *db, int64_t *ret_version, struct err *err)
{
    return read_number(db, "SELECT value FROM meta WHERE key = 'version'", ret_version, err);
}
