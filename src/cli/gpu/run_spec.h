/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What `muster gpu run` was asked for, and the group that follows from it. */

#include <stdbool.h>

#include "cli/gpu/choose.h"
#include "gpu/daemon/group_spec.h"

struct gpu_run_call {
    const char *memory, *memory_limit, *share, *mode, *priority, *mig, *gpu, *name;  // NULL: not given
    bool is_parkable;
    const char *folder;        // of the daemon
    const char *const *words;  // the program and its arguments
};

/* The group for the call on the chosen GPU. Returns 0, or -EINVAL when an amount or a share cannot be meant. */
MUST_CHECK int gpu_run_spec(const struct gpu_run_call *call, const struct gpu_choice *gpu, struct group_spec *spec,
                            struct err *err);
