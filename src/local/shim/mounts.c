/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
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
#include "local/shim/launch.h"

/* More entries than this in a folder that would have to be replaced are refused: each costs a mount. */
enum { ENTRIES_MAX = 4096 };

struct view {
    const char *staging;
    char root[PATH_MAX];  // where paths begin: "" as long as the machine's own root is in use
    uint32_t replaced;    // folders so far
    bool is_own;          // everything but mounts is the container's: places for them are simply made
};

static int fail(struct err *err, const char *what, const char *path)
{
    int code = -errno;

    return err_set(err, code, "%s %s: %s", what, path, strerror(-code));
}

static int touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd < 0)
        return -errno;
    (void)close(fd);
    return 0;
}

/* Shows one entry of a folder in its replacement. Entries that nobody can see are left out. */
static int show_entry(const char *folder, const char *replacement, const char *name, struct err *err)
{
    char from[PATH_MAX], to[PATH_MAX], link[PATH_MAX];
    struct stat found;

    if ((size_t)snprintf(from, sizeof from, "%s/%s", folder, name) >= sizeof from ||
        (size_t)snprintf(to, sizeof to, "%s/%s", replacement, name) >= sizeof to)
        return err_set(err, -ENAMETOOLONG, "%s/%s: the path is too long", folder, name);
    if (lstat(from, &found) < 0)
        return 0;
    if (S_ISLNK(found.st_mode)) {
        ssize_t len = readlink(from, link, sizeof link - 1);

        if (len < 0)
            return 0;
        link[len] = '\0';
        return symlink(link, to) < 0 ? fail(err, "creating the link", to) : 0;
    }
    int r = S_ISDIR(found.st_mode) ? (mkdir(to, 0755) < 0 ? -errno : 0) : touch(to);
    if (r < 0 || mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
        return fail(err, "showing", from);
    return 0;
}

static int show_entries(const char *folder, const char *replacement, struct err *err)
{
    DIR *dir = opendir(*folder ? folder : "/");
    uint32_t count = 0;
    int r = 0;

    if (!dir)
        return fail(err, "reading", folder);
    for (const struct dirent *entry; r == 0 && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        r = ++count > ENTRIES_MAX ? err_set(err, -E2BIG, "%s has too many entries to mount something in it", folder)
                                  : show_entry(folder, replacement, entry->d_name, err);
    }
    (void)closedir(dir);
    return r;
}

/* Replaces a folder, given without the view's root, by one in memory with the same entries. */
static int replace(struct view *view, const char *folder, struct err *err)
{
    char replacement[PATH_MAX], real[PATH_MAX];
    struct stat found;
    int len = snprintf(replacement, sizeof replacement, "%s/%u", view->staging, view->replaced++);

    if (len < 0 || (size_t)len >= sizeof replacement ||
        (size_t)snprintf(real, sizeof real, "%s%s", view->root, folder) >= sizeof real)
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", folder);
    if (mkdir(replacement, 0755) < 0 || stat(*real ? real : "/", &found) < 0)
        return fail(err, "making", replacement);
    if (mount("tmpfs", replacement, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m") < 0 ||
        chmod(replacement, found.st_mode & 07777) < 0 || chown(replacement, found.st_uid, found.st_gid) < 0)
        return fail(err, "mounting a folder in memory at", replacement);
    int r = show_entries(real, replacement, err);
    if (r < 0)
        return r;
    if (!*real) {
        (void)snprintf(view->root, sizeof view->root, "%s", replacement);
        return 0;
    }
    return mount(replacement, real, NULL, MS_BIND | MS_REC, NULL) < 0 ? fail(err, "mounting on", real) : 0;
}

/* Makes what is missing of a path; the last part as a folder or a file. */
static int make_rest(const char *path, size_t from, bool is_folder)
{
    char part[PATH_MAX];

    for (size_t at = from;;) {
        size_t len = strcspn(path + at, "/");
        bool is_last = path[at + len] == '\0';

        (void)snprintf(part, sizeof part, "%.*s", (int)(at + len), path);
        if (is_last && !is_folder)
            return touch(part);
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return -errno;
        if (is_last)
            return 0;
        at += len + 1;
    }
}

/* The length of the longest beginning of a path that exists, cut between names. */
static size_t existing(const char *path)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    struct stat found;

    (void)snprintf(part, sizeof part, "%s", path);
    while (len > 0 && stat(part, &found) < 0) {
        while (len > 0 && part[len] != '/')
            len--;
        part[len] = '\0';
    }
    return len;
}

/* In an image, folders that are made must be the container's: the kernel's files are the machine's, also behind a link. */
static int check_own(const char *path, size_t existing_len, struct err *err)
{
    static const char *const kernels[] = {"/proc", "/sys"};
    char part[PATH_MAX], real[PATH_MAX];

    (void)snprintf(part, sizeof part, "%.*s", (int)existing_len, path);
    if (!realpath(*part ? part : "/", real))
        return fail(err, "making", path);
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
        size_t len = strlen(kernels[i]);

        if (strncmp(real, kernels[i], len) == 0 && (real[len] == '/' || real[len] == '\0'))
            return err_set(err, -EPERM, "creating %s: %s belongs to the machine", path, real);
    }
    return 0;
}

