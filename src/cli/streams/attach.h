/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/macros.h"
#include "cli/work/api.h"

struct attach_options {
    const char *container;  // NULL: the first one
    const char *pod;        // NULL: the first one that runs
    bool is_silent;         // our input is not passed on
};

/* Connects our input and output to a container of the workload, as the container wants them, until it ends. Fails and
 * answers as remote_run() does. */
MUST_CHECK int attach_run(struct api *api, const char *workload, const struct attach_options *options, int *ret_status,
                          struct err *err);
