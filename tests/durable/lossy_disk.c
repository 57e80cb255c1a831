/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that may lose what was not synced, for a program that is to be killed: loaded before the C library, it writes down
 * every change of the files in one folder, with what was there before, and every sync. After the kill, lossy.py makes the
 * files what a disk could have kept: everything up to the last sync of each file, and any of the sectors after it.
 *
 * $LOSSY_FOLDER is the folder, $LOSSY_JOURNAL the file with the notes. With $LOSSY_ROOM the disk is full after so many
 * bytes; the file of that name holds the number, so that room can be made while the program runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NOTE_WRITE = 1, NOTE_CUT = 2, NOTE_SYNC = 3 };

/* What a note begins with; the path, the old bytes and the new ones follow it. */
struct note {
    uint32_t what;
    uint32_t path_len;
    uint64_t offset;
    uint64_t old_size;  // of the file
    uint64_t old_len;
    uint64_t new_len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        abort();
    return found;
}

/* The path of a file of ours; false for all others. */
static int is_ours(int fd, char path[PATH_BYTES])
{
    const char *folder = getenv("LOSSY_FOLDER");
    char link[64];

    if (!folder)
        return 0;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, PATH_BYTES - 1);
    if (len < 0)
        return 0;
    path[len] = '\0';
    return strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/' && strstr(path, "objects.db");
}

static void put(const void *bytes, size_t len)
{
    ssize_t (*write_real)(int, const void *, size_t) = real("write");

    if (len > 0 && write_real(journal, bytes, len) != (ssize_t)len)
        abort();
}

static void note(uint32_t what, int fd, const char *path, uint64_t offset, const void *new_bytes, size_t new_len)
{
    ssize_t (*pread_real)(int, void *, size_t, off_t) = real("pread64");
    struct stat file = {0};
    char *old = malloc(new_len + 1);

    if (journal < 0)
        journal = open(getenv("LOSSY_JOURNAL"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0 || !old || fstat(fd, &file) < 0)
        abort();
    ssize_t old_len = what == NOTE_WRITE ? pread_real(fd, old, new_len, (off_t)offset) : 0;
    struct note head = {
        .what = what,
        .path_len = (uint32_t)strlen(path),
        .offset = offset,
        .old_size = (uint64_t)file.st_size,
        .old_len = old_len > 0 ? (uint64_t)old_len : 0,
        .new_len = what == NOTE_WRITE ? new_len : 0,
    };

    put(&head, sizeof head);
    put(path, head.path_len);
    put(old, head.old_len);
    put(new_bytes, head.new_len);
    free(old);
}

/* What is cut off is noted as a write of what was there, so that it can come back. */
static void note_cut(int fd, const char *path, uint64_t size)
{
    ssize_t (*pread_real)(int, void *, size_t, off_t) = real("pread64");
    struct stat file = {0};

    if (fstat(fd, &file) < 0)
        abort();
    uint64_t lost = (uint64_t)file.st_size > size ? (uint64_t)file.st_size - size : 0;
    char *old = malloc(lost + 1);

    if (!old || pread_real(fd, old, lost, (off_t)size) != (ssize_t)lost)
        abort();
    if (lost > 0)
        note(NOTE_WRITE, fd, path, size, old, lost);
    free(old);
    note(NOTE_CUT, fd, path, size, NULL, 0);
}

/* Whether the file would grow beyond the room that is left. */
static int is_full(int fd, uint64_t end)
{
    const char *path = getenv("LOSSY_ROOM");
    unsigned long long room = 0;
    struct stat file;
    FILE *from = path ? fopen(path, "re") : NULL;

    if (!from || fstat(fd, &file) < 0)
        return 0;
    int found = fscanf(from, "%llu", &room);
    (void)fclose(from);
    return found == 1 && end > (uint64_t)file.st_size && end > room;
}

static ssize_t lossy_pwrite(const char *name, int fd, const void *bytes, size_t len, off_t offset)
{
    ssize_t (*pwrite_real)(int, const void *, size_t, off_t) = real(name);
    char path[PATH_BYTES];
    ssize_t written;

    if (!is_ours(fd, path))
        return pwrite_real(fd, bytes, len, offset);
    if (is_full(fd, (uint64_t)offset + len)) {
        errno = ENOSPC;
        return -1;
    }
    (void)pthread_mutex_lock(&lock);
    note(NOTE_WRITE, fd, path, (uint64_t)offset, bytes, len);
    written = pwrite_real(fd, bytes, len, offset);
    (void)pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    return lossy_pwrite("pwrite", fd, bytes, len, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off_t offset)
{
    return lossy_pwrite("pwrite64", fd, bytes, len, offset);
}

static int lossy_cut(const char *name, int fd, off_t size)
{
    int (*cut_real)(int, off_t) = real(name);
    char path[PATH_BYTES];

    if (!is_ours(fd, path))
        return cut_real(fd, size);
    (void)pthread_mutex_lock(&lock);
    note_cut(fd, path, (uint64_t)size);
    int r = cut_real(fd, size);
    (void)pthread_mutex_unlock(&lock);
    return r;
}

int ftruncate(int fd, off_t size)
{
    return lossy_cut("ftruncate", fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return lossy_cut("ftruncate64", fd, size);
}

/* Noted after it has been done: a sync that has not ended promises nothing. */
static int lossy_sync(const char *name, int fd)
{
    int (*sync_real)(int) = real(name);
    char path[PATH_BYTES];
    int r = sync_real(fd);

    if (r == 0 && is_ours(fd, path)) {
        (void)pthread_mutex_lock(&lock);
        note(NOTE_SYNC, fd, path, 0, NULL, 0);
        (void)pthread_mutex_unlock(&lock);
    }
    return r;
}

int fsync(int fd)
{
    return lossy_sync("fsync", fd);
}

int fdatasync(int fd)
{
    return lossy_sync("fdatasync", fd);
}
