/* SPDX-License-Identifier: Apache-2.0 */

/*
 * srun: within a job, the program itself, since each task is a pod that runs the script. Outside of one, a job of its own
 * that is waited for.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/slurm/sbatch.h"
#include "cli/slurm/slurm.h"
#include "cli/work/submit.h"

static int run_here(const char *const *words)
{
    struct err err = {0};
    int code;

    (void)execvp(words[0], (char *const *)(uintptr_t)words);
    code = errno;
    (void)err_set(&err, -code, "%s: %s", words[0], strerror(code));
    (void)command_failed(-code, &err);
    return code == ENOENT ? 127 : 126;
}

static int run_srun(const struct command *command, struct arguments *arguments)
{
    struct submitted submitted = {0};
    struct arena arena;
    struct sbatch_call call = {.arena = &arena, .default_name = "srun", .writes_files = true};
    struct err err = {0};
    struct api api = {0};
    int status = EXIT_FINE;
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        call.values.of[option] = arguments->value ? arguments->value : "";
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count == 0)
        return command_wrong(command, "a PROGRAM is missing");
    if (getenv("SLURM_JOB_ID"))
        return run_here(arguments->operands);
    arena_init(&arena);
    call.script = "#!/bin/sh\nexec \"$@\"\n";
    call.arguments = arguments->operands;
    call.argument_count = arguments->operand_count;
    int code = api_open(&api, &(struct api_place){0}, &err);
    if (code == 0)
        code = sbatch_submit(&api, &call, &submitted, &err);
    if (code == 0) {
        (void)fprintf(stderr, "srun: job %s submitted\n", submitted.job_id);
        code = submit_await(&api, &submitted, &status, &err);
    }
    if (code < 0)
        status = command_failed(code, &err);
    submitted_done(&submitted);
    api_close(&api);
    arena_done(&arena);
    return status;
}

static const char *const examples[] = {
    "muster slurm srun --gres=gpu:1 python train.py",
    "muster slurm srun -n 4 ./solver",
    NULL,
};

const struct command srun_command = {
    .name = "slurm srun",
    .summary = "run a program as a task of a job, or as a job of its own",
    .usage = "[OPTION...] PROGRAM [ARGUMENT...]",
    .text = "In a script of 'sbatch', runs the PROGRAM directly. Elsewhere, submits it as a job and waits until the "
            "job ends;\n"
            "its output is in slurm-NUMBER.out. The exit status is that of the PROGRAM.\n",
    .options = slurm_options,
    .option_count = SLURM_OPTION_COUNT,
    .examples = examples,
    .operands = OPERANDS_PROGRAM,
    .run = run_srun,
};
