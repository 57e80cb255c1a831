/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "gpu/daemon/group_spec.h"

struct err;

/* A GPU for a program. */
struct gpu_choice {
    char uuid[GROUP_GPU_SIZE];
    uint64_t capacity;
    uint64_t left;
};

/*
 * From the daemon's /v1/status: the GPU that was named, by UUID or index. Otherwise (`wanted` is NULL) the one with most
 * memory that is not reserved; with `profile`, the one with room for most slices of it. Returns 0, or -ENOENT when there
 * is none.
 */
MUST_CHECK int gpu_choose(const char *status, const char *wanted, const char *profile, struct gpu_choice *ret_choice,
                          struct err *err);
