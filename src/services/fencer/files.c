/* SPDX-License-Identifier: Apache-2.0 */
#include "services/fencer/files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* As many as the kernel would follow are not needed: the links of packages are two or three deep. */
enum { LINKS_MAX = 8 };

static const char *const sonames[] = {[DRIVER_CUDA] = "libcuda.so.1", [DRIVER_NVML] = "libnvidia-ml.so.1"};
_Static_assert(ARRAY_LEN(sonames) == _DRIVER_MAX, "every library has a name");

static const char *const folders[] = {"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                      "/lib64",     "/lib/x86_64-linux-gnu",     "/lib/aarch64-linux-gnu"};

__attribute__((format(printf, 2, 3))) static bool put(char path[static PATH_MAX], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf(path, PATH_MAX, format, args);
    va_end(args);
    return len >= 0 && len < PATH_MAX;
}

/* Follows the links of a path below a root, in which absolute links begin there as well. False when there is no file. */
static bool follow(const char *root, char path[static PATH_MAX])
{
    for (int i = 0; i < LINKS_MAX; i++) {
        char seen[PATH_MAX];
        char target[PATH_MAX];
        char next[PATH_MAX];
        struct stat found;

        if (!put(seen, "%s%s", root, path) || lstat(seen, &found) < 0)
            return false;
        if (!S_ISLNK(found.st_mode))
            return S_ISREG(found.st_mode);
        ssize_t len = readlink(seen, target, sizeof target - 1);
        if (len <= 0)
            return false;
        target[len] = '\0';
        int folder = (int)(strrchr(path, '/') - path);
        if (!(target[0] == '/' ? put(next, "%s", target) : put(next, "%.*s/%s", folder, path, target)))
            return false;
        memcpy(path, next, strlen(next) + 1);
    }
    return false;
}

static bool find_driver(const struct fence_places *places, const char *root, const char *folder, const char *soname,
                        struct fence_library *library)
{
    char path[PATH_MAX];

    if (!put(path, "%s/%s", folder, soname) || !put(library->name, "%s", path) || !follow(root, path) ||
        !put(library->file, "%s%s", places->driver_root, path))
        return false;
    return put(library->file_there, "%s", strcmp(path, library->name) == 0 ? "" : path);
}

static int find_library(const struct fence_places *places, enum fence_driver driver, struct fence_library *library,
                        struct err *err)
{
    char root[PATH_MAX];
    char seen[PATH_MAX];
    bool is_found = false;

    if (!put(root, "%s%s", places->host_root, places->driver_root))
        return err_set(err, -ENOENT, "--host-root and --driver-root are too long");
    for (size_t i = 0; i < ARRAY_LEN(folders) && !is_found; i++)
        is_found = find_driver(places, root, folders[i], sonames[driver], library);
    if (!is_found)
        return err_set(err, -ENOENT, "the driver's %s was not found in the library folders below %s/", sonames[driver],
                       root);
    if (!put(library->proxy, "%s/proxy/%s", places->library_dir, sonames[driver]) ||
        !put(seen, "%s%s", places->host_root, library->proxy) || access(seen, R_OK) < 0)
        return err_set(err, -ENOENT, "Muster's %s was not found in %s/proxy", sonames[driver], places->library_dir);
    return 0;
}

int fence_files_find(const struct fence_places *places, struct fence_files *ret_files, struct err *err)
{
    char seen[PATH_MAX];
    int r = 0;

    if (!put(ret_files->core, "%s/libmuster-gpu-core.so", places->library_dir) ||
        !put(seen, "%s%s", places->host_root, ret_files->core) || access(seen, R_OK) < 0)
        return err_set(err, -ENOENT, "Muster's libmuster-gpu-core.so was not found in %s", places->library_dir);
    for (enum fence_driver driver = 0; driver < _DRIVER_MAX && r >= 0; driver++)
        r = find_library(places, driver, &ret_files->drivers[driver], err);
    return r;
}
