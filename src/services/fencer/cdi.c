/* SPDX-License-Identifier: Apache-2.0 */
#include "services/fencer/cdi.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/sharing.h"
#include "services/fencer/files.h"
#include "text/file.h"
#include "text/json.h"

#define FILE_PREFIX "muster-"
#define FILE_END ".json"
/* Of no kind that runtimes read. */
#define NEXT_END ".next"

enum { CDI_FILE_MAX = 64 << 10 };

/* Containers. */
#define LIBRARY_FOLDER "/usr/lib/muster"
#define SOCKET_FOLDER "/run/muster/gpu"
/* A newer libcuda that images of NVIDIA bring along, and their runtime prefers to an older driver's. */
#define COMPAT_CUDA "/usr/local/cuda/compat/libcuda.so.1"

static const char *const renamed[] = {
    [DRIVER_CUDA] = LIBRARY_FOLDER "/libmuster-driver-cuda.so.1",
    [DRIVER_NVML] = LIBRARY_FOLDER "/libmuster-driver-nvml.so.1",
};

static yyjson_mut_val *add_mount(yyjson_mut_doc *doc, yyjson_mut_val *mounts, const char *host, const char *container)
{
    static const char *const options[] = {"ro", "nosuid", "nodev", "bind"};
    yyjson_mut_val *mount = yyjson_mut_arr_add_obj(doc, mounts);

    (void)yyjson_mut_obj_add_strcpy(doc, mount, "hostPath", host);
    (void)yyjson_mut_obj_add_strcpy(doc, mount, "containerPath", container);
    (void)yyjson_mut_obj_add_val(doc, mount, "options",
                                 yyjson_mut_arr_with_str(doc, (const char **)options, ARRAY_LEN(options)));
    return yyjson_mut_obj_get(mount, "options");
}

static void add_library(yyjson_mut_doc *doc, yyjson_mut_val *mounts, const struct fence_library *library,
                        const char *other_name)
{
    (void)add_mount(doc, mounts, library->file, other_name);
    /* The runtime of the vendor makes the name a link to the file, or finds it taken: both have to be ours. */
    (void)add_mount(doc, mounts, library->proxy, library->name);
    if (library->file_there[0])
        (void)add_mount(doc, mounts, library->proxy, library->file_there);
}

void cdi_write(const char *fence, const struct fence_files *files, const char *gpud_folder, struct strbuf *text)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    struct strbuf socket;

    strbuf_init(&socket, PATH_MAX);
    strbuf_addf(&socket, "%s/groups/%s", gpud_folder, fence);
    /* The oldest version that says all of this, so that every runtime reads it. */
    (void)yyjson_mut_obj_add_str(doc, root, "cdiVersion", "0.3.0");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", FENCE_KIND);
    yyjson_mut_val *device = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "devices"));
    (void)yyjson_mut_obj_add_str(doc, device, "name", fence);
    yyjson_mut_val *edits = yyjson_mut_obj_add_obj(doc, device, "containerEdits");
    yyjson_mut_val *mounts = yyjson_mut_obj_add_arr(doc, edits, "mounts");

    (void)add_mount(doc, mounts, files->core, LIBRARY_FOLDER "/libmuster-gpu-core.so");
    for (enum fence_driver driver = 0; driver < _DRIVER_MAX; driver++)
        add_library(doc, mounts, &files->drivers[driver], renamed[driver]);
    (void)add_mount(doc, mounts, files->drivers[DRIVER_CUDA].proxy, COMPAT_CUDA);
    (void)yyjson_mut_arr_add_str(doc, add_mount(doc, mounts, socket.text, SOCKET_FOLDER), "noexec");
    char *json = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END, NULL);

    BUG_ON(!json);
    strbuf_addstr(text, json);
    free(json);
    strbuf_done(&socket);
    yyjson_mut_doc_free(doc);
}

static int fail(struct err *err, int code, const char *path)
{
    return err_set(err, code, "%s: %s", path, strerror(-code));
}

static int write_all(int fd, const struct strbuf *text)
{
    for (size_t done = 0; done < text->len;) {
        ssize_t n = write(fd, text->text + done, text->len - done);

        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

static bool holds(const char *path, const struct strbuf *text)
{
    _cleanup_(freep) char *found = NULL;
    size_t len = 0;

    return file_read(path, CDI_FILE_MAX, &found, &len, NULL) == 0 && len == text->len &&
           memcmp(found, text->text, len) == 0;
}

int cdi_put(const char *dir, const char *fence, const struct strbuf *text, struct err *err)
{
    char path[PATH_MAX];
    char next[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/" FILE_PREFIX "%s" FILE_END, dir, fence) >= PATH_MAX - (int)sizeof NEXT_END ||
        text->is_cut)
        return fail(err, -ENAMETOOLONG, dir);
    (void)snprintf(next, sizeof next, "%.*s" NEXT_END, PATH_MAX - (int)sizeof NEXT_END, path);
    if (holds(path, text))
        return 0;
    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return fail(err, -errno, dir);
    int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd < 0)
        return fail(err, -errno, next);
    int r = write_all(fd, text);
    (void)close(fd);
    if (r == 0 && rename(next, path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(next);
    return r < 0 ? fail(err, r, path) : 1;
}

int cdi_remove(const char *dir, const char *fence, struct err *err)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/" FILE_PREFIX "%s" FILE_END, dir, fence);
    return unlink(path) == 0 || errno == ENOENT ? 0 : fail(err, -errno, path);
}

/* The fence that a file is about; false when it is not one of ours. */
static bool fence_of(const char *file, char fence[static FENCE_NAME_MAX], bool *ret_is_next)
{
    size_t len = strlen(FILE_PREFIX) + FENCE_NAME_MAX - 1;

    if (strncmp(file, FILE_PREFIX, strlen(FILE_PREFIX)) != 0 || strlen(file) < len)
        return false;
    memcpy(fence, file + strlen(FILE_PREFIX), FENCE_NAME_MAX - 1);
    fence[FENCE_NAME_MAX - 1] = '\0';
    *ret_is_next = strcmp(file + len, FILE_END NEXT_END) == 0;
    return fence_name_is_good(fence) && (*ret_is_next || strcmp(file + len, FILE_END) == 0);
}

int cdi_sweep(const char *dir, cdi_wants_fn wants, void *arg, struct err *err)
{
    DIR *listing = opendir(dir);
    int r = 0;

    if (!listing)
        return errno == ENOENT ? 0 : fail(err, -errno, dir);
    int folder = dirfd(listing);

    BUG_ON(folder < 0);
    for (const struct dirent *entry; r == 0 && (entry = readdir(listing));) {
        char fence[FENCE_NAME_MAX];
        bool is_next;

        if (fence_of(entry->d_name, fence, &is_next) && (is_next || !wants(arg, fence)) &&
            unlinkat(folder, entry->d_name, 0) < 0 && errno != ENOENT)
            r = fail(err, -errno, entry->d_name);
    }
    (void)closedir(listing);
    return r;
}
