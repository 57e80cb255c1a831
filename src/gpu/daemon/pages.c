/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int shared_page_new(struct shared_page *page, const char *name, uint32_t size, bool is_read_only)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (is_read_only ? F_SEAL_FUTURE_WRITE : 0);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *mem = MAP_FAILED;
    int r = 0;

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, size) < 0)
        r = -errno;
    if (r == 0) {
        mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        r = mem == MAP_FAILED ? -errno : 0;
    }
    /* After our own mapping, which the seal leaves writable. */
    if (r == 0 && fcntl(fd, F_ADD_SEALS, seals) < 0)
        r = -errno;
    if (r < 0) {
        if (mem != MAP_FAILED)
            (void)munmap(mem, size);
        (void)close(fd);
        return r;
    }
    *page = (struct shared_page){.fd = fd, .mem = mem, .size = size};
    return 0;
}

void shared_page_free(struct shared_page *page)
{
    if (!page->mem)
        return;
    (void)munmap(page->mem, page->size);
    (void)close(page->fd);
    *page = (struct shared_page){0};
}

void gate_set(struct gpu_control_line *line, enum gpu_gate_state state)
{
    uint32_t word = atomic_load(&line->word);

    word = ((word & ~(uint32_t)GPU_GATE_STATE_MASK) + GPU_GATE_GENERATION) | (uint32_t)state;
    /* Sequentially consistent: see the slow way in gpu/protocol/pages.h. */
    atomic_store(&line->word, word);
    if (state != GPU_GATE_CLOSED)
        (void)syscall(SYS_futex, &line->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void gate_rouse(struct gpu_control_line *line)
{
    (void)syscall(SYS_futex, &line->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
