/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "cli/commands.h"

/* What the commands for GPUs share. */

struct err;

/* The verbs of `muster gpu`. */
extern const struct command gpu_run_command;
extern const struct command gpu_top_command;
extern const struct command gpu_status_command;
extern const struct command gpu_park_command;
extern const struct command gpu_resume_command;
extern const struct command gpu_doctor_command;

/* The row of an option that all of them have. */
#define GPU_FOLDER_OPTION {0, "folder", "FOLDER", NULL, "folder of the daemon (default: /run/muster/gpu for root)"}

/* The folder of the daemon: the one that was given, or the usual one for NULL. To be freed. */
char *gpu_folder(const char *given);

/* Reads the arguments of a verb that has no option but `folder`, and no operands. Returns true
 * with the folder, to be freed; otherwise the command ends with `*ret_status`. */
MUST_CHECK bool gpu_read_folder(struct arguments *arguments, char **ret_folder, int *ret_status);

/* Sends a request to the daemon of a folder. Returns 0 with the body of a good answer, to be freed; -ECONNREFUSED or the
 * like when no daemon is there, -EACCES when it is another user's, -ETIMEDOUT when it hangs, and the daemon's own message,
 * with -EINVAL or -ENOENT, when it refuses. */
MUST_CHECK int gpu_ask(const char *folder, const char *method, const char *path, const char *body, char **ret_text,
                       struct err *err);

/* The same for what may take minutes. */
MUST_CHECK int gpu_ask_patiently(const char *folder, const char *method, const char *path, const char *body,
                                 char **ret_text, struct err *err);

/* Starts a daemon that outlives this program, and waits until it answers. */
MUST_CHECK int gpu_start_daemon(const char *folder, struct err *err);

/* Says what went wrong, and returns the status to end with: a daemon that is away is no wrong call. */
int gpu_failed(int code, const struct err *err);
