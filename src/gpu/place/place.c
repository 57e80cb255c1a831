/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/place/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"

enum { PATH_SIZE = 512, ROOT_UID = 0 };

static const char folder_of_root[] = "/run/muster/gpu";

bool gpu_library(char *path, size_t size)
{
    static const char *const places[] = {
        "/src/gpu/tenant/libmuster-gpu.so",
        "/libmuster-gpu.so",
        "/../lib/muster/libmuster-gpu.so",
        "/../lib/x86_64-linux-gnu/muster/libmuster-gpu.so",
        "/../lib/aarch64-linux-gnu/muster/libmuster-gpu.so",
    };
    char folder[2048];
    ssize_t len = readlink("/proc/self/exe", folder, sizeof folder - 1);

    if (len <= 0)
        return false;
    folder[len] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        (void)snprintf(path, size, "%s%s", folder, places[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool gpud_has_folder(const char *folder)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s/book", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_taken = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
    if (fd >= 0)
        (void)close(fd);
    return is_taken;
}

int gpud_check_rival(const char *folder, struct err *err)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s/api.sock", folder_of_root);
    if (geteuid() == ROOT_UID || strcmp(folder, folder_of_root) == 0 || access(path, F_OK) < 0)
        return 0;
    return err_set(
        err, -EBUSY,
        "the GPUs of this machine belong to root's daemon (%s), which only root can use: a second daemon would reserve "
        "the same memory again",
        path);
}
