/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct err;
struct fence_files;
struct strbuf;

/*
 * The devices by which container runtimes put a pod behind its fence, in the words of the Container Device Interface: a
 * file each, which mounts Muster's libraries where the driver's would be, the driver's under their other names, and the
 * folder with the socket of the pod's group. Nothing in it is a variable, which a container could change.
 */

/* The text of the file. `gpud_folder` is that of the GPU daemon, on the host. */
void cdi_write(const char *fence, const struct fence_files *files, const char *gpud_folder, struct strbuf *text);

/* Makes the file in the folder `dir` hold the text, at once or not at all; nothing is written when it does already.
 * Returns 1 when it was written, 0 when it was there, or what the system says. */
MUST_CHECK int cdi_put(const char *dir, const char *fence, const struct strbuf *text, struct err *err);

/* Removes the file; it is fine when there is none. */
MUST_CHECK int cdi_remove(const char *dir, const char *fence, struct err *err);

/* Removes all files of fences that nobody wants, and what a writer that was killed has left. */
typedef bool (*cdi_wants_fn)(void *arg, const char *fence);
MUST_CHECK int cdi_sweep(const char *dir, cdi_wants_fn wants, void *arg, struct err *err);
