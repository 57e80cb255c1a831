/* SPDX-License-Identifier: Apache-2.0 */

/*
 * muster controller: services of a cluster in one process, with one client and one watch for each kind of object. Config and
 * SchedulingShards say which of them run and how; with --services, flags do.
 */
#include <string.h>

#include "cli/commands.h"
#include "frame/service.h"
#include "services/admission/admission.h"
#include "services/binder/binder.h"
#include "services/grouper/grouper.h"
#include "services/operator/operator.h"
#include "services/podgroups/podgroups.h"
#include "services/queues/queues.h"
#include "services/scaler/scaler.h"
#include "services/scheduler/scheduler.h"
#include "services/starter/starter.h"

/* All that may run here; one row each. */
static const struct service_kind *const kinds[] = {
    &scheduler_service, &binder_service,  &grouper_service,
    &podgroups_service, &queues_service,  &admission_service,
    &scaler_service,    &starter_service, NULL,
};

/* Whose flags there are: those of the command without --services, then those of the services. */
static const struct service_kind *const takers[] = {
    &controller_service, &scheduler_service, &binder_service, &grouper_service, &podgroups_service,
    &queues_service,     &admission_service, &scaler_service, &starter_service, NULL,
};

#define CHOICE "--services="

static const struct service_kind *find_kind(const char *name, size_t len)
{
    for (size_t i = 0; kinds[i]; i++) {
        if (strncmp(kinds[i]->name, name, len) == 0 && kinds[i]->name[len] == '\0')
            return kinds[i];
    }
    return NULL;
}

/* The services that `names` lists, each once. Returns how many there are; 0 after an error was reported. */
static size_t choose(const struct command *command, const char *names, const struct service_kind **chosen)
{
    size_t count = 0;

    for (;;) {
        size_t len = strcspn(names, ",");
        const struct service_kind *kind = find_kind(names, len);

        if (!kind) {
            (void)command_wrong(command, "--services: there is no service '%.*s' here", (int)len, names);
            return 0;
        }
        for (size_t i = 0; i < count; i++) {
            if (chosen[i] == kind) {
                (void)command_wrong(command, "--services: '%s' is listed twice", kind->name);
                return 0;
            }
        }
        chosen[count++] = kind;
        if (names[len] == '\0')
            return count;
        names += len + 1;
    }
}

static int run_controller(const struct command *command, struct arguments *arguments)
{
    const struct service_kind *chosen[ARRAY_LEN(kinds)];

    /* Which flags there are depends on it, so it comes before them. */
    if (arguments->argc == 0 || strncmp(arguments->argv[0], CHOICE, strlen(CHOICE)) != 0)
        return run_host(command, &controller_service, kinds, arguments);
    size_t count = choose(command, arguments->argv[0] + strlen(CHOICE), chosen);
    if (count == 0)
        return EXIT_WRONG_CALL;
    return run_services(command, chosen, count, arguments->argc - 1, arguments->argv + 1);
}

static const char *const examples[] = {
    "muster controller --kubeconfig ~/.kube/config",
    "muster controller --namespace=kai-scheduler --leader-elect",
    "muster controller --services=scheduler,binder,grouper --binder.max-concurrent-reconciles=20",
    NULL,
};

const struct command controller_command = {
    .name = "controller",
    .summary = "run the services of a small cluster in one process",
    .usage = "[--services=NAME,...] [FLAG...]",
    .text =
        "Runs the services in one process, configured by the Config kai-config and the SchedulingShards. Each shard "
        "has a\n"
        "scheduler, and a service whose settings change is restarted. Without a Config, the scheduler, binder, "
        "grouper,\n"
        "podgroups, queues and starter services run with their defaults. All services share one connection and one "
        "watch for "
        "each\n"
        "kind of object, which saves memory. The flags are --namespace, --apply-crds, and those for the API server, "
        "the\n"
        "Lease, addresses and the log.\n"
        "\n"
        "With --services as the first flag, only these services run, configured by flags instead of the Config and\n"
        "shards. A flag applies to every service that has it; --binder.qps=50 applies to the binder alone.\n"
        "\n"
        "/metrics, /healthz and /readyz cover all services. Runs until SIGTERM.\n",
    .group = GROUP_CLUSTER,
    .services = takers,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_controller,
};
