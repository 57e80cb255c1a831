/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One writer, no history on the disk, and every transaction synced before it counts. The log is moved into the main file
 * when the store is idle, or in the middle of work when it has become large, so that neither file grows without bound.
 */
#include "store/disk.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/disk_internal.h"

static const char *const statement_texts[_DISK_STATEMENT_MAX] = {
    [DISK_PUT] = ("INSERT INTO objects(kind, ns, name, version, expires, body) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
                  " ON CONFLICT(kind, ns, name) DO UPDATE SET version = ?4, expires = ?5, body = ?6"),
    [DISK_REMOVE] = "DELETE FROM objects WHERE kind = ?1 AND ns = ?2 AND name = ?3",
    [DISK_KIND] = "INSERT INTO kinds(id, name) VALUES(?1, ?2)",
    [DISK_VERSION] = "UPDATE meta SET value = ?1 WHERE key = 'version'",
};

int disk_fail(struct err *err, sqlite3 *db, int result, const char *doing)
{
    static const struct {
        int result, code;
    } codes[] = {
        {SQLITE_FULL, -ENOSPC},     {SQLITE_CORRUPT, -EBADMSG}, {SQLITE_NOTADB, -EBADMSG},
        {SQLITE_CANTOPEN, -EACCES}, {SQLITE_READONLY, -EROFS},  {SQLITE_PERM, -EACCES},
        {SQLITE_BUSY, -EBUSY},      {SQLITE_LOCKED, -EBUSY},    {SQLITE_TOOBIG, -E2BIG},
    };
    int code = -EIO;

    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if ((result & 0xff) == codes[i].result)
            code = codes[i].code;
    return err_set(err, code, "%s: %s", doing, db ? sqlite3_errmsg(db) : sqlite3_errstr(result));
}

int disk_run(sqlite3 *db, const char *sql, const char *doing, struct err *err)
{
    int result = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return result == SQLITE_OK ? 0 : disk_fail(err, db, result, doing);
}

int disk_connect(const char *path, int flags, sqlite3 **ret_db, struct err *err)
{
    sqlite3 *db = NULL;
    int result = sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    int r = result == SQLITE_OK ? 0 : disk_fail(err, db, result, "opening it");

    /* Exclusive before anything else looks into the file, so that there is never a shared index beside it. */
    if (r == 0)
        r = disk_run(db,
                     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 1048576;"
                     "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON",
                     "opening it", err);
    if (r < 0) {
        sqlite3_close(db);
        return r;
    }
    *ret_db = db;
    return 0;
}

int disk_check(sqlite3 *db, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    int r = 0;

    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result != SQLITE_ROW)
        r = disk_fail(err, db, result, "checking it");
    else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0)
        r = err_set(err, -EBADMSG, "it is damaged: %s; restore a backup",
                    (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return r;
}

/* A process that ends in order leaves no log behind. */
static bool was_closed(const char *folder)
{
    _cleanup_(freep) char *log = disk_path(folder, DISK_FILE_NAME "-wal");
    struct stat found;

    return stat(log, &found) < 0 || found.st_size == 0;
}

static int count_pages(void *arg, sqlite3 *db, const char *database, int pages)
{
    struct disk *disk = arg;

    (void)db;
    (void)database;
    disk->wal_pages = pages;
    return SQLITE_OK;
}

static int prepare(struct disk *disk, struct err *err)
{
    for (size_t i = 0; i < _DISK_STATEMENT_MAX; i++) {
        int result =
            sqlite3_prepare_v3(disk->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT, &disk->statements[i], NULL);
        if (result != SQLITE_OK)
            return disk_fail(err, disk->db, result, "preparing to write");
    }
    return 0;
}

static int open_file(struct disk *disk, const char *path, struct err *err)
{
    bool is_whole = was_closed(disk->folder);
    int r = disk_make_file(path, err);

    if (r == 0)
        r = disk_connect(path, SQLITE_OPEN_READWRITE, &disk->db, err);
    if (r == 0 && !is_whole)
        r = disk_check(disk->db, err);
    if (r == 0)
        r = disk_migrate(disk->db, err);
    if (r == 0)
        r = prepare(disk, err);
    if (r == 0)
        sqlite3_wal_hook(disk->db, count_pages, disk);
    return r < 0 ? err_wrap(err, r, "%s", path) : 0;
}

int disk_open(const char *folder, struct disk **ret_disk, struct err *err)
{
    struct disk *disk = xcalloc(1, sizeof *disk);
    _cleanup_(freep) char *path = disk_path(folder, DISK_FILE_NAME);

    disk->folder = xstrdup(folder);
    disk->lock_fd = -1;
    int r = disk_lock(folder, &disk->lock_fd, err);
    if (r == 0)
        r = open_file(disk, path, err);
    if (r < 0) {
        disk_close(disk);
        return r;
    }
    *ret_disk = disk;
    return 0;
}

void disk_close(struct disk *disk)
{
    if (!disk)
        return;
    for (size_t i = 0; i < _DISK_STATEMENT_MAX; i++)
        sqlite3_finalize(disk->statements[i]);
    sqlite3_close(disk->db);
    if (disk->lock_fd >= 0)
        close(disk->lock_fd);
    free(disk->folder);
    free(disk);
}
