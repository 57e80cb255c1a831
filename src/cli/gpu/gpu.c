/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu: the GPUs of this machine, a verb for each task. */
#include "cli/gpu/gpu.h"

static const struct command *const verbs[] = {
    &gpu_run_command,
    &gpu_top_command,
    &gpu_status_command,
    &gpu_park_command,
    &gpu_resume_command,
    &gpu_doctor_command,
    NULL,
};

static const char *const examples[] = {
    "muster gpu run --memory 20Gi -- python train.py",
    "muster gpu top",
    NULL,
};

const struct command gpu_command = {
    .name = "gpu",
    .summary = "run a program on a part of a GPU, and see which programs use which GPU",
    .usage = "VERB [OPTION...] [PROGRAM [ARGUMENT...]]",
    .text = "Shares the GPUs of this machine between programs, without a cluster. docs/gpu-sharing.md explains the "
            "limits.\n",
    .group = GROUP_NODE,
    .verbs = verbs,
    .examples = examples,
};
