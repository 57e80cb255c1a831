/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "text/file_replace.h"

static int write_all(const char *path, const char *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t done = 0;

    if (fd < 0)
        return -errno;
    while (done < len) {
        ssize_t n = write(fd, data + done, len - done);

        if (n < 0 && errno != EINTR) {
            int r = -errno;

            (void)close(fd);
            return r;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return close(fd) < 0 ? -errno : 0;
}

int file_replace(const char *path, const void *data, size_t len)
{
    char next[PATH_MAX];
    int length = snprintf(next, sizeof next, "%s.next", path);

    if (length < 0 || (size_t)length >= sizeof next)
        return -ENAMETOOLONG;
    int r = write_all(next, data, len);
    if (r == 0 && rename(next, path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(next);
    return r;
}
