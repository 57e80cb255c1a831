/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, and its parts put together. */
#include "services/operator/operator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/operator/operator_internal.h"

#define AT(member) FLAG_AT(struct operator_flags, member)
#define NAMESPACE \
    {"namespace", FLAG_STRING, AT(namespace), "kai-scheduler", "namespace of the services that it runs", 0, 0}
#define APPLY_CRDS {"apply-crds", FLAG_BOOL, AT(applies_crds), "true", "update the CRDs when it starts", 0, 0}

static const struct flag flags[] = {
    NAMESPACE,
    {"config-values", FLAG_STRING, AT(values_name), "",
     "ConfigMap with the Config of the release, to be applied (empty: none)", 0, 0},
    APPLY_CRDS,
    {"image-pull-secret", FLAG_IGNORED, 0, "", "accepted and ignored", 0, 0},
};

static const struct flag controller_flags[] = {
    NAMESPACE,
    APPLY_CRDS,
    {"starter", FLAG_BOOL, AT(has_starter), "true", "number and start submitted Jobs, as 'muster starter' does", 0, 0},
};

/* Changes come in bursts: an upgrade touches everything. */
#define PAUSE (50 * NSEC_PER_MSEC)

static const char *variable(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value && *value ? value : fallback;
}

static int configure(struct service *service, struct err *err)
{
    const struct operator_flags *values = service->values;

    if (!*values->namespace)
        return err_set(err, -EINVAL, "--namespace: is empty");
    if (!*service->settings.lease_namespace)
        service->settings.lease_namespace = values->namespace;
    if (service->kind == &operator_service) {
        service->settings.lease_name = "41fce092.run.ai";
        service->settings.component = "kai-operator";
    }
    return 0;
}

void operator_wake(struct operator* operator)
{
    if (!loop_timer_is_running(&operator->timer))
        loop_timer_start(&operator->timer, PAUSE);
}

static int open_operator(struct service *service, struct err *err)
{
    struct operator* operator= xcalloc(1, sizeof *operator);

    (void)err;
    operator->service = service;
    operator->flags = service->values;
    operator->around.namespace = operator->flags->namespace;
    operator->around.registry = variable("MS_REPOSITORY", "");
    operator->around.image = variable("MS_IMAGE", "muster");
    operator->around.tag = variable("MS_TAG", "latest");
    operator->writes = meter_series(
        metrics_counter(service->metrics, "operator_writes_total", "Objects that were created or changed.", NULL),
        NULL);
    operator->failures = meter_series(
        metrics_counter(service->metrics, "operator_failures_total", "Objects that could not be written.", NULL), NULL);
    loop_timer_init(&operator->timer, service->loop, operator_reconcile, operator);
    loop_timer_init(&operator->later, service->loop, operator_reconcile, operator);
    service->state = operator;
    operator->is_hosting = operator->around.is_hosted = service->kind == & controller_service;
    operator->around.has_starter = operator->is_hosting && operator->flags->has_starter;
    /* What all replicas run does not wait for the lease. */
    if (operator->is_hosting && service->settings.wants_lease)
        watches_begin(operator);
    return 0;
}

/* A replica that does not lead is ready to. */
static void lead(struct service *service)
{
    struct operator* operator= service->state;

    operator->install = install_new(operator);
}

static void stop(struct service *service)
{
    struct operator* operator= service->state;

    operator->is_stopping = true;
    service_stopped(service);
}

static void close_operator(struct service *service)
{
    struct operator* operator= service->state;

    watches_end(operator);
    install_free(operator->install);
    owned_free_all(operator);
    source_free(operator->config);
    vec_foreach (&operator->shards, shard)
        source_free(*shard);
    vec_done(&operator->shards);
    loop_timer_done(&operator->timer);
    loop_timer_done(&operator->later);
    free(operator);
}

const struct service_kind operator_service = {
    .name = "operator",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct operator_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_operator,
    .lead = lead,
    .stop = stop,
    .close = close_operator,
};

const struct service_kind controller_service = {
    .name = "controller",
    .flags = controller_flags,
    .flag_count = ARRAY_LEN(controller_flags),
    .values_size = sizeof(struct operator_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_operator,
    .lead = lead,
    .stop = stop,
    .close = close_operator,
};
