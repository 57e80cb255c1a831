/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/pod/sources.h"
#include "local/node/pod/users.h"
#include "local/node/pod/volume_files.h"
#include "local/server/files.h"
#include "text/quantity.h"

/* Whoever has the group of the volumes has what is made in them, too. */
static mode_t empty_mode(const struct user *user)
{
    return user->volumes_gid != (gid_t)-1 ? 02777 : 0777;
}

static int make_filled(const char *path, yyjson_val *volume, const struct filling *base, struct err *err)
{
    int r = volume_make_folder(path, base->user, 0755);

    return r < 0 ? err_set(err, r, "%s: %s", path, strerror(-r)) : volume_fill(path, volume, base, err);
}

/* --- folders of the machine --- */

/*
 * Between the two calls this thread has the user's rights on files, and no others: what the user may not look at must not
 * be told by an error either. The system calls are bare, for those of libc change all threads. Without root's rights the
 * user is the daemon's own, and nothing happens. Whether the groups have changed.
 */
static bool become(const struct user *user)
{
    bool has_groups = syscall(SYS_setgroups, user->group_count, user->groups) == 0;

    (void)setfsgid(user->gid);
    (void)setfsuid(user->uid);
    return has_groups;
}

static void become_self(bool has_groups, size_t group_count, const gid_t *groups)
{
    (void)setfsuid(geteuid());
    (void)setfsgid(getegid());
    BUG_ON(has_groups && syscall(SYS_setgroups, group_count, groups) < 0);
}

/* What is at the path, which may lead through links for root alone. Returns 0 or a negative errno. */
static int look_at(const char *path, const struct user *user, struct stat *ret_found)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC};

    if (user->uid != 0)
        how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

    if (fd < 0)
        return -errno;
    int r = fstat(fd, ret_found) < 0 ? -errno : 0;
    (void)close(fd);
    return r;
}

/* Makes the folder with those that it is in, or the file. */
static void create_host_path(const char *path, const char *type)
{
    bool is_folder = strcmp(type, "DirectoryOrCreate") == 0;
    char part[PATH_MAX];

    if (!is_folder && strcmp(type, "FileOrCreate") != 0)
        return;
    for (const char *slash = strchr(path + 1, '/'); is_folder && slash; slash = strchr(slash + 1, '/')) {
        if ((size_t)snprintf(part, sizeof part, "%.*s", (int)(slash - path), path) < sizeof part)
            (void)mkdir(part, 0755);
    }
    int fd = is_folder ? mkdir(path, 0755) : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (!is_folder && fd >= 0)
        (void)close(fd);
}

/* Looks at the path, which is made where its type says so, as the user whose pod it is. */
static int look_as(const struct user *user, const char *path, const char *type, struct stat *ret_found)
{
    gid_t groups[USER_GROUPS_MAX];
    int group_count = getgroups(USER_GROUPS_MAX, groups);

    if (*path != '/')
        return -ENOENT;
    if (group_count < 0)
        return -errno;
    bool has_groups = become(user);
    int r = look_at(path, user, ret_found);
    if (r == -ENOENT) {
        create_host_path(path, type);
        r = look_at(path, user, ret_found);
    }
    become_self(has_groups, (size_t)group_count, groups);
    return r;
}

static int check_host_path(yyjson_val *host, const struct user *user, struct err *err)
{
    const char *path = kube_text(host, "path"), *type = kube_text(host, "type");
    struct stat found;
    int r = look_as(user, path, type, &found);

    if (r == -ELOOP)
        return err_set(err, -EINVAL, "hostPath %s leads through a link: name the folder that it leads to", path);
    if (r < 0)
        return err_set(err, -ENOENT, "hostPath %s: %s", path, strerror(-r));
    if ((strncmp(type, "Directory", 9) == 0 && !S_ISDIR(found.st_mode)) ||
        (strncmp(type, "File", 4) == 0 && !S_ISREG(found.st_mode)) ||
        (strcmp(type, "Socket") == 0 && !S_ISSOCK(found.st_mode)) ||
        (strcmp(type, "CharDevice") == 0 && !S_ISCHR(found.st_mode)) ||
        (strcmp(type, "BlockDevice") == 0 && !S_ISBLK(found.st_mode)))
        return err_set(err, -EINVAL, "hostPath type check failed: %s is not a %s", path, type);
    return 0;
}

/* --- other kinds --- */

