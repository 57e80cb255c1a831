/* SPDX-License-Identifier: Apache-2.0 */

/* muster grouper. */
#include "services/grouper/grouper.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster grouper --kubeconfig ~/.kube/config",
    "muster grouper --leader-elect --qps=200 --log-json",
    NULL,
};

const struct command grouper_command = {
    .name = "grouper",
    .summary = "create a PodGroup for each workload of a cluster",
    .usage = "[FLAG...]",
    .text =
        "Watches the pods that name the scheduler, follows their owners (Job, RayCluster, PyTorchJob and others) and\n"
        "gives each workload its PodGroup. Runs until SIGTERM. deploy/rbac has the permissions that it needs.\n",
    .group = GROUP_CLUSTER,
    .service = &grouper_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
