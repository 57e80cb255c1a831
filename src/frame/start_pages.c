/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/start_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macros.h"

/*
 * A segment that was never writable holds what is in its file: it can be read from there again. One with relocations in
 * it was made read-only afterwards, and is not among these.
 */
static int drop_segments(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)size;
    (void)arg;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
            continue;
        uintptr_t from = (info->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t to = (info->dlpi_addr + segment->p_vaddr + segment->p_filesz + page - 1) & ~(page - 1);

        // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses are numbers here
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void start_pages_drop(void)
{
    (void)dl_iterate_phdr(drop_segments, NULL);
}
