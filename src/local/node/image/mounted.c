/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/image/mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* Mounts over each other that are ended: more than one is there only after somebody's mistake. */
enum { LAYERS_MAX = 16 };

bool mounted_is(const char *path)
{
    struct statx found;

    return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &found) == 0 &&
           found.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

int mounted_make(const char *from, const char *path, struct err *err)
{
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (mount(from, path, NULL, MS_BIND, NULL) < 0)
        return err_set(err, -errno, "mounting %s: %s", path, strerror(errno));
    if (mount(NULL, path, NULL, MS_PRIVATE, NULL) < 0 ||
        mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NODEV, NULL) < 0) {
        int r = err_set(err, -errno, "mounting %s: %s", path, strerror(errno));

        mounted_end(path);
        return r;
    }
    return 0;
}

void mounted_end(const char *path)
{
    for (int i = 0; i < LAYERS_MAX && mounted_is(path); i++) {
        if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
            break;
    }
    (void)rmdir(path);
}
