/* SPDX-License-Identifier: Apache-2.0 */

/* muster slurm: Slurm's commands, also under their own names when the program is called by them. */
#include "cli/slurm/slurm.h"

#include <string.h>

#include "cli/commands.h"

static const struct command *const verbs[] = {
    &sbatch_command, &srun_command, &squeue_command, &scancel_command, &sinfo_command, &sacct_command, NULL};

const struct command *slurm_command_find(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *word = slash ? slash + 1 : name;

    for (const struct command *const *verb = verbs; *verb; verb++) {
        if (strcmp(command_word(*verb), word) == 0)
            return *verb;
    }
    return NULL;
}

static const char *const examples[] = {
    "muster slurm sbatch train.sh",
    "muster slurm squeue --me",
    NULL,
};

const struct command slurm_command = {
    .name = "slurm",
    .summary = "sbatch, srun, squeue, scancel, sinfo and sacct",
    .usage = "VERB [ARGUMENT...]",
    .text = "A symbolic link to muster that is named after a VERB, such as 'sbatch', runs that command.\n",
    .group = GROUP_WORK,
    .verbs = verbs,
    .examples = examples,
};
