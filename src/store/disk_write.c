/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/err.h"
#include "store/disk_internal.h"
#include "store/object.h"

enum {
    CHECKPOINT_PAGES = 1000,       // of 4 KiB, before it is worth the work
    CHECKPOINT_PAGES_MAX = 16384,  // 64 MiB: not put off any longer
    VACUUM_PAGES = 256,            // given back to the file system at a time
};

/* Runs a statement whose values were bound, and makes it ready for the next ones. */
static int step(struct disk *disk, enum disk_statement which, struct err *err)
{
    sqlite3_stmt *statement = disk->statements[which];
    int result = sqlite3_step(statement);
    int r = result == SQLITE_DONE ? 0 : disk_fail(err, disk->db, result, "writing");

    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return r;
}

static void bind_name(sqlite3_stmt *statement, uint32_t kind, const struct store_object *object)
{
    (void)sqlite3_bind_int64(statement, 1, kind);
    (void)sqlite3_bind_text(statement, 2, object->namespace, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(statement, 3, object->name, -1, SQLITE_STATIC);
}

static int write_one(struct disk *disk, const struct disk_write *write, struct err *err)
{
    const struct store_object *object = write->object;

    if (write->kind_name) {
        sqlite3_stmt *add = disk->statements[DISK_KIND];
        (void)sqlite3_bind_int64(add, 1, write->kind);
        (void)sqlite3_bind_text(add, 2, write->kind_name, -1, SQLITE_STATIC);
        return step(disk, DISK_KIND, err);
    }
    if (write->is_removal) {
        bind_name(disk->statements[DISK_REMOVE], write->kind, object);
        return step(disk, DISK_REMOVE, err);
    }
    sqlite3_stmt *put = disk->statements[DISK_PUT];
    bind_name(put, write->kind, object);
    (void)sqlite3_bind_int64(put, 4, (int64_t)object->version);
    (void)sqlite3_bind_int64(put, 5, object->expires);
    (void)sqlite3_bind_blob64(put, 6, object->body, object->body_len, SQLITE_STATIC);
    return step(disk, DISK_PUT, err);
}

static int commit(struct disk *disk, const struct disk_writes *writes, uint64_t version, struct err *err)
{
    int r = disk_run(disk->db, "BEGIN IMMEDIATE", "writing", err);

    for (uint32_t i = 0; r == 0 && i < writes->len; i++)
        r = write_one(disk, &writes->items[i], err);
    if (r == 0) {
        (void)sqlite3_bind_int64(disk->statements[DISK_VERSION], 1, (int64_t)version);
        r = step(disk, DISK_VERSION, err);
    }
    if (r == 0)
        r = disk_run(disk->db, "COMMIT", "writing", err);
    if (r == 0)
        return 0;

    /* SQLite may have rolled back by itself. What can neither be finished nor undone is not to be trusted; so is a file
     * after a sync that failed, because the kernel may have dropped what was not written. */
    if (!sqlite3_get_autocommit(disk->db) && sqlite3_exec(disk->db, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK)
        r = -EIO;
    return r == -ENOSPC ? r : -EIO;
}

int disk_commit(struct disk *disk, const struct disk_writes *writes, uint64_t version, struct err *err)
{
    int r = commit(disk, writes, version, err);

    /* On a full disk the log may be what takes the room, and removals, which would make some, need room in it. */
    if (r == -ENOSPC && disk->wal_pages > 0) {
        disk_checkpoint(disk);
        if (disk->wal_pages == 0)
            r = commit(disk, writes, version, err);
    }
    if (r == 0 && disk->wal_pages > CHECKPOINT_PAGES_MAX)
        disk_checkpoint(disk);
    return r;
}

bool disk_wants_checkpoint(const struct disk *disk)
{
    return disk->wal_pages > CHECKPOINT_PAGES;
}

void disk_checkpoint(struct disk *disk)
{
    char vacuum[48];

    /* A checkpoint that fails leaves everything in the log, and is tried again after the next commit. */
    if (sqlite3_wal_checkpoint_v2(disk->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) == SQLITE_OK)
        disk->wal_pages = 0;
    sqlite3_snprintf(sizeof vacuum, vacuum, "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
    (void)sqlite3_exec(disk->db, vacuum, NULL, NULL, NULL);
}
