/* SPDX-License-Identifier: Apache-2.0 */

/* muster queues. */
#include "services/queues/queues.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster queues --kubeconfig ~/.kube/config",
    "muster queues --leader-elect --queue-label-to-metric-label=team=team,cost-center=cost_center",
    NULL,
};

const struct command queues_command = {
    .name = "queues",
    .summary = "write the status of queues and serve their metrics",
    .usage = "[FLAG...]",
    .text = "Watches queues and PodGroups and keeps the status of each queue up to date: what the workloads of the "
            "queue and\n"
            "of the queues below it request and were allocated, and the names of its child queues. Serves the quota "
            "and the\n"
            "allocation of queues as Prometheus metrics. Runs until SIGTERM. deploy/rbac has the permissions that it "
            "needs.\n",
    .group = GROUP_CLUSTER,
    .service = &queues_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
