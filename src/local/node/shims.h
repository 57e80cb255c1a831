/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "base/macros.h"

/* Starts the processes beside pods, through one that they are forked from (local/shim/spawner.h). It is started with the
 * first of them, and again when it is gone. */
struct shims {
    int fd;     // to it; -1: it does not run
    pid_t pid;  // 0: none to wait for
};

void shims_init(struct shims *shims);

/* The processes beside pods go on. */
void shims_done(struct shims *shims);

/* Asks for the process of a folder. Returns 0; it holds the pod's lock soon, or ends because another one does. */
MUST_CHECK int shims_start(struct shims *shims, const char *folder);

/* A child has ended. */
void shims_reap(struct shims *shims);
