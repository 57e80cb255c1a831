/* SPDX-License-Identifier: Apache-2.0 */

/* The controllers of local mode in a process of their own: local-controllers [FLAG...], as any service has them. */
#include <stdio.h>

#include "base/err.h"
#include "frame/process.h"
#include "local/cleaning/cleaning.h"
#include "local/workloads/workloads.h"

static const struct service_kind *const kinds[] = {
    &replica_sets_controller.service,
    &replication_controllers_controller.service,
    &deployments_controller.service,
    &stateful_sets_controller.service,
    &jobs_controller.service,
    &cron_jobs_controller.service,
    &budgets_controller.service,
    &garbage_service,
    &namespaces_service,
    &nodes_service,
};

int main(int argc, char **argv)
{
    struct err err = {0};
    int r = process_main(kinds, ARRAY_LEN(kinds), argc - 1, (const char *const *)argv + 1, &err);
    if (r < 0)
        (void)fprintf(stderr, "local-controllers: %s\n", err.text);
    return r < 0;
}
