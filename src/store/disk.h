/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;
struct object_parts;
struct store_object;

/*
 * The store's file: a SQLite database in WAL mode, written by one process. Used by one thread at a time.
 */
struct disk;

/* What is found when a store is opened: first all kinds with their numbers, then all objects. */
struct disk_reader {
    int (*kind)(void *arg, uint32_t kind, const char *name, struct err *err);
    int (*object)(void *arg, const struct object_parts *object, struct err *err);
    void *arg;
};

/* Makes the folder and the file where they are missing, takes the folder's lock, and checks the file when the last process
 * did not close it. Fails as store_open() does. */
MUST_CHECK int disk_open(const char *folder, struct disk **ret_disk, struct err *err);

/* Moves everything into the main file and closes it. NULL is allowed. */
void disk_close(struct disk *disk);

/* Calls `reader` for all kinds and then all objects; an error of it ends the reading. Gives the last version used. */
MUST_CHECK int disk_read(struct disk *disk, const struct disk_reader *reader, uint64_t *ret_version, struct err *err);

/* A new kind or a changed object. */
struct disk_write {
    uint32_t kind;
    const char *kind_name;  // of a new kind, else NULL
    const struct store_object *object;
    bool is_removal;
};

struct disk_writes VEC_OF(struct disk_write);

/*
 * Writes all of them, or none, and returns when they are on the disk. `version` is the last one used. Returns 0; -ENOSPC
 * when the disk is full: nothing was written and it may be tried again; -EIO when the file cannot be trusted any more.
 */
MUST_CHECK int disk_commit(struct disk *disk, const struct disk_writes *writes, uint64_t version, struct err *err);

/* Whether the log has grown so much that it should be moved into the main file, and doing it. */
bool disk_wants_checkpoint(const struct disk *disk);
void disk_checkpoint(struct disk *disk);

/* A copy of all that is committed, in a new file of mode 0600. */
MUST_CHECK int disk_backup(struct disk *disk, const char *path, struct err *err);

/* As store_restore(). */
MUST_CHECK int disk_restore(const char *folder, const char *backup, struct err *err);
