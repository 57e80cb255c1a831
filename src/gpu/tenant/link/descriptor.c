/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/tenant/link/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* High, but within the 64 that every process has room for: in a process with threads the kernel makes the table larger
 * only after a wait of 10 ms and more. */
enum { FIRST_FD = 40 };

/* The C library's own wrappers of these two calls have versions that old ones lack. */
static uint64_t inode_of(int fd)
{
    struct stat status;
    return syscall(SYS_fstat, fd, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

void descriptor_put(struct descriptor *descriptor, int fd)
{
    int moved = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST_FD);
    if (moved >= 0) {
        close(fd);
        fd = moved;
    }
    *descriptor = (struct descriptor){.fd = fd, .inode = inode_of(fd)};
}

bool descriptor_is_ours(const struct descriptor *descriptor)
{
    return descriptor->fd >= 0 && inode_of(descriptor->fd) == descriptor->inode;
}

void descriptor_drop(struct descriptor *descriptor)
{
    if (descriptor_is_ours(descriptor))
        close(descriptor->fd);
    *descriptor = (struct descriptor)DESCRIPTOR_NONE;
}
