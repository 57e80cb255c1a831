/* SPDX-License-Identifier: Apache-2.0 */

/* muster operator. */
#include "services/operator/operator.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster operator --namespace=kai-scheduler",
    "muster operator --leader-elect --config-values=kai-config",
    NULL,
};

const struct command operator_command = {
    .name = "operator",
    .summary = "run the other services as the Config and the SchedulingShards specify",
    .usage = "[FLAG...]",
    .text = "Creates the Deployments, Services, webhook configurations and settings of all services from the Config\n"
            "kai-config and the SchedulingShards, repairs them when they are changed, and reports by conditions. The\n"
            "Helm chart installs it. Runs until SIGTERM.\n",
    .group = GROUP_CLUSTER,
    .service = &operator_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
