/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/time.h"

struct loop;

/*
 * A child process: it gets text on its standard input, and its output is kept, within a limit. It
 * leads a session of its own, which is killed as a whole when the time is over, so that no descendant is left running.
 */
struct process;

struct process_result {
    struct err err;      // code 0: it ended by itself within its limits, whatever its status
    int exit_status;     // -1 when a signal ended it
    int signal;          // 0 when none did
    const char *output;  // NUL-terminated; never NULL
    size_t output_len;
    const char *complaints;  // the beginning of its standard error; NUL-terminated
};

/* The child is gone and so are its outputs; the process is freed after this returns. */
typedef void (*process_done_fn)(void *arg, const struct process_result *result);

struct process_request {
    const char *const *argv;  // up to a NULL; the first is looked for in PATH when it has no slash
    const char *const *env;   // "NAME=value" up to a NULL: the whole environment; NULL: ours
    const char *folder;       // to run in; NULL: ours
    const char *input;        // NULL: none
    size_t input_len;
    size_t output_max;  // bytes of output; more is an error and ends the child
    nsec_t timeout;     // 0: none
    process_done_fn on_done;
    void *arg;
};

/* Starts the child. On failure, `on_done` is not called. */
MUST_CHECK int process_start(struct loop *loop, const struct process_request *request, struct process **ret_process,
                             struct err *err);

/* Kills the child; no callback comes after it. */
void process_cancel(struct process *process);
