/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/macros.h"
#include "cli/work/api.h"
#include "cli/work/find.h"

/* A program in a pod whose input and output are ours: a new one (exec), or that of a container (attach). */
struct remote_call {
    yyjson_val *pod;
    const char *container;       // NULL: the first one
    const char *const *command;  // NULL: attach
    size_t command_len;
    bool has_input;     // ours goes to it
    bool has_terminal;  // it runs on a terminal; ours is given to it, where standard input is one
};

/*
 * Runs until the program has ended or the connection is over, which is an error. Returns 0 with the exit status of the
 * program, or 128 and the number of a signal that ended us; -EINVAL with the server's reason, or -EIO.
 */
MUST_CHECK int remote_run(struct api *api, const struct remote_call *call, int *ret_status, struct err *err);

/*
 * The pod of the workload to talk to: the one of that name, or the first one that runs. `set` is read here and to be freed
 * by the caller in any case; the pod is borrowed from it.
 */
MUST_CHECK int remote_find_pod(struct api *api, const char *workload, const char *name, struct workload_set *set,
                               yyjson_val **ret_pod, struct err *err);

/* The container of that name, NULL: the first one. NULL where there is none. */
yyjson_val *remote_container(yyjson_val *pod, const char *name);
