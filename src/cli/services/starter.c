/* SPDX-License-Identifier: Apache-2.0 */

/* muster starter. */
#include "services/starter/starter.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster starter --kubeconfig ~/.kube/config",
    "muster starter --leader-elect --numbers-namespace=kai-scheduler",
    NULL,
};

const struct command starter_command = {
    .name = "starter",
    .summary = "number submitted Jobs, and start them once their conditions are met",
    .usage = "[FLAG...]",
    .text =
        "Needed in a cluster for arrays and dependencies of 'muster submit', and for 'sbatch'. Starts Jobs that wait\n"
        "for other Jobs, for a time or for their turn in an array. Runs until SIGTERM. deploy/rbac has the\n"
        "permissions that it needs.\n",
    .group = GROUP_CLUSTER,
    .service = &starter_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
