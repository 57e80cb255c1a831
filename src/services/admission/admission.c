/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, its server, and its parts put together. */
#include "services/admission/admission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/config.h"
#include "objects/keys.h"
#include "services/admission/admission_internal.h"
#include "services/admission/review.h"

#define AT(member) FLAG_AT(struct admission_flags, member)

/* One text, so that it can be told whether the flag was given. */
static const char default_runtime_class[] = "nvidia";

static const struct flag flags[] = {
    {"scheduler-name", FLAG_STRING, AT(scheduler_name), KEY_SCHEDULER_NAME, "check pods with this spec.schedulerName",
     0, 0},
    {"webhook-addr", FLAG_STRING, AT(address), "9443", "port of the webhooks, or host:port", 0, 0},
    {"gpu-sharing-enabled", FLAG_BOOL, AT(shares_gpus), "false", "admit pods that ask for a part of a GPU", 0, 0},
    {"hami-core-enabled", FLAG_BOOL, AT(limits_memory), "false",
     "add CUDA_DEVICE_MEMORY_LIMIT for HAMi-core to pods on shared GPUs", 0, 0},
    {"block-nvidia-visible-devices", FLAG_BOOL, AT(blocks_devices), "false",
     "refuse NVIDIA_VISIBLE_DEVICES; hide GPUs from containers without it", 0, 0},
    {"gpu-fraction-runtime-class-name", FLAG_STRING, AT(runtime_class), default_runtime_class,
     "runtime class of pods on shared GPUs that name none; empty: none", 0, 0},
    {"gpu-pod-runtime-class-name", FLAG_STRING, AT(old_runtime_class), default_runtime_class,
     "former name of --gpu-fraction-runtime-class-name, for older manifests", 0, 0},
    {"namespace", FLAG_STRING, AT(namespace), "",
     "namespace of the Service and the Secret (empty: that of the pod or context)", 0, 0},
    {"webhook-service-name", FLAG_STRING, AT(service_name), "admission", "Service that leads to the webhooks", 0, 0},
    {"webhook-secret-name", FLAG_STRING, AT(secret_name), "kai-admission-webhook-tls-secret",
     "Secret with the certificates and their keys", 0, 0},
    {"mutating-webhook-configuration-name", FLAG_STRING, AT(hook_names[0]), "mutating-kai-admission",
     "webhook configuration that changes pods", 0, 0},
    {"validating-webhook-configuration-name", FLAG_STRING, AT(hook_names[1]), "validating-kai-admission",
     "webhook configuration that checks pods and topologies", 0, 0},
    {"queue-webhook-configuration-name", FLAG_STRING, AT(hook_names[2]), "kai-queue-validation-v2",
     "webhook configuration that checks queues", 0, 0},
    {"podgroup-webhook-configuration-name", FLAG_STRING, AT(hook_names[3]), "kai-podgroup-validation-v2alpha2",
     "webhook configuration that checks PodGroups", 0, 0},
    {"certificate-lifetime", FLAG_DURATION, AT(server_lifetime), "2160h",
     "lifetime of the serving certificate; it is renewed when a third is left", 0, 0},
    {"authority-lifetime", FLAG_DURATION, AT(authority_lifetime), "26280h",
     "lifetime of the certificate authority; replaced when a third is left", 0, 0},
    {"leader-elect", FLAG_IGNORED, 0, "false", "accepted and ignored: every replica serves", 0, 0},
    {"fake-gpu-nodes", FLAG_IGNORED, 0, "false", "accepted and ignored", 0, 0},
    {"rate-limiter-base-delay", FLAG_IGNORED, 0, "1", "accepted and ignored", 0, 0},
    {"rate-limiter-max-delay", FLAG_IGNORED, 0, "60", "accepted and ignored", 0, 0},
};

/* API servers open a connection for each review that they wait for. */
enum { CONNECTIONS_MAX = 4096, REVIEWS_MAX = 2048, ANSWER_BYTES_MAX = 16 << 20 };

/* API servers hear late that an endpoint is gone, and go on calling it: it answers that long after the signal. */
#define LINGER (2 * NSEC_PER_SEC)
#define DRAIN (5 * NSEC_PER_SEC)
#define LIFETIME_MIN (10 * NSEC_PER_SEC)

/* The webhooks. */

struct webhook {
    const char *name;
    admission_rule_fn rule;
};

