/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/park/host.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/mount.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static const uint64_t large_page = UINT64_C(2) << 20;

/* Each thread takes every n-th stride, through a mapping: fallocate() would lock the whole file for each of them. */
enum { TAKERS_MAX = 16 };
#define STRIDE (UINT64_C(64) << 20)

static int set(int context, const char *key, const char *value)
{
    return (int)syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, key, value, 0);
}

/* A file system of memory with large pages, which nobody sees and which goes with its only file. Needs CAP_SYS_ADMIN. Its
 * size keeps the file from growing, as a seal does that of a memfd. Returns a descriptor, or -1. */
static int new_large(uint64_t bytes)
{
    char size[32];
    int file = -1, context = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);

    if (context < 0)
        return -1;
    (void)snprintf(size, sizeof size, "%" PRIu64, (bytes + large_page - 1) / large_page * large_page);
    if (set(context, "size", size) == 0 && set(context, "nr_inodes", "2") == 0 && set(context, "huge", "always") == 0 &&
        syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0) {
        int mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                                 MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

        if (mount >= 0) {
            file = openat(mount, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
            (void)close(mount);
        }
    }
    (void)close(context);
    if (file >= 0 && ftruncate(file, (off_t)bytes) < 0) {
        (void)close(file);
        file = -1;
    }
    return file;
}

static int new_small(const char *name, uint64_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)bytes) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        int r = -errno;

        (void)close(fd);
        return r;
    }
    return fd;
}

int host_memory_new(const char *name, uint64_t bytes)
{
    int file = new_large(bytes);

    return file >= 0 ? file : new_small(name, bytes);
}

struct taker {
    pthread_t thread;
    bool is_started;
    uint8_t *mem;
    uint64_t bytes;
    uint64_t first, step;
    int error;
};

static void *take_strides(void *arg)
{
    struct taker *taker = arg;

    for (uint64_t at = taker->first * STRIDE; at < taker->bytes && taker->error == 0; at += taker->step * STRIDE) {
        uint64_t len = MIN(STRIDE, taker->bytes - at);

        while (madvise(taker->mem + at, len, MADV_POPULATE_WRITE) < 0 && taker->error == 0) {
            if (errno != EINTR && errno != EAGAIN)
                taker->error = -errno;
        }
        /* The file keeps its pages. To take them out of the mapping at its end would be the work of one thread. */
        (void)madvise(taker->mem + at, len, MADV_DONTNEED);
    }
    return NULL;
}

static uint64_t count_takers(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return (uint64_t)MIN(MAX(count, 1), TAKERS_MAX);
}

static int take_by_threads(int file, uint64_t bytes)
{
    struct taker takers[TAKERS_MAX];
    uint64_t count = count_takers();
    int r = 0;
    uint8_t *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (mem == MAP_FAILED)
        return -errno;
    /* Where the system gives large pages only to who asks for them. */
    (void)madvise(mem, bytes, MADV_HUGEPAGE);

    for (uint64_t i = 0; i < count; i++) {
        takers[i] = (struct taker){.mem = mem, .bytes = bytes, .first = i, .step = count};
        takers[i].is_started =
            i * STRIDE < bytes && pthread_create(&takers[i].thread, NULL, take_strides, &takers[i]) == 0;
        if (!takers[i].is_started)
            (void)take_strides(&takers[i]);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (takers[i].is_started)
            (void)pthread_join(takers[i].thread, NULL);
        r = takers[i].error < 0 ? takers[i].error : r;
    }
    (void)munmap(mem, bytes);
    return r;
}

/* One call for all pages, which are cleared only when somebody touches them. */
static int take_at_once(int file, uint64_t bytes)
{
    while (fallocate(file, 0, 0, (off_t)bytes) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}

/* Small pages are many, and worth several threads. */
int host_memory_take(int file, uint64_t bytes)
{
    struct stat stat;
    bool is_large = fstat(file, &stat) == 0 && (uint64_t)stat.st_blksize >= large_page;
    int r = is_large ? -EINVAL : take_by_threads(file, bytes);

    /* Kernels before 5.14 cannot be asked by threads. */
    return r == -EINVAL ? take_at_once(file, bytes) : r;
}
