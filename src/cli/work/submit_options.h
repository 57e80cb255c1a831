/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "cli/command.h"
#include "cli/work/api.h"
#include "cli/work/array.h"
#include "cli/work/job_spec.h"
#include "cli/work/output.h"

/* The options of `muster submit`. */
struct submit_call {
    struct api_place place;
    enum output output;
    struct job_spec spec;
    struct array_spec array;
    bool has_array;
    bool waits, follows;
    bool is_attached;  // our input and output are those of the command
    bool is_dry_run;

    /* Texts that the spec borrows. */
    char base_name[JOB_NAME_BYTES];
    char gpu_part[16];
    char *workdir;
    VEC(char *) texts;
};

enum {
    SUBMIT_OPTION_OUTPUT = API_OPTION_COUNT,
    SUBMIT_OPTION_NAME,
    SUBMIT_OPTION_QUEUE,
    SUBMIT_OPTION_GPUS,
    SUBMIT_OPTION_GPU_MEMORY,
    SUBMIT_OPTION_GPU_PRODUCT,
    SUBMIT_OPTION_CPUS,
    SUBMIT_OPTION_MEMORY,
    SUBMIT_OPTION_GANG,
    SUBMIT_OPTION_PRIORITY,
    SUBMIT_OPTION_IMAGE,
    SUBMIT_OPTION_ENV,
    SUBMIT_OPTION_WORKDIR,
    SUBMIT_OPTION_TIME,
    SUBMIT_OPTION_RETRIES,
    SUBMIT_OPTION_DEPENDENCY,
    SUBMIT_OPTION_BEGIN,
    SUBMIT_OPTION_HOLD,
    SUBMIT_OPTION_ARRAY,
    SUBMIT_OPTION_NODE_POOL,
    SUBMIT_OPTION_NODE,
    SUBMIT_OPTION_ANNOTATION,
    SUBMIT_OPTION_WAIT,
    SUBMIT_OPTION_FOLLOW,
    SUBMIT_OPTION_STDIN,
    SUBMIT_OPTION_TTY,
    SUBMIT_OPTION_DRY_RUN,
    SUBMIT_OPTION_COUNT
};

extern const struct command_option submit_options[SUBMIT_OPTION_COUNT];

/* Reads the words of the call. False: the command ends with `*ret_status`, since help or a complaint has been printed. */
MUST_CHECK bool submit_call_read(struct submit_call *call, const struct command *command, struct arguments *arguments,
                                 int *ret_status);
void submit_call_done(struct submit_call *call);