static const struct webhook default_pod = {"default-pod", admission_default_pod};
static const struct webhook check_pod = {"check-pod", admission_check_pod};
static const struct webhook check_pod_group = {"check-podgroup", admission_check_pod_group};
static const struct webhook check_queue = {"check-queue", admission_check_queue};
static const struct webhook check_topology = {"check-topology", admission_check_topology};

static void count(struct admission *admission, const struct webhook *webhook, const char *outcome)
{
    meter_add(meter_series(admission->reviews, METER_LABELS(webhook->name, outcome)), 1);
}

static void answer(struct admission *admission, const struct webhook *webhook, struct http_exchange *exchange)
{
    struct service *service = admission->service;
    struct review_outcome outcome;
    struct err err = {0};
    struct strbuf text;
    size_t len;
    const char *body = http_exchange_body(exchange, &len);

    strbuf_init(&text, ANSWER_BYTES_MAX);
    int r = review_answer(&admission->rules, webhook->rule, body, len, chance_next(kube_client_chance(service->client)),
                          &text, &outcome, &err);
    if (r < 0) {
        count(admission, webhook, "malformed");
        rest_fail_err(exchange, &err);
    } else {
        count(admission, webhook, outcome.is_denied ? "denied" : "allowed");
        if (outcome.is_denied)
            log_info(service->log, "denied", log_str("webhook", webhook->name), log_str("object", outcome.object),
                     log_str("reason", outcome.message));
        http_reply(exchange, 200, "application/json", text.text, text.len);
    }
    strbuf_done(&text);
}

/* Handlers get the argument of the set; which webhook it is has to be in the code. */
#define HANDLER(webhook)                                                    \
    static void handle_##webhook(void *arg, struct http_exchange *exchange) \
    {                                                                       \
        answer(arg, &(webhook), exchange);                                  \
    }
HANDLER(default_pod)
HANDLER(check_pod)
HANDLER(check_pod_group)
HANDLER(check_queue)
HANDLER(check_topology)

#define ROUTE(path, webhook)                                                                              \
    REST_ROUTE("POST", path, handle_##webhook, .types = "application/json", .body_max = REVIEW_BYTES_MAX, \
               .requests_max = REVIEWS_MAX)

static const struct rest_route routes[] = {
    ROUTE("/mutate--v1-pod", default_pod),
    ROUTE("/validate--v1-pod", check_pod),
    ROUTE("/validate-scheduling-run-ai-v2alpha2-podgroup", check_pod_group),
    ROUTE("/validate-scheduling-run-ai-v2-queue", check_queue),
    ROUTE("/validate-kai-scheduler-v1alpha1-topology", check_topology),
};

/* The server. */

static int listen_with(struct admission *admission, const struct certificate *certificate, struct err *err)
{
    const char *given = admission->flags->address;
    bool is_port = strspn(given, "0123456789") == strlen(given);
    const struct rest_set set = {routes, ARRAY_LEN(routes), admission};
    struct rest_options options = {.sets = &set,
                                   .set_count = 1,
                                   .errors = REST_ERRORS_STATUS,
                                   .http = {.cert_pem = certificate->cert_pem,
                                            .key_pem = certificate->key_pem,
                                            .connections_max = CONNECTIONS_MAX}};
    char address[300];
    char host[256];

    (void)snprintf(address, sizeof address, "%s%.280s", is_port ? ":" : "", given);
    int r = address_parse(address, host, &options.http.port, err);
    if (r < 0)
        return r;
    options.http.address = *host ? host : "::";
    r = rest_server_start(admission->service->loop, &options, &admission->server, err);
    if (r < 0 && r != -EADDRINUSE && !*host) {
        options.http.address = "0.0.0.0";
        r = rest_server_start(admission->service->loop, &options, &admission->server, err);
    }
    if (r < 0)
        return err_wrap(err, r, "webhooks");
    log_info(admission->service->log, "serving webhooks", log_str("address", address),
             log_int("port", http_server_port(admission->server)));
    return 0;
}

