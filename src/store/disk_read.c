/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "store/disk_internal.h"
#include "store/object_internal.h"

/* Gives each row of a query to `row` until one is refused. */
static int each_row(struct disk *disk, const char *sql, int (*row)(void *arg, sqlite3_stmt *row, struct err *err),
                    void *arg, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(disk->db, sql, -1, &statement, NULL);
    int r = 0;

    if (result == SQLITE_OK)
        while (r == 0 && (result = sqlite3_step(statement)) == SQLITE_ROW)
            r = row(arg, statement, err);
    if (r == 0 && result != SQLITE_DONE)
        r = disk_fail(err, disk->db, result, "reading");
    sqlite3_finalize(statement);
    return r;
}

/* The text of a column, NULL when it has none or holds a NUL: such a row was not written by a store. */
static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text && strlen(text) == (size_t)sqlite3_column_bytes(row, column) ? text : NULL;
}

static int read_version(void *arg, sqlite3_stmt *row, struct err *err)
{
    uint64_t *version = arg;
    int64_t found = sqlite3_column_int64(row, 0);

    if (found < 0)
        return err_set(err, -EBADMSG, "the last version is %lld", (long long)found);
    *version = (uint64_t)found;
    return 0;
}

static int read_kind(void *arg, sqlite3_stmt *row, struct err *err)
{
    const struct disk_reader *reader = arg;
    int64_t kind = sqlite3_column_int64(row, 0);
    const char *name = text_of(row, 1);

    if (kind < 0 || kind > UINT32_MAX || !name)
        return err_set(err, -EBADMSG, "kind %lld is damaged", (long long)kind);
    return reader->kind(reader->arg, (uint32_t)kind, name, err);
}

static int read_object(void *arg, sqlite3_stmt *row, struct err *err)
{
    const struct disk_reader *reader = arg;
    int64_t kind = sqlite3_column_int64(row, 0);
    int64_t version = sqlite3_column_int64(row, 3);
    const struct object_parts object = {
        .kind = (uint32_t)kind,
        .namespace = text_of(row, 1),
        .name = text_of(row, 2),
        .version = (uint64_t)version,
        .expires = sqlite3_column_int64(row, 4),
        .body = sqlite3_column_blob(row, 5),
        .body_len = (size_t)sqlite3_column_bytes(row, 5),
    };

    if (kind < 0 || kind > UINT32_MAX || version <= 0 || !object.namespace || !object.name || !object.body)
        return err_set(err, -EBADMSG, "object %s of kind %lld is damaged", object.name ? object.name : "?",
                       (long long)kind);
    return reader->object(reader->arg, &object, err);
}

int disk_read(struct disk *disk, const struct disk_reader *reader, uint64_t *ret_version, struct err *err)
{
    int r = each_row(disk, "SELECT value FROM meta WHERE key = 'version'", read_version, ret_version, err);

    if (r == 0)
        r = each_row(disk, "SELECT id, name FROM kinds ORDER BY id", read_kind, (void *)reader, err);
    if (r == 0)
        r = each_row(disk, "SELECT kind, ns, name, version, expires, body FROM objects ORDER BY kind, ns, name",
                     read_object, (void *)reader, err);
    return r < 0 ? err_wrap(err, r, "%s/%s", disk->folder, DISK_FILE_NAME) : 0;
}
