/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/*
 * Files of SQLite in memory, behind its interface for file systems. Everything that is done to them is recorded, so that
 * the files can be made again as a power cut at any moment might have left them: what was synced is there, and of what was
 * written after that any part, sector by sector. It also fails the n-th write or sync on request.
 */
enum { MEMORY_FILES_MAX = 8, SECTOR = 512 };

enum memory_act { ACT_WRITE, ACT_TRUNCATE, ACT_SYNC, ACT_DELETE, ACT_NOTE };

struct memory_step {
    enum memory_act act;
    int file;
    sqlite3_int64 at;  // offset, size, or a note's number
    size_t len;
    unsigned char *bytes;
};

struct memory_file {
    char name[96];
    unsigned char *bytes;
    size_t len;
    size_t cap;
    bool exists;
};

static struct memory_disk {
    struct memory_file files[MEMORY_FILES_MAX];
    VEC(struct memory_step) steps;
    bool is_recording;
    int fail_after;  // writes and syncs until one fails; 0: none does
    int fail_result;
    size_t room;  // bytes of all files together; 0: any
} memory_disk;

struct open_file {
    sqlite3_file base;
    int file;
};

static inline void record(enum memory_act act, int file, sqlite3_int64 at, const void *bytes, size_t len)
{
    unsigned char *copy = NULL;

    if (!memory_disk.is_recording)
        return;
    if (bytes) {
        copy = xmalloc(len);
        memcpy(copy, bytes, len);
    }
    vec_push(&memory_disk.steps, (struct memory_step){.act = act, .file = file, .at = at, .len = len, .bytes = copy});
}

static inline void resize_file(struct memory_file *file, size_t len)
{
    if (len > file->cap) {
        file->cap = len * 2;
        file->bytes = xrealloc(file->bytes, file->cap);
    }
    if (len > file->len)
        memset(file->bytes + file->len, 0, len - file->len);
    file->len = len;
}

static inline void write_file(struct memory_file *file, sqlite3_int64 at, const void *bytes, size_t len)
{
    if ((size_t)at + len > file->len)
        resize_file(file, (size_t)at + len);
    memcpy(file->bytes + at, bytes, len);
}

static inline size_t memory_disk_bytes(void)
{
    size_t bytes = 0;

    for (int i = 0; i < MEMORY_FILES_MAX; i++)
        bytes += memory_disk.files[i].exists ? memory_disk.files[i].len : 0;
    return bytes;
}

/* Whether the file may not grow to `len` bytes. */
static inline bool is_full(const struct memory_file *file, size_t len)
{
    return memory_disk.room > 0 && len > file->len && memory_disk_bytes() + len - file->len > memory_disk.room;
}

static inline bool is_failing(void)
{
    return memory_disk.fail_after > 0 && --memory_disk.fail_after == 0;
}

static inline int file_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static inline struct memory_file *file_of(sqlite3_file *file)
{
    return &memory_disk.files[((struct open_file *)file)->file];
}

static inline int file_read(sqlite3_file *file, void *to, int len, sqlite3_int64 at)
{
    const struct memory_file *from = file_of(file);
    size_t there = (size_t)at < from->len ? MIN(from->len - (size_t)at, (size_t)len) : 0;

    memset(to, 0, (size_t)len);
    if (there)
        memcpy(to, from->bytes + at, there);
    return there == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static inline int file_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    if (is_failing())
        return memory_disk.fail_result == SQLITE_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    if (is_full(file_of(file), (size_t)at + (size_t)len))
        return SQLITE_FULL;
    record(ACT_WRITE, ((struct open_file *)file)->file, at, bytes, (size_t)len);
    write_file(file_of(file), at, bytes, (size_t)len);
    return SQLITE_OK;
}

static inline int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    record(ACT_TRUNCATE, ((struct open_file *)file)->file, size, NULL, 0);
    resize_file(file_of(file), (size_t)size);
    return SQLITE_OK;
}

static inline int file_sync(sqlite3_file *file, int flags)
{
    (void)flags;
    if (is_failing())
        return memory_disk.fail_result == SQLITE_FULL ? SQLITE_FULL : SQLITE_IOERR_FSYNC;
    record(ACT_SYNC, ((struct open_file *)file)->file, 0, NULL, 0);
    return SQLITE_OK;
}

static inline int file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    *ret_size = (sqlite3_int64)file_of(file)->len;
    return SQLITE_OK;
}