/* A folder in memory, not larger than the volume may be. */
static int mount_memory(const char *path, yyjson_val *volume, const struct user *user)
{
    char options[64] = "mode=0777";
    int64_t size = 0;

    if (quantity_parse(kube_text(volume, "emptyDir", "sizeLimit"), QUANTITY_ONE, &size, NULL) == 0 && size > 0)
        (void)snprintf(options, sizeof options, "mode=0777,size=%lld", (long long)size);
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
        return -errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 ? -errno : volume_hand_over(fd, user, empty_mode(user));
    if (fd >= 0)
        (void)close(fd);
    return r;
}

static int unmount_entry(const char *volume, const char *name, const char *files)
{
    _cleanup_(freep) char *path = file_path(volume, name);
    struct stat outer, inner;

    (void)files;
    if (stat(volume, &outer) < 0 || lstat(path, &inner) < 0 || outer.st_dev == inner.st_dev)
        return 0;
    /* Views of other containers may still hold it: what is in it goes now. */
    (void)folder_remove(path);
    (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
    return 0;
}

void volumes_unmount(const char *folder)
{
    if (geteuid() == 0)
        (void)folder_each(folder, unmount_entry, folder, "");
}

static int make_volume(const char *folder, yyjson_val *volume, const struct filling *base, struct err *err)
{
    _cleanup_(freep) char *path = file_path(folder, kube_text(volume, "name"));
    yyjson_val *host = value_at(volume, "hostPath");

    if (host)
        return check_host_path(host, base->user, err);
    if (volume_filled_part(volume))
        return make_filled(path, volume, base, err);
    if (!value_at(volume, "emptyDir"))
        return err_set(err, -ENOTSUP, "volume %s: this kind of volume is not supported on processes",
                       kube_text(volume, "name"));
    int r = volume_make_folder(path, base->user, empty_mode(base->user));
    if (r == 0 && strcmp(kube_text(volume, "emptyDir", "medium"), "Memory") == 0 && geteuid() == 0)
        r = mount_memory(path, volume, base->user);
    return r < 0 ? err_set(err, r, "%s: %s", path, strerror(-r)) : 0;
}

int volumes_make(const char *folder, yyjson_val *pod, const struct sources *sources, const struct user *user,
                 const struct machine *machine, struct err *err)
{
    const struct filling base = {.user = user, .sources = sources, .pod = pod, .machine = machine};
    size_t i, max;
    yyjson_val *volume;
    int r = mkdir(folder, 0711) < 0 && errno != EEXIST ? err_set(err, -errno, "%s: %s", folder, strerror(errno)) : 0;

    yyjson_arr_foreach(value_at(pod, "spec", "volumes"), i, max, volume)
    {
        if (r == 0)
            r = make_volume(folder, volume, &base, err);
    }
    return r;
}

bool volumes_can_change(yyjson_val *pod)
{
    size_t i, max;
    yyjson_val *volume;

    yyjson_arr_foreach(value_at(pod, "spec", "volumes"), i, max, volume)
    {
        if (volume_filled_part(volume))
            return true;
    }
    return false;
}

int volumes_update(const char *folder, yyjson_val *pod, const struct sources *sources, const struct user *user,
                   const struct machine *machine, struct err *err)
{
    const struct filling base = {.user = user, .sources = sources, .pod = pod, .machine = machine};
    size_t i, max;
    yyjson_val *volume;
    int first = 0;

    yyjson_arr_foreach(value_at(pod, "spec", "volumes"), i, max, volume)
    {
        _cleanup_(freep) char *path = file_path(folder, kube_text(volume, "name"));
        /* One that cannot be brought up to date does not keep the others from it. */
        int r = volume_filled_part(volume) ? volume_fill(path, volume, &base, first == 0 ? err : NULL) : 0;

        if (r < 0 && (first == 0 || r == -ENOKEY))
            first = r;
    }
    return first;
}

char *volume_path(const char *folder, yyjson_val *pod, const char *name, bool *ret_is_users)
{
    size_t i, max;
    yyjson_val *volume;

    yyjson_arr_foreach(value_at(pod, "spec", "volumes"), i, max, volume)
    {
        const char *host = kube_text(volume, "hostPath", "path");

        if (strcmp(kube_text(volume, "name"), name) != 0)
            continue;
        *ret_is_users = *host;
        return *host ? xstrdup(host) : file_path(folder, name);
    }
    return NULL;
}
