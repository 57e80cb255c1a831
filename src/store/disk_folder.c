/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "store/disk_internal.h"

/* File systems whose locks and syncs cannot be relied on, because another machine may write beneath them. */
static const struct {
    unsigned long magic;
    const char *name;
} remote_systems[] = {
    {NFS_SUPER_MAGIC, "NFS"},   {SMB_SUPER_MAGIC, "SMB"}, {0xff534d42, "CIFS"}, {0xfe534d42, "SMB2"},
    {CEPH_SUPER_MAGIC, "Ceph"}, {AFS_SUPER_MAGIC, "AFS"}, {V9FS_MAGIC, "9p"},   {0x0bd00bd0, "Lustre"},
};

char *disk_path(const char *folder, const char *name)
{
    struct strbuf path;

    strbuf_init(&path, 64 << 10);
    strbuf_addf(&path, "%s/%s", folder, name);
    return strbuf_take(&path);
}

static int refuse_remote(const char *folder, struct err *err)
{
    struct statfs system;

    if (statfs(folder, &system) < 0)
        return err_set(err, -errno, "%s: %s", folder, strerror(errno));
    for (size_t i = 0; i < ARRAY_LEN(remote_systems); i++)
        if ((unsigned long)system.f_type == remote_systems[i].magic)
            return err_set(err, -ENOTSUP, "%s is on a network file system (%s); choose a folder on a local disk",
                           folder, remote_systems[i].name);
    return 0;
}

int disk_lock(const char *folder, int *ret_fd, struct err *err)
{
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "cannot create the folder %s: %s", folder, strerror(errno));
    int r = refuse_remote(folder, err);
    if (r < 0)
        return r;

    _cleanup_(freep) char *path = disk_path(folder, "lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        r = errno == EWOULDBLOCK ? -EBUSY : -errno;
        close(fd);
        return r == -EBUSY ? err_set(err, r, "%s is used by another process; stop that one first", folder)
                           : err_set(err, r, "%s: %s", path, strerror(-r));
    }
    *ret_fd = fd;
    return 0;
}

int disk_make_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    close(fd);
    return 0;
}
