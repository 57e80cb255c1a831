/* SPDX-License-Identifier: Apache-2.0 */

/* muster controller: services of a cluster in one process, with one client and one watch for each kind of object. */
#include <string.h>

#include "cli/commands.h"
#include "frame/service.h"
#include "services/admission/admission.h"
#include "services/binder/binder.h"
#include "services/grouper/grouper.h"
#include "services/podgroups/podgroups.h"
#include "services/queues/queues.h"
#include "services/scaler/scaler.h"
#include "services/scheduler/scheduler.h"

/* All that may run here; one row each. */
static const struct service_kind *const kinds[] = {
    &scheduler_service, &binder_service,    &grouper_service, &podgroups_service,
    &queues_service,    &admission_service, &scaler_service,  NULL,
};

/* Those that run unless --services says otherwise: all that change nothing beyond their own objects and need nothing else. */
static const char default_services[] = "scheduler,binder,grouper,podgroups,queues";

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
    const char *names = default_services;
    int first = 0;

    /* Which flags there are depends on it, so it comes before them. */
    if (arguments->argc > 0 && strncmp(arguments->argv[0], CHOICE, strlen(CHOICE)) == 0) {
        names = arguments->argv[0] + strlen(CHOICE);
        first = 1;
    }
    size_t count = choose(command, names, chosen);
    if (count == 0)
        return EXIT_WRONG_CALL;
    return run_services(command, chosen, count, arguments->argc - first, arguments->argv + first);
}

static const char *const examples[] = {
    "muster controller --kubeconfig ~/.kube/config",
    "muster controller --services=scheduler,binder,grouper,podgroups,queues,admission,scaler --leader-elect",
    "muster controller --binder.max-concurrent-reconciles=20 --metrics-bind-address=:9090",
    NULL,
};

const struct command controller_command = {
    .name = "controller",
    .summary = "run the services of a small cluster in one process",
    .usage = "[--services=NAME,...] [FLAG...]",
    .text = "Runs scheduler, binder, grouper, podgroups and queues, or the services that --services names as the first "
            "flag,\n"
            "in one process. They share one connection and one watch for each kind of object, which saves memory. A "
            "flag goes\n"
            "to every service that has it; --binder.qps=50 is for the binder alone. /metrics, /healthz and /readyz are "
            "those\n"
            "of all services. Runs until SIGTERM.\n",
    .group = GROUP_CLUSTER,
    .services = kinds,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_controller,
};
