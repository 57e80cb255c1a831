/* SPDX-License-Identifier: Apache-2.0 */

/* muster admission. */
#include "services/admission/admission.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster admission --gpu-sharing-enabled",
    "muster admission --gpu-sharing-enabled --block-nvidia-visible-devices --log-json",
    NULL,
};

const struct command admission_command = {
    .name = "admission",
    .summary = "check and complete pods, PodGroups, Queues and Topologies on creation",
    .usage = "[FLAG...]",
    .text = "Serves the admission webhooks: adds the environment, volume and runtime class that pods on shared GPUs "
            "need, and\n"
            "rejects invalid objects, naming the wrong field and what to write instead. Creates and renews its "
            "certificates,\n"
            "and writes the caBundle of the webhook configurations in deploy/webhooks.yaml. Runs until SIGTERM.\n"
            "deploy/rbac has the permissions that it needs.\n",
    .group = GROUP_CLUSTER,
    .service = &admission_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
