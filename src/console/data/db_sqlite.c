/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLite: one file, with a log that is written ahead, so that a reader sees a whole state while we write. The file and its
 * lock are the owner's alone: the database holds hashes of secrets.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "console/data/db_internal.h"

enum { BUSY_MS = 5000, COLUMNS_MAX = 16, PATH_TEXT_MAX = 4096 };

struct file_db {
    sqlite3 *db;
    int lock_fd;  // -1: none
};

static int fail(struct err *err, sqlite3 *db, int result)
{
    int code = -EIO;

    if (result == SQLITE_CONSTRAINT)
        code = -EEXIST;
    else if (result == SQLITE_BUSY || result == SQLITE_LOCKED || result == SQLITE_FULL || result == SQLITE_READONLY)
        code = -ESHUTDOWN;
    return err_set(err, code, "the database: %s", db ? sqlite3_errmsg(db) : sqlite3_errstr(result));
}

/* A lock of its own, since the one of the file lets two processes write in turns. */
static int hold(struct file_db *self, const char *path, struct err *err)
{
    _cleanup_(freep) char *name = NULL;
    struct strbuf text;

    strbuf_init(&text, PATH_TEXT_MAX);
    strbuf_addf(&text, "%s.lock", path);
    name = strbuf_take(&text);
    self->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (self->lock_fd < 0)
        return err_set(err, -errno, "opening '%s': %s", name, strerror(errno));
    if (flock(self->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, -EBUSY, "another console uses '%s'", path);
    return 0;
}

static int make_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set(err, -errno, "opening '%s': %s", path, strerror(errno));
    (void)close(fd);
    return 0;
}

static void close_file(void *arg)
{
    struct file_db *self = arg;

    (void)sqlite3_close_v2(self->db);
    if (self->lock_fd >= 0)
        (void)close(self->lock_fd);
    free(self);
}

static int connect_file(struct file_db *self, const char *path, enum db_mode mode, struct err *err)
{
    int flags = mode == DB_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    int result = sqlite3_open_v2(path, &self->db, flags | SQLITE_OPEN_EXRESCODE, NULL);

    if (result == SQLITE_OK)
        result = sqlite3_busy_timeout(self->db, BUSY_MS);
    if (result == SQLITE_OK && mode == DB_WRITE)
        result = sqlite3_exec(self->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(self->db, "PRAGMA trusted_schema = OFF", NULL, NULL, NULL);
    return result == SQLITE_OK ? 0 : err_wrap(err, fail(err, self->db, result & 0xff), "'%s'", path);
}

static int open_file(const char *path, enum db_mode mode, void **ret_self, struct err *err)
{
    struct file_db *self = xcalloc(1, sizeof *self);
    int r = 0;

    self->lock_fd = -1;
    if (mode == DB_WRITE)
        r = hold(self, path, err);
    if (r == 0 && mode == DB_WRITE)
        r = make_file(path, err);
    if (r == 0)
        r = connect_file(self, path, mode, err);
    if (r < 0) {
        close_file(self);
        return r;
    }
    *ret_self = self;
    return 0;
}

/* SQLite takes $1 for a name: it is looked up, so that parameters may come in any order and more than once. */
static int bind(sqlite3_stmt *statement, const struct db_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        char name[24];
        int result = SQLITE_OK;

        (void)snprintf(name, sizeof name, "$%zu", i + 1);
        int at = sqlite3_bind_parameter_index(statement, name);
        if (call->values[i].type == DB_NUMBER)
            result = sqlite3_bind_int64(statement, at, call->values[i].number);
        else if (call->values[i].type == DB_TEXT)
            result = sqlite3_bind_text(statement, at, call->values[i].text, -1, SQLITE_TRANSIENT);
        if (result != SQLITE_OK)
            return result;
    }
    return SQLITE_OK;
}

static int give_row(sqlite3_stmt *statement, db_row_fn fn, void *arg)
{
    struct db_value columns[COLUMNS_MAX];
    int count = MIN(sqlite3_column_count(statement), (int)COLUMNS_MAX);

    for (int i = 0; i < count; i++) {
        int type = sqlite3_column_type(statement, i);

        columns[i] = (struct db_value){.type = DB_NULL};
        if (type == SQLITE_INTEGER)
            columns[i] = db_number(sqlite3_column_int64(statement, i));
        else if (type != SQLITE_NULL)
            columns[i] = db_text((const char *)sqlite3_column_text(statement, i));
    }
    return fn ? fn(arg, columns, (size_t)count) : 0;
}

static int query(void *arg, const struct db_call *call, db_row_fn fn, void *fn_arg, int64_t *ret_changed,
                 struct err *err)
{
    struct file_db *self = arg;
    sqlite3_stmt *statement = NULL;
    int r = 0;
    int result = sqlite3_prepare_v2(self->db, call->sql, -1, &statement, NULL);

    if (result == SQLITE_OK)
        result = bind(statement, call);
    if (result == SQLITE_OK) {
        while (r >= 0 && (result = sqlite3_step(statement)) == SQLITE_ROW)
            r = give_row(statement, fn, fn_arg);
    }
    if (r >= 0 && result != SQLITE_DONE)
        r = fail(err, self->db, result & 0xff);
    if (r >= 0 && ret_changed)
        *ret_changed = sqlite3_changes64(self->db);
    (void)sqlite3_finalize(statement);
    return r < 0 ? r : 0;
}

static int ready(void *arg, struct err *err)
{
    (void)arg;
    (void)err;
    return 0;
}

static int begin(void *arg, struct err *err)
{
    return query(arg, &(struct db_call){.sql = "BEGIN IMMEDIATE"}, NULL, NULL, NULL, err);
}

/* There is no other writer. */
static int lead(void *arg, bool *ret_leads, struct err *err)
{
    (void)arg;
    (void)err;
    *ret_leads = true;
    return 0;
}

const struct db_backend db_sqlite = {
    .open = open_file,
    .close = close_file,
    .query = query,
    .ready = ready,
    .begin = begin,
    .lead = lead,
};
