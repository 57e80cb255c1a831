/* SPDX-License-Identifier: Apache-2.0 */

/* The file is a head and an array of slots. It is written by one process, through the mapping. */
#include "gpu/daemon/book.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

enum { BOOK_VERSION = 3, BOOT_ID_SIZE = 40 };

struct book_head {
    char magic[8];
    uint32_t version;
    uint32_t slot_size;
    char boot_id[BOOT_ID_SIZE];
    uint8_t reserved[8];
};

struct book_file {
    struct book_head head;
    struct book_slot slots[BOOK_SLOTS_MAX];
};

struct book {
    int fd;
    struct book_file *file;
};

static void read_boot_id(char text[static BOOT_ID_SIZE])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    memset(text, 0, BOOT_ID_SIZE);
    if (fd < 0)
        return;
    if (read(fd, text, BOOT_ID_SIZE - 1) < 0)
        text[0] = '\0';
    (void)close(fd);
}

static void begin_afresh(struct book_file *file, const struct book_head *head)
{
    memset(file, 0, sizeof *file);
    file->head = *head;
}

/* Texts from the file end, and flags are flags. */
static void mend(struct book_file *file)
{
    for (uint32_t i = 0; i < BOOK_SLOTS_MAX; i++) {
        struct book_slot *slot = &file->slots[i];
        bool is_sane = slot->is_used <= 1 && memchr(slot->group, '\0', BOOK_NAME_SIZE) && slot->pid >= 0 &&
                       slot->parked <= GPU_BYTES_MAX && slot->is_displaced <= 1;

        for (uint32_t gpu = 0; gpu < LEDGER_GPUS_MAX; gpu++)
            is_sane &= slot->holdings[gpu].plain <= GPU_BYTES_MAX && slot->holdings[gpu].context <= GPU_BYTES_MAX;
        if (!is_sane)
            memset(slot, 0, sizeof *slot);
    }
}

/* The file, locked and mapped; NULL with errno, which is EWOULDBLOCK when somebody else has it. Its room is taken now: on a
 * full disk a page that has none would end the daemon at the moment at which it is first written. */
static struct book_file *map_file(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 || ftruncate(fd, sizeof(struct book_file)) < 0)
        return NULL;
    errno = posix_fallocate(fd, 0, sizeof(struct book_file));
    if (errno != 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof(struct book_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

int book_open(const char *path, struct book **ret_book, struct err *err)
{
    struct book_head head = {.magic = "muster\n", .version = BOOK_VERSION, .slot_size = sizeof(struct book_slot)};
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    struct book_file *file = map_file(fd);
    if (!file) {
        int problem = errno;

        (void)close(fd);
        if (problem == EWOULDBLOCK)
            return err_set(err, -EBUSY, "%s is in use: another daemon runs on this folder", path);
        return err_set(err, -problem, "%s: %s", path, strerror(problem));
    }
    read_boot_id(head.boot_id);
    if (memcmp(&file->head, &head, sizeof head) != 0)
        begin_afresh(file, &head);
    mend(file);
    *ret_book = xmalloc(sizeof **ret_book);
    **ret_book = (struct book){.fd = fd, .file = file};
    return 0;
}

void book_close(struct book *book)
{
    if (!book)
        return;
    (void)munmap(book->file, sizeof *book->file);
    (void)close(book->fd);
    free(book);
}

struct book_slot *book_slots(struct book *book)
{
    return book->file->slots;
}

uint32_t book_free_count(const struct book *book)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < BOOK_SLOTS_MAX; i++)
        count += !book->file->slots[i].is_used;
    return count;
}

struct book_slot *book_take(struct book *book)
{
    for (uint32_t i = 0; i < BOOK_SLOTS_MAX; i++) {
        struct book_slot *slot = &book->file->slots[i];

        if (!slot->is_used) {
            memset(slot, 0, sizeof *slot);
            slot->is_used = 1;
            return slot;
        }
    }
    return NULL;
}

void book_give(struct book *book, struct book_slot *slot)
{
    BUG_ON(slot < book->file->slots || slot >= book->file->slots + BOOK_SLOTS_MAX);
    memset(slot, 0, sizeof *slot);
}

uint64_t process_started(pid_t pid)
{
    char path[48];
    char text[1024];

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t len = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (len <= 0)
        return 0;
    text[len] = '\0';
    /* The name in parentheses may hold anything; the twenty-second field is the twentieth behind it. */
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < 20; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}
