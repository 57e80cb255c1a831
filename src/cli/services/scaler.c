/* SPDX-License-Identifier: Apache-2.0 */

/* muster scaler. */
#include "services/scaler/scaler.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster scaler --kubeconfig ~/.kube/config",
    "muster scaler --leader-elect --scaling-pod-image=registry.example.com/muster:0.1",
    NULL,
};

const struct command scaler_command = {
    .name = "scaler",
    .summary = "have a cluster autoscaler add nodes for pods that wait for a part of a GPU",
    .usage = "[FLAG...]",
    .text = "Pods with a GPU fraction request no GPU that a cluster autoscaler counts. For those that find no place, "
            "creates\n"
            "scaling pods that request whole GPUs, so that the autoscaler adds nodes, and deletes them when the pods "
            "have a\n"
            "place or were deleted. Runs until SIGTERM. deploy/rbac has the permissions that it needs.\n",
    .group = GROUP_CLUSTER,
    .service = &scaler_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
