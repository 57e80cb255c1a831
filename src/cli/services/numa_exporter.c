/* SPDX-License-Identifier: Apache-2.0 */

/* muster numa-exporter. */
#include "services/numa_exporter/numa_exporter.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster numa-exporter --node-name gpu-1 --kubeconfig ~/.kube/config",
    "NODE_NAME=gpu-1 muster numa-exporter --sysfs-root=/host/sys --poll-interval=2s",
    NULL,
};

const struct command numa_exporter_command = {
    .name = "numa-exporter",
    .summary = "annotate pods with the NUMA zones of their resources",
    .usage = "[FLAG...]",
    .text =
        "Runs on each node with several NUMA zones. Asks the kubelet which CPUs, memory and devices each container "
        "has, "
        "and\n"
        "writes the zones that they are in on the pod, as the annotation kai.scheduler/numa-placement-observed. The\n"
        "scheduler's plugin 'numa' reads it. Runs until SIGTERM. docs/numa.md has the details.\n",
    .group = GROUP_CLUSTER,
    .service = &numa_exporter_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
