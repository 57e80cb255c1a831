/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "cli/work/api.h"
#include "cli/work/find.h"

struct logs_options {
    bool follows;
    bool is_previous;       // of the containers before their last restart
    bool has_times;         // before each line
    int64_t tail;           // so many lines of the end; negative: all
    const char *container;  // NULL: the first one
};

/*
 * Prints the logs of the pods of a workload on standard output as they come, with the name of the pod before each line where
 * there are several. Fails as api_send() does.
 */
MUST_CHECK int logs_print(struct api *api, const struct workload_set *set, const struct workload_row *row,
                          const struct logs_options *options, struct err *err);

/* Waits until the workload has a pod that has started, or has ended. */
MUST_CHECK int logs_await_start(struct api *api, const char *workload, struct err *err);
