/* SPDX-License-Identifier: Apache-2.0 */

/* muster binder. */
#include "services/binder/binder.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster binder --leader-elect",
    "muster binder --kubeconfig ~/.kube/config --qps 500 --burst 1000 --max-concurrent-reconciles 50",
    "muster binder --gpu-fence --plugins='{\"gpusharing\": {\"arguments\": {\"cdiEnabled\": \"true\"}}}'",
    NULL,
};

const struct command binder_command = {
    .name = "binder",
    .summary = "bind pods to the nodes that BindRequests name",
    .usage = "[FLAG...]",
    .text =
        "Executes BindRequests: reserves shared GPUs, binds volumes and allocates devices, then binds the pod. If a\n"
        "step fails, the binder undoes the steps before it. Runs until SIGTERM. docs/binder.md has the details.\n",
    .group = GROUP_CLUSTER,
    .service = &binder_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
