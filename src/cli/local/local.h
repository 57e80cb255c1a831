/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct arguments;
struct command;
struct err;

/* What the commands of local mode share. */

/* The log of a server in the background, in the state folder. */
#define LOCAL_LOG "muster.log"

/* "FOLDER/NAME"; to be freed by the caller. */
char *local_path(const char *folder, const char *name) __attribute__((returns_nonnull));

/* The last value of --NAME or --NAME=VALUE, "true" for one that stands alone; NULL when it is not given. For commands whose
 * flags are read by a service. */
const char *local_flag(const struct arguments *arguments, const char *name);

/* Whether a service is only to print its help or its version. */
bool local_wants_text(const struct arguments *arguments);

/* Sends a request to the server of a state folder. The answer, to be freed by the caller, is in `*ret_body`, which may be
 * NULL. Returns 0; -ECONNREFUSED or -ENOENT when no server runs; -EIO for an answer that is no good one. */
MUST_CHECK int local_ask(const char *folder, const char *method, const char *path, char **ret_body, struct err *err);

/* The same with a body of JSON; when the server refuses it, `err` has its words. */
MUST_CHECK int local_post(const char *folder, const char *path, const char *body, char **ret_body, struct err *err);

/* The same for a request with a body that may take long, such as a backup. When the server refuses it, `err` has its words. */
MUST_CHECK int local_order(const char *folder, const char *path, const char *body, struct err *err);
/* The same over another socket of the folder. */
MUST_CHECK int local_ask_socket(const char *folder, const char *name, const char *method, const char *path,
                                char **ret_body, struct err *err);

/* A link that opens the page once; to be freed by the caller. Returns 0, or fails as local_ask() does. */
MUST_CHECK int local_link(const char *folder, char **ret_url, struct err *err);

/* Prints how to reach the server; returns an exit status. */
int local_print_access(const char *folder);

/* A verb of `muster node`. */
extern const struct command node_token_verb;

/* The process that serves the folder; 0 when there is none. */
int local_server_pid(const char *folder);
