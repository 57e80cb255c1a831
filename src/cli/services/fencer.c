/* SPDX-License-Identifier: Apache-2.0 */

/* muster fencer. */
#include "services/fencer/fencer.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster fencer --node-name gpu-1 --kubeconfig ~/.kube/config",
    "NODE_NAME=gpu-1 muster fencer --driver-root=/run/nvidia/driver --host-root=/host "
    "--library-dir=/var/lib/muster/gpu",
    NULL,
};

const struct command fencer_command = {
    .name = "fencer",
    .summary = "isolate the pods of a node that share GPUs",
    .usage = "[FLAG...]",
    .text =
        "Runs on each node beside 'muster gpud'. For each pod with a fraction of a GPU, the fencer asks gpud for a\n"
        "group with the limits in the pod's annotations, and writes a CDI device with which the container runtime\n"
        "loads Muster's library in front of the driver. docs/gpu-sharing.md has the details.\n",
    .group = GROUP_NODE,
    .service = &fencer_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
