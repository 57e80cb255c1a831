/* SPDX-License-Identifier: Apache-2.0 */
#include "text/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

static int write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        text += n;
        len -= (size_t)n;
    }
    return 0;
}

static int replace(const char *path, const char *text, size_t len, bool is_synced, struct err *err)
{
    char next[PATH_MAX];
    int length = snprintf(next, sizeof next, "%s.next", path);
    int fd, r;

    if (length < 0 || (size_t)length >= sizeof next)
        return err_set(err, -ENAMETOOLONG, "%.200s...: %s", path, strerror(ENAMETOOLONG));
    fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", next, strerror(errno));
    r = write_all(fd, text, len);
    if (r == 0 && is_synced && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(next, path) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlink(next);
        return err_set(err, r, "%s: %s", path, strerror(-r));
    }
    return 0;
}

int file_replace(const char *path, const char *text, size_t len, struct err *err)
{
    return replace(path, text, len, true, err);
}

int file_put(const char *path, const char *text, size_t len, struct err *err)
{
    return replace(path, text, len, false, err);
}
