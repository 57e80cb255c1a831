/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "base/macros.h"

struct err;

/* The libraries that a fence is made of: Muster's own, and the driver's that they stand in front of. */

/* Where to look. */
struct fence_places {
    const char *library_dir;  // Muster's, as they are installed
    const char *driver_root;  // below which the driver's files lie, as on a file system of their own; "": /
    const char *host_root;    // where this process sees the host's file system; "": it is its own
};

enum fence_driver { DRIVER_CUDA, DRIVER_NVML, _DRIVER_MAX };

/* Of one of the driver's libraries; paths of the host, and of containers. */
struct fence_library {
    char proxy[PATH_MAX];       // host: what takes its place
    char file[PATH_MAX];        // host: the driver's file, behind all links
    char name[PATH_MAX];        // container: the name that programs ask for
    char file_there[PATH_MAX];  // container: where runtimes put the driver's file; "": by that name
};

struct fence_files {
    char core[PATH_MAX];  // host: what the proxies need
    struct fence_library drivers[_DRIVER_MAX];
};

/* Finds all of them. They change when the driver is updated, so that it is asked for each time. Returns 0, or -ENOENT
 * with what is missing and where it was looked for. */
MUST_CHECK int fence_files_find(const struct fence_places *places, struct fence_files *ret_files, struct err *err);