/* Makes the place for a mount, where it is missing. */
static int make_place(struct view *view, const char *to, bool is_folder, struct err *err)
{
    char path[PATH_MAX], folder[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s%s", view->root, to) >= sizeof path)
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", to);
    size_t root_len = strlen(view->root), len = MAX(existing(path), root_len);
    if (len == strlen(path))
        return 0;
    /* A folder in memory was made for an earlier mount, and is written to; anything else is the machine's. */
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(len - root_len), path + root_len);
    bool is_own = view->is_own || (*view->root && len == root_len);
    if (view->is_own && check_own(path, len, err) < 0)
        return -EPERM;
    if (!is_own) {
        int r = replace(view, folder, err);

        if (r < 0)
            return r;
        if ((size_t)snprintf(path, sizeof path, "%s%s", view->root, to) >= sizeof path)
            return err_set(err, -ENAMETOOLONG, "%s: the path is too long", to);
        len = strlen(view->root) + strlen(folder);
    }
    int r = make_rest(path, len + 1, is_folder);
    return r < 0 ? err_set(err, r, "making %s: %s", to, strerror(-r)) : 0;
}

/* The source has been opened already: paths may have other meanings in the view. */
static int mount_one(struct view *view, const struct mount_plan *plan, int source, struct err *err)
{
    char to[PATH_MAX];
    struct stat found;

    BUG_ON(source < 0);
    if (fstat(source, &found) < 0)
        return fail(err, "mounting", plan->from);
    int r = make_place(view, plan->to, S_ISDIR(found.st_mode), err);
    if (r < 0)
        return r;
    (void)snprintf(to, sizeof to, "%s%s", view->root, plan->to);
    if (move_mount(source, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return fail(err, "mounting on", plan->to);
    if (plan->is_read_only && mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
        return fail(err, "making read-only", plan->to);
    return 0;
}

static int open_as_user(const char *path, const struct launch *launch)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

    (void)setfsgid(launch->gid);
    (void)setfsuid(launch->uid);
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    int code = errno;
    (void)setfsuid(geteuid());
    (void)setfsgid(getegid());
    errno = code;
    return fd;
}

/* Makes the folders on the way to a part of a volume, which everybody may write to as to the volume. */
static int make_sub(int volume, const char *sub)
{
    int at = fcntl(volume, F_DUPFD_CLOEXEC, 0);

    while (at >= 0 && *sub) {
        char name[NAME_MAX + 1];
        size_t len = strcspn(sub, "/");
        struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};

        if (len > 0 && (size_t)snprintf(name, sizeof name, "%.*s", (int)len, sub) < sizeof name) {
            if (mkdirat(at, name, 0777) == 0 && fchmodat(at, name, 0777, 0) < 0)
                break;
            int next = (int)syscall(SYS_openat2, at, name, &how, sizeof how);

            (void)close(at);
            at = next;
        }
        sub += len + (sub[len] == '/');
    }
    int code = at < 0 || *sub ? -errno : 0;

    if (at >= 0)
        (void)close(at);
    return code;
}

/* A part of a volume. Programs can put links into volumes: they lead nowhere else. */
static int open_sub(int volume, const struct mount_plan *plan)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, volume, plan->sub, &how, sizeof how);

    if (fd < 0 && errno == ENOENT && !plan->is_users && make_sub(volume, plan->sub) == 0)
        fd = (int)syscall(SYS_openat2, volume, plan->sub, &how, sizeof how);
    return fd;
}