void server_use(struct admission *admission, const struct certificate *certificate)
{
    struct vault *vault = &admission->vault;
    struct err err = {0};
    int r;

    if (admission->is_stopping || (vault->served_pem && strcmp(vault->served_pem, certificate->cert_pem) == 0))
        return;
    if (admission->server)
        r = http_server_set_certificate(admission->server, certificate->cert_pem, certificate->key_pem, &err);
    else
        r = listen_with(admission, certificate, &err);
    if (r < 0 && !admission->server) {
        service_fail(admission->service, &err);
        return;
    }
    if (r < 0) {
        log_fail(admission->service->log, "the new certificate cannot be used; keeping the old one", log_error(&err));
        return;
    }
    free(vault->served_pem);
    vault->served_pem = xstrdup(certificate->cert_pem);
    service_set_ready(admission->service, true);
}

/* Figures. */

static void set_days(const struct admission *admission, const char *which, const char *cert_pem)
{
    struct certificate_facts facts;

    if (!cert_pem || certificate_read(cert_pem, &facts, NULL) < 0)
        return;
    meter_set(meter_series(admission->days_left, METER_LABELS(which)),
              (double)(facts.not_after - nsec_now_wall()) / (double)(24 * NSEC_PER_HOUR));
}

static void collect(void *arg, struct metrics *metrics)
{
    const struct admission *admission = arg;

    (void)metrics;
    set_days(admission, "serving", admission->vault.served_pem);
    set_days(admission, "authority", admission->vault.keyring.authority.cert_pem);
}

/* The life of the service. */

static int configure(struct service *service, struct err *err)
{
    struct admission_flags *values = service->values;

    if (!*values->scheduler_name)
        return err_set(err, -EINVAL, "--scheduler-name: is empty");
    if (!*values->service_name || !*values->secret_name)
        return err_set(err, -EINVAL, "--webhook-service-name and --webhook-secret-name: must not be empty");
    if (values->server_lifetime < LIFETIME_MIN || values->authority_lifetime < values->server_lifetime)
        return err_set(err, -EINVAL,
                       "--certificate-lifetime must be 10s or longer, and --authority-lifetime not shorter than that");
    if (values->runtime_class == default_runtime_class)
        values->runtime_class = values->old_runtime_class;
    return 0;
}

static void end_server(void *arg);

static int open_admission(struct service *service, struct err *err)
{
    struct admission *admission = xcalloc(1, sizeof *admission);
    const struct admission_flags *values = service->values;
    const char *own = kube_client_config(service->client)->namespace;

    (void)err;
    service->state = admission;
    admission->service = service;
    admission->flags = values;
    admission->namespace = *values->namespace ? values->namespace : own && *own ? own : "kai-scheduler";
    admission->rules = (struct admission_rules){
        .scheduler_name = values->scheduler_name,
        .shares_gpus = values->shares_gpus,
        .limits_memory = values->limits_memory,
        .blocks_devices = values->blocks_devices,
        .runtime_class = values->runtime_class,
    };
    admission->reviews =
        metrics_counter(service->metrics, "admission_reviews_total",
                        "Objects that API servers submitted for admission.", METER_LABELS("webhook", "outcome"));
    admission->rotations = meter_series(metrics_counter(service->metrics, "admission_certificate_changes_total",
                                                        "Times that this replica stored new certificates.", NULL),
                                        NULL);
    admission->days_left = metrics_gauge(service->metrics, "admission_certificate_days_left",
                                         "Days until a certificate expires.", METER_LABELS("certificate"));
    metrics_on_collect(service->metrics, collect, admission);
    loop_timer_init(&admission->linger, service->loop, end_server, admission);
    hooks_start(admission);
    vault_start(admission);
    return 0;
}

static void on_drained(void *arg)
{
    struct admission *admission = arg;

    service_stopped(admission->service);
}

static void end_server(void *arg)
{
    struct admission *admission = arg;

    http_server_drain(admission->server, DRAIN, on_drained, admission);
}

static void stop(struct service *service)
{
    struct admission *admission = service->state;

    admission->is_stopping = true;
    if (admission->server)
        loop_timer_start(&admission->linger, LINGER);
    else
        service_stopped(service);
}

static void close_admission(struct service *service)
{
    struct admission *admission = service->state;

    loop_timer_done(&admission->linger);
    http_server_free(admission->server);
    vault_done(admission);
    hooks_done(admission);
    free(admission);
}

const struct service_kind admission_service = {
    .name = "admission",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct admission_flags),
    .has_api = true,
    .configure = configure,
    .open = open_admission,
    .stop = stop,
    .close = close_admission,
};
