/* SPDX-License-Identifier: Apache-2.0 */

/* muster scheduler. */
#include "services/scheduler/scheduler.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster scheduler --kubeconfig ~/.kube/config",
    "muster scheduler --scheduler-conf=/etc/config/config.yaml --leader-elect",
    "muster scheduler --partition-label-value=h100 --bind-requests=always",
    NULL,
};

const struct command scheduler_command = {
    .name = "scheduler",
    .summary = "schedule the pods of a cluster: where each runs, and which pods it preempts",
    .usage = "[FLAG...]",
    .text =
        "Watches a Kubernetes cluster and binds pods that name this scheduler, as KAI Scheduler does, with the same\n"
        "objects, flags and configuration. A pod that needs no preparation is bound directly; other pods get a\n"
        "BindRequest, which 'muster binder' executes. Runs until SIGTERM. docs/kubernetes.md explains the set-up.\n",
    .group = GROUP_CLUSTER,
    .service = &scheduler_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
