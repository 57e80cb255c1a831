/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "store/disk.h"

#define DISK_FILE_NAME "objects.db"

enum disk_statement {
    DISK_PUT,
    DISK_REMOVE,
    DISK_KIND,
    DISK_VERSION,
    _DISK_STATEMENT_MAX,
};

struct disk {
    sqlite3 *db;
    sqlite3_stmt *statements[_DISK_STATEMENT_MAX];
    char *folder;
    int lock_fd;    // -1: none
    int wal_pages;  // after the last commit
};

/* The file of a folder, to be freed. */
char *disk_path(const char *folder, const char *name);

/* The negative errno for what SQLite returned, and `err` with its own words. */
int disk_fail(struct err *err, sqlite3 *db, int result, const char *doing);

/* Makes the folder where it is missing, refuses network file systems, and takes the lock: -EBUSY. */
MUST_CHECK int disk_lock(const char *folder, int *ret_fd, struct err *err);

/* An empty file that only its owner may read, when there is none. */
MUST_CHECK int disk_make_file(const char *path, struct err *err);

/* Opens a database with the settings that every store has. */
MUST_CHECK int disk_connect(const char *path, int flags, sqlite3 **ret_db, struct err *err);

/* Brings the tables to the newest form; refuses what is not a store or is of a newer release: -ENOTSUP, -EBADMSG. */
MUST_CHECK int disk_migrate(sqlite3 *db, struct err *err);

/* The last version that was given to a change. */
MUST_CHECK int disk_last_version(sqlite3 *db, int64_t *ret_version, struct err *err);

/* Runs statements without results. */
MUST_CHECK int disk_run(sqlite3 *db, const char *sql, const char *doing, struct err *err);

/* -EBADMSG when the file is damaged. */
MUST_CHECK int disk_check(sqlite3 *db, struct err *err);
