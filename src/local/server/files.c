/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum { PATH_BYTES_MAX = 8192, FOLDER_DEPTH = 64 };

static char *join(const char *a, const char *b, const char *c)
{
    struct strbuf text;

    strbuf_init(&text, PATH_BYTES_MAX);
    strbuf_addstr(&text, a);
    strbuf_addstr(&text, b);
    strbuf_addstr(&text, c);
    return strbuf_take(&text);
}

char *file_path(const char *folder, const char *name)
{
    return join(folder, "/", name);
}

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
    _cleanup_(freep) char *temporary = join(path, ".new", "");
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r;

    if (fd < 0)
        return err_set(err, -errno, "%s: %s", temporary, strerror(errno));
    r = write_all(fd, text, len);
    if (r == 0 && is_synced && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(temporary, path) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlink(temporary);
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

static int remove_entry(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

int folder_remove(const char *path)
{
    if (nftw(path, remove_entry, FOLDER_DEPTH, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) < 0 && errno != ENOENT)
        return -errno;
    return 0;
}
