/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpud. */
#include "cli/commands.h"
#include "gpu/daemon/service.h"

static const char *const examples[] = {
    "muster gpud",
    "muster gpud --config /etc/muster/gpud.yaml --log-json",
    NULL,
};

const struct command gpud_command = {
    .name = "gpud",
    .summary = "share the GPUs of this node: memory limits and shares of compute",
    .usage = "[FLAG...]",
    .text = "The daemon of a node: it keeps the ledger of GPU memory and grants leases of compute. Its tenants are "
            "programs\n"
            "under 'muster gpu run' and containers that load its library. Runs until SIGTERM.\n",
    .group = GROUP_NODE,
    .service = &gpud_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
