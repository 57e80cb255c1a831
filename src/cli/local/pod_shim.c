/* SPDX-License-Identifier: Apache-2.0 */

/* muster pod-shim: the process beside each pod of this machine. The node agent starts it. */
#include <string.h>

#include "cli/commands.h"
#include "local/shim/shim.h"
#include "local/shim/spawner.h"

static int run_pod_shim(const struct command *command, struct arguments *arguments)
{
    int status = EXIT_FINE;

    if (!arguments_operands(arguments, 1, &status))
        return status;
    if (arguments->operand_count != 1)
        return command_wrong(command, "the folder of a pod is missing");
    return strcmp(arguments->operands[0], "-") == 0 ? spawner_main() : shim_main(arguments->operands[0]);
}

static const char *const examples[] = {"muster pod-shim /var/lib/muster/pods/0b0f3c3e-7c1d-4d2e-9a51-6f0c9e6a3b11",
                                       NULL};

const struct command pod_shim_command = {
    .name = "pod-shim",
    .summary = "run the containers of one pod (started by 'muster up')",
    .usage = "FOLDER",
    .text = "Runs the containers of the pod in FOLDER, keeps their logs and exit codes, and ends with them. It keeps "
            "running\n"
            "when 'muster up' is stopped, killed or upgraded. With - as the FOLDER, folders are read as packets from "
            "standard\n"
            "input, and each gets a process of its own.\n",
    .group = GROUP_INTERNALS,
    .examples = examples,
    .operands = OPERANDS_PATHS,
    .run = run_pod_shim,
};
