/* SPDX-License-Identifier: Apache-2.0 */

/* muster podgroups. */
#include "services/podgroups/podgroups.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster podgroups --kubeconfig ~/.kube/config",
    "muster podgroups --leader-elect --log-json",
    NULL,
};

const struct command podgroups_command = {
    .name = "podgroups",
    .summary = "write the status of PodGroups: what their pods request and were allocated",
    .usage = "[FLAG...]",
    .text =
        "Watches pods and PodGroups and keeps status.resourcesStatus of each PodGroup up to date: the resources that "
        "its\n"
        "pods request, those allocated to them, and the part that cannot be preempted. Runs until SIGTERM.\n"
        "deploy/rbac has the permissions that it needs.\n",
    .group = GROUP_CLUSTER,
    .service = &podgroups_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