static inline int file_lock(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static inline int file_is_reserved(sqlite3_file *file, int *ret_is)
{
    (void)file;
    *ret_is = 0;
    return SQLITE_OK;
}

static inline int file_control(sqlite3_file *file, int what, void *arg)
{
    (void)file;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static inline int file_sector(sqlite3_file *file)
{
    (void)file;
    return SECTOR;
}

/* No promises: writes may be torn and reordered. */
static inline int file_promises(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static inline int find_file(const char *name)
{
    for (int i = 0; i < MEMORY_FILES_MAX; i++)
        if (memory_disk.files[i].name[0] == '\0' || strcmp(memory_disk.files[i].name, name) == 0)
            return i;
    abort();
}

static inline int disk_open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = file_close,
        .xRead = file_read,
        .xWrite = file_write,
        .xTruncate = file_truncate,
        .xSync = file_sync,
        .xFileSize = file_size,
        .xLock = file_lock,
        .xUnlock = file_lock,
        .xCheckReservedLock = file_is_reserved,
        .xFileControl = file_control,
        .xSectorSize = file_sector,
        .xDeviceCharacteristics = file_promises,
    };
    struct open_file *opened = (struct open_file *)file;

    (void)vfs;
    opened->file = find_file(name ? name : "temporary");
    struct memory_file *found = &memory_disk.files[opened->file];
    strncpy(found->name, name ? name : "temporary", sizeof found->name - 1);
    found->exists = true;
    opened->base.pMethods = &methods;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static inline int disk_delete_file(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    int file = find_file(name);

    (void)vfs;
    (void)is_synced;
    record(ACT_DELETE, file, 0, NULL, 0);
    resize_file(&memory_disk.files[file], 0);
    memory_disk.files[file].exists = false;
    return SQLITE_OK;
}

static inline int disk_access_file(sqlite3_vfs *vfs, const char *name, int flags, int *ret_is)
{
    const struct memory_file *file = &memory_disk.files[find_file(name)];

    (void)vfs;
    *ret_is = flags == SQLITE_ACCESS_EXISTS ? file->exists && file->len > 0 : file->exists;
    return SQLITE_OK;
}

static inline int disk_full_name(sqlite3_vfs *vfs, const char *name, int size, char *full)
{
    (void)vfs;
    sqlite3_snprintf(size, full, "%s", name);
    return SQLITE_OK;
}

/* Makes it SQLite's file system. */
static inline void memory_disk_register(void)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);

    vfs = *system;
    vfs.zName = "memory";
    vfs.iVersion = 1;
    vfs.szOsFile = sizeof(struct open_file);
    vfs.xOpen = disk_open_file;
    vfs.xDelete = disk_delete_file;
    vfs.xAccess = disk_access_file;
    vfs.xFullPathname = disk_full_name;
    sqlite3_vfs_register(&vfs, 1);
}

static inline void memory_disk_clear(void)
{
    for (int i = 0; i < MEMORY_FILES_MAX; i++)
        free(memory_disk.files[i].bytes);
    vec_foreach (&memory_disk.steps, step)
        free(step->bytes);
    vec_done(&memory_disk.steps);
    memory_disk = (struct memory_disk){0};
}

/* Remembers that something was said to be on the disk at this moment. */
static inline void memory_disk_note(int number)
{
    record(ACT_NOTE, 0, number, NULL, 0);
}

static inline uint64_t roll(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Keeps each sector of a write or not. */
static inline void write_in_part(struct memory_file *file, const struct memory_step *step, uint64_t *seed)
{
    for (size_t at = 0; at < step->len;) {
        size_t len = MIN(step->len - at, SECTOR - ((size_t)step->at + at) % SECTOR);
        if (roll(seed) & 1)
            write_file(file, step->at + (sqlite3_int64)at, step->bytes + at, len);
        at += len;
    }
}

/* Makes the files as a power cut after `steps` steps might have left them. Returns the last note before it. */
static inline int memory_disk_cut(uint32_t steps, uint64_t *seed)
{
    uint32_t last_sync[MEMORY_FILES_MAX] = {0};
    int note = 0;

    for (int i = 0; i < MEMORY_FILES_MAX; i++)
        resize_file(&memory_disk.files[i], 0);
    for (uint32_t i = 0; i < steps; i++)
        if (memory_disk.steps.items[i].act == ACT_SYNC || memory_disk.steps.items[i].act == ACT_DELETE)
            last_sync[memory_disk.steps.items[i].file] = i;
    for (uint32_t i = 0; i < steps; i++) {
        const struct memory_step *step = &memory_disk.steps.items[i];
        struct memory_file *file = &memory_disk.files[step->file];
        bool is_certain = i < last_sync[step->file];
        switch (step->act) {
        case ACT_WRITE:
            if (is_certain)
                write_file(file, step->at, step->bytes, step->len);
            else
                write_in_part(file, step, seed);
            break;
        case ACT_TRUNCATE:
            if (is_certain || roll(seed) & 1)
                resize_file(file, (size_t)step->at);
            break;
        case ACT_DELETE:
            resize_file(file, 0);
            break;
        case ACT_NOTE:
            note = (int)step->at;
            break;
        case ACT_SYNC:
            break;
        }
    }
    return note;
}
