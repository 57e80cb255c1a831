/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct arguments;
struct err;

/* What the commands of local mode share. */

/* The log of a server in the background, in the state folder. */
#define LOCAL_LOG "muster.log"

/* "FOLDER/NAME"; to be freed by the caller. */
char *local_path(const char *folder, const char *name) __attribute__((returns_nonnull));

/* The last value of --NAME or --NAME=VALUE, "true" for one that stands alone; NULL when it is not given. For commands whose
 * flags are read by a service. */
const char *local_flag(const struct arguments *arguments, const char *name);

/* Sends a request to the server of a state folder. The answer, to be freed by the caller, is in `*ret_body`, which may be
 * NULL. Returns 0; -ECONNREFUSED or -ENOENT when no server runs; -EIO for an answer that is no good one. */
MUST_CHECK int local_ask(const char *folder, const char *method, const char *path, char **ret_body, struct err *err);

/* Prints how to reach the server; returns an exit status. */
int local_print_access(const char *folder);

/* The process that serves the folder; 0 when there is none. */
int local_server_pid(const char *folder);