/* A source as a mount of its own, which can be put anywhere. */
static int open_source(const struct launch *launch, const struct mount_plan *plan)
{
    int fd =
        plan->is_users && launch->uid != 0 ? open_as_user(plan->from, launch) : open(plan->from, O_PATH | O_CLOEXEC);

    if (fd >= 0 && *plan->sub) {
        int sub = open_sub(fd, plan);

        (void)close(fd);
        fd = sub;
    }
    if (fd < 0)
        return -1;
    int tree = open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
    int code = errno;
    (void)close(fd);
    errno = code;
    return tree;
}

/* The sources, as they are before anything is mounted. */
static int open_sources(const struct launch *launch, int *fds, struct err *err)
{
    for (size_t i = 0; i < launch->mount_count; i++) {
        fds[i] = open_source(launch, &launch->mounts[i]);
        if (fds[i] < 0)
            return fail(err, "opening", launch->mounts[i].from);
    }
    return 0;
}

/* Makes the folder of an image the root; what was the root before is out of reach. */
static int enter_root(const struct launch *launch, struct err *err)
{
    static const char *const shown[] = {"/dev", "/proc", "/sys"};
    char root[PATH_MAX], options[PATH_MAX], place[PATH_MAX + 8];

    if ((size_t)snprintf(root, sizeof root, "%s/root", launch->staging) >= sizeof root ||
        (size_t)snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s/upper,workdir=%s/work", launch->root,
                         launch->changes, launch->changes) >= sizeof options)
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", launch->root);
    if (mkdir(root, 0755) < 0 || mount("overlay", root, "overlay", MS_NODEV, options) < 0)
        return fail(err, "mounting the image", launch->root);
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        (void)snprintf(place, sizeof place, "%s%s", root, shown[i]);
        if ((mkdir(place, 0755) < 0 && errno != EEXIST) || mount(shown[i], place, NULL, MS_BIND | MS_REC, NULL) < 0)
            return fail(err, "showing", shown[i]);
    }
    if (chdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return fail(err, "changing the root to", launch->root);
    return 0;
}

/* The folder that the program begins in is made, as runtimes of containers do. */
static int make_working_folder(const struct launch *launch, struct err *err)
{
    size_t len = existing(launch->folder);

    if (len == strlen(launch->folder))
        return 0;
    if (check_own(launch->folder, len, err) < 0)
        return -EPERM;
    int r = make_rest(launch->folder, len + 1, true);
    return r < 0 ? err_set(err, r, "making %s: %s", launch->folder, strerror(-r)) : 0;
}

static int finish_root(const struct launch *launch, struct err *err)
{
    int r = make_working_folder(launch, err);

    if (r == 0 && launch->is_root_read_only && mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
        return fail(err, "making read-only", "/");
    return r;
}

static int mount_all(const struct launch *launch, struct err *err)
{
    struct view view = {.staging = launch->staging, .is_own = launch->root != NULL};
    int *fds = xcalloc(launch->mount_count + 1, sizeof *fds);
    int r = open_sources(launch, fds, err);

    if (r == 0 && launch->root)
        r = enter_root(launch, err);
    for (size_t i = 0; r == 0 && i < launch->mount_count; i++)
        r = mount_one(&view, &launch->mounts[i], fds[i], err);
    free(fds);
    if (r == 0 && launch->root)
        r = finish_root(launch, err);
    if (r == 0 && *view.root && (chroot(view.root) < 0 || chdir("/") < 0))
        return fail(err, "changing the root to", view.root);
    return r;
}

int mounts_enter(const struct launch *launch, struct err *err)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return fail(err, "a mount namespace for", "the container");
    if (mount("tmpfs", launch->staging, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") < 0)
        return fail(err, "mounting a folder in memory at", launch->staging);
    return mount_all(launch, err);
}
