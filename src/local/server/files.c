/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/files.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/strbuf.h"

enum { PATH_BYTES_MAX = 8192, FOLDER_DEPTH = 64 };

char *file_path(const char *folder, const char *name)
{
    struct strbuf text;

    strbuf_init(&text, PATH_BYTES_MAX);
    strbuf_addf(&text, "%s/%s", folder, name);
    return strbuf_take(&text);
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
