/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/disk_internal.h"

#define BEFORE_RESTORE DISK_FILE_NAME ".before-restore"
#define BEING_RESTORED DISK_FILE_NAME ".restoring"

/* The name of a file is durable only when its folder was synced. */
static int sync_folder(const char *folder, struct err *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) < 0) {
        int r = -errno;
        if (fd >= 0)
            close(fd);
        return err_set(err, r, "%s: %s", folder, strerror(-r));
    }
    close(fd);
    return 0;
}

/* Copies a whole database page by page; what is being copied stays readable and unchanged. */
static int copy(sqlite3 *from, sqlite3 *to, struct err *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (!backup)
        return disk_fail(err, to, sqlite3_errcode(to), "copying");
    int result = sqlite3_backup_step(backup, -1);
    int finished = sqlite3_backup_finish(backup);
    if (result != SQLITE_DONE)
        return disk_fail(err, NULL, result, "copying");
    return finished == SQLITE_OK ? 0 : disk_fail(err, NULL, finished, "copying");
}

/* A new file of its owner's alone: a backup holds secrets as the store does. */
static int copy_to_new_file(sqlite3 *from, const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    close(fd);
    sqlite3 *to = NULL;
    int result = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    int r = result == SQLITE_OK ? 0 : disk_fail(err, to, result, "opening it");
    if (r == 0)
        r = copy(from, to, err);
    /* One file by itself, without a log beside it. */
    if (r == 0)
        r = disk_run(to, "PRAGMA journal_mode = DELETE", "finishing the copy", err);
    sqlite3_close(to);
    if (r < 0) {
        unlink(path);
        return err_wrap(err, r, "%s", path);
    }
    return 0;
}

int disk_backup(struct disk *disk, const char *path, struct err *err)
{
    return copy_to_new_file(disk->db, path, err);
}

/* Whether the file is a whole store, in this release's form. */
static int check_restored(const char *path, struct err *err)
{
    sqlite3 *db = NULL;
    int r = disk_connect(path, SQLITE_OPEN_READWRITE, &db, err);

    if (r < 0)
        return r;
    r = disk_check(db, err);
    if (r == 0)
        r = disk_migrate(db, err);
    sqlite3_close(db);
    return r;
}

/* A backup is copied and looked at before anything is put in its place; the backup itself stays as it is. */
static int copy_backup(const char *backup, const char *path, struct err *err)
{
    sqlite3 *db = NULL;
    int result = sqlite3_open_v2(backup, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    int r = result == SQLITE_OK ? copy_to_new_file(db, path, err) : disk_fail(err, db, result, "opening it");

    sqlite3_close(db);
    if (r == 0)
        r = check_restored(path, err);
    if (r < 0) {
        unlink(path);
        return err_wrap(err, r, "%s", backup);
    }
    return 0;
}

/* Puts the file that was just written in the place of the store, which is kept under another name. */
static int exchange(const char *folder, struct err *err)
{
    _cleanup_(freep) char *now = disk_path(folder, DISK_FILE_NAME);
    _cleanup_(freep) char *before = disk_path(folder, BEFORE_RESTORE);
    _cleanup_(freep) char *restored = disk_path(folder, BEING_RESTORED);
    _cleanup_(freep) char *log = disk_path(folder, DISK_FILE_NAME "-wal");

    if (rename(now, before) < 0 && errno != ENOENT)
        return err_set(err, -errno, "%s: %s", now, strerror(errno));
    if (unlink(log) < 0 && errno != ENOENT)
        return err_set(err, -errno, "%s: %s", log, strerror(errno));
    if (rename(restored, now) < 0)
        return err_set(err, -errno, "%s: %s", restored, strerror(errno));
    return sync_folder(folder, err);
}

/* Moves what a killed process left in the log into the main file, so that the copy that is kept is whole. Its last version
 * is 0 where none can be read. */
static int settle(const char *folder, int64_t *ret_version, struct err *err)
{
    _cleanup_(freep) char *path = disk_path(folder, DISK_FILE_NAME);
    sqlite3 *db = NULL;

    *ret_version = 0;
    if (access(path, F_OK) < 0)
        return 0;
    int r = disk_connect(path, SQLITE_OPEN_READWRITE, &db, err);
    if (r == 0) {
        if (disk_last_version(db, ret_version, NULL) < 0)
            *ret_version = 0;
        sqlite3_close(db);
    }
    /* A store that cannot be read is what a backup is for. */
    return r == -EBADMSG ? 0 : r;
}

/* Clients have seen versions up to `seen`, with other contents than the backup has: the next ones are beyond them, and a
 * watch from any of them has to list again. */
static int go_beyond(const char *path, int64_t seen, struct err *err)
{
    char sql[96];
    sqlite3 *db = NULL;
    int r = disk_connect(path, SQLITE_OPEN_READWRITE, &db, err);

    if (r < 0)
        return r;
    sqlite3_snprintf(sizeof sql, sql, "UPDATE meta SET value = max(value, %lld) + 1 WHERE key = 'version'",
                     (long long)seen);
    r = disk_run(db, sql, "writing the version", err);
    sqlite3_close(db);
    return r;
}

int disk_restore(const char *folder, const char *backup, struct err *err)
{
    _cleanup_(freep) char *restored = disk_path(folder, BEING_RESTORED);
    int64_t seen = 0;
    int lock_fd = -1;
    int r = disk_lock(folder, &lock_fd, err);

    if (r < 0)
        return r;
    unlink(restored);
    r = copy_backup(backup, restored, err);
    if (r == 0)
        r = settle(folder, &seen, err);
    if (r == 0)
        r = go_beyond(restored, seen, err);
    if (r == 0)
        r = exchange(folder, err);
    close(lock_fd);
    return r;
}
