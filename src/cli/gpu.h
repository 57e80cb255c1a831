/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"
#include "cli/command.h"

/* What the commands for GPUs share. */

struct err;

/* The options of `muster gpu`, as they are in the table of commands. */
enum {
    GPU_OPTION_MEMORY,
    GPU_OPTION_MEMORY_LIMIT,
    GPU_OPTION_SHARE,
    GPU_OPTION_MODE,
    GPU_OPTION_GPU,
    GPU_OPTION_NAME,
    GPU_OPTION_FOLDER,
    GPU_OPTION_OUTPUT,
    GPU_OPTION_ONCE,
};

struct gpu_call {
    const char *memory, *memory_limit, *share, *mode, *gpu, *name;  // NULL: not given
    const char *folder;                                             // of the daemon; never NULL
    bool as_json;
    bool once;
    const char *const *words;  // behind the verb
    size_t word_count;
};

int gpu_run(const struct command *command, const struct gpu_call *call);
int gpu_top(const struct command *command, const struct gpu_call *call);
int gpu_doctor(const struct command *command, const struct gpu_call *call);

/* Asks the daemon of a folder. Returns 0 with the body of a good answer, to be freed; -ECONNREFUSED or the like when
 * nobody is there, -EACCES when it is another user's, -ETIMEDOUT when it hangs, and the daemon's own words, with -EINVAL or
 * -ENOENT, when it refuses. */
MUST_CHECK int gpu_ask(const char *folder, const char *method, const char *path, const char *body, char **ret_text,
                       struct err *err);

/* Says what went wrong, and returns the status to end with: a daemon that is away is no wrong call. */
int gpu_failed(int code, const struct err *err);

/* The library that a tenant is started with; false when it is not where it should be. */
bool gpu_library(char *path, size_t size);
