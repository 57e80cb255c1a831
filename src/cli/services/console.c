/* SPDX-License-Identifier: Apache-2.0 */

/* muster console. */
#include "console/console.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "muster console --database console.db",
    "muster console --database postgresql://muster@db/console --audit-head /var/lib/muster/audit-head",
    "muster console --listen :8443 --tls-cert tls.crt --tls-key tls.key",
    NULL,
};

const struct command console_command = {
    .name = "console",
    .summary = "serve departments, projects, users and access rights by Run:ai's REST API",
    .usage = "[FLAG...]",
    .text =
        "Serves the organisation by Run:ai's REST API and keeps it in a database: an SQLite file, or PostgreSQL.\n"
        "Departments and projects become Queues and namespaces of the cluster that the kubeconfig names; 'muster up'\n"
        "writes one for a single machine. The first start prints a one-time link to set up the first administrator.\n"
        "Runs until SIGTERM. docs/console.md has the details.\n",
    .group = GROUP_CLUSTER,
    .service = &console_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
