/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The life of one service. Its end has steps that wait for others: the kind finishes what is under way, the lease is
 * given back, events are written. The process bounds them all by a timer.
 */
#include "frame/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "frame/process_internal.h"
#include "kube/access/config.h"
#include "kube/lease/lease.h"

/* How long events that wait to be written hold up the end, and how often we look. */
#define DRAIN_STEP (20 * NSEC_PER_MSEC)

/* How often an API server that does not answer is mentioned in the log. */
#define UNREACHABLE_INTERVAL (60 * NSEC_PER_SEC)

bool service_is_leading(const struct service *service)
{
    const struct service_run *run = service->run;

    return run->is_leading && !service->process->run->is_stopping && (!run->lease || lease_is_held(run->lease));
}

void service_set_ready(struct service *service, bool is_ready)
{
    if (service->run->is_ready == is_ready)
        return;
    service->run->is_ready = is_ready;
    if (service->run->hosted)
        hosted_tell_ready(service->run->hosted, is_ready);
}

/* All kinds of objects meet the same closed door: one line for all of them, and rarely another one. */
static void report_unreachable(struct service *service, const struct err *err, nsec_t wait)
{
    nsec_t now = nsec_now_monotonic();

    if (service->run->unreachable_again > now)
        return;
    service->run->unreachable_again = now + UNREACHABLE_INTERVAL;
    log_warn(service->log, "the API server is unreachable; requests are retried until it answers",
             log_str("server", service->run->server), log_error(err), log_duration("first_retry_after", wait));
}

void service_follow_problem(struct service *service, const char *what, const struct err *err, nsec_t wait)
{
    meter_add(meter_series(service->run->problems, METER_LABELS(what)), 1);
    if (err->code == -ECONNREFUSED || err->code == -EHOSTUNREACH) {
        report_unreachable(service, err, wait);
        return;
    }
    log_warn(service->log, "list and watch failed", log_str("kind", what), log_error(err),
             log_duration("again_after", wait));
}

/* The end. */

static void end(struct service *service)
{
    service->run->is_over = true;
    if (service->process->run->is_stopping || !service->run->hosted)
        process_service_is_over(service->process);
    else
        hosted_remove_soon(service->run->hosted);
}

static void drain(void *arg)
{
    struct service *service = arg;
    struct service_run *run = service->run;

    if (service->recorder && recorder_waiting(service->recorder) > 0) {
        loop_timer_start(&run->drain_timer, DRAIN_STEP);
        return;
    }
    end(service);
}

/* The lease is freed behind us. */
static void on_released(void *arg)
{
    struct service *service = arg;

    service->run->lease = NULL;
    loop_timer_start(&service->run->drain_timer, 0);
}

/* Hosted services act for the lease of their host: nobody else may act before they have stopped. */
static bool has_acting_guests(const struct service *service)
{
    vec_foreach (&service->process->run->services, one) {
        const struct service_run *run = (*one)->run;

        if (run->hosted && (*one)->kind->can_elect && !run->has_stopped)
            return true;
    }
    return false;
}

/* Whoever waits for the lease need not wait for our events. */
static void give_back(struct service *service)
{
    struct service_run *run = service->run;

    if (run->is_given_back || (run->lease && has_acting_guests(service)))
        return;
    run->is_given_back = true;
    if (run->lease)
        lease_release(run->lease, on_released, service);
    else
        loop_timer_start(&run->drain_timer, 0);
}

void service_stopped(struct service *service)
{
    if (service->run->has_stopped)
        return;
    service->run->has_stopped = true;
    give_back(service);
    vec_foreach (&service->process->run->services, one)
        if ((*one)->run->has_stopped)
            give_back(*one);
}

void service_begin_stop(struct service *service)
{
    struct service_run *run = service->run;
    bool was_leading = run->is_leading;

    /* A hosted one may be about to end when the process is told to. */
    if (run->is_stopping)
        return;
    run->is_stopping = true;
    run->is_leading = false;
    if (was_leading && service->kind->stop)
        service->kind->stop(service);
    else
        service_stopped(service);
}

void service_fail(struct service *service, const struct err *err)
{
    if (service->process->run->is_stopping)
        return;
    log_fail(service->log, "the service failed", log_error(err));
    process_fail(service->process, err, false);
}

/* The lease. */

static void lead(struct service *service)
{
    service->run->is_leading = true;
    if (service->kind->lead)
        service->kind->lead(service);
}

static void on_held(void *arg)
{
    struct service *service = arg;

    log_info(service->log, "leading", log_str("lease", service->settings.lease_name));
    lead(service);
}

static void on_lost(void *arg, const struct err *err)
{
    struct service *service = arg;
    struct err lost = *err;

    lost.code = -ESTALE;
    (void)err_wrap(&lost, -ESTALE, "lease %s lost", service->settings.lease_name);
    log_fail(service->log, "the service failed", log_error(&lost));
    /*
     * Others act from now on, and do not know of what we have yet to write: nothing is waited for, what waits to be
     * sent never is, and the process ends, so that it starts from scratch.
     */
    lease_free(TAKE_PTR(service->run->lease));
    service->run->is_leading = false;
    service->run->has_lost = true;
    process_fail(service->process, &lost, true);
}

static void on_leader(void *arg, const char *identity)
{
    struct service *service = arg;

    log_info(service->log, "another replica is the leader", log_str("identity", identity));
}

static void on_lease_problem(void *arg, const struct err *err)
{
    struct service *service = arg;

    log_warn(service->log, "the lease could not be acquired or renewed", log_error(err));
}

/* "<hostname>_<uuid>": the operator takes what is in front of the underscore for the name of the pod. */
static void make_identity(char *text, size_t size)
{
    unsigned char random[16];
    char host[128] = "";

    if (gethostname(host, sizeof host - 1) < 0 || !*host)
        (void)snprintf(host, sizeof host, "muster");
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        bug_abort(__FILE__, __LINE__, "the system provides no random numbers");
    random[6] = (unsigned char)((random[6] & 0x0f) | 0x40);
    random[8] = (unsigned char)((random[8] & 0x3f) | 0x80);
    (void)snprintf(text, size, "%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", host,
                   random[0], random[1], random[2], random[3], random[4], random[5], random[6], random[7], random[8],
                   random[9], random[10], random[11], random[12], random[13], random[14], random[15]);
}

/* Events may still be written when the lease has been given back. */
static bool may_write(void *arg)
{
    const struct service_run *run = ((const struct service *)arg)->run;

    return !run->has_lost && (!run->is_leading || !run->lease || lease_is_held(run->lease));
}

static void seek_lease(struct service *service)
{
    const struct service_settings *settings = &service->settings;
    const char *given = settings->lease_namespace;
    const char *own = kube_client_config(service->client)->namespace;
    char identity[256];

    make_identity(identity, sizeof identity);
    service->run->lease = lease_new(service->client, &(struct lease_options){
                                                         .namespace = *given ? given : own,
                                                         .name = settings->lease_name,
                                                         .identity = identity,
                                                         .duration = settings->lease_duration,
                                                         .renew_deadline = settings->lease_renew_deadline,
                                                         .retry_period = settings->lease_retry_period,
                                                         .on_held = on_held,
                                                         .on_lost = on_lost,
                                                         .on_leader = on_leader,
                                                         .on_problem = on_lease_problem,
                                                         .arg = service,
                                                     });
    kube_client_guard(service->client, may_write, service);
    log_info(service->log, "waiting for the lease", log_str("lease", settings->lease_name),
             log_str("namespace", *given ? given : own), log_str("identity", identity));
}

/* The beginning. */

struct service *service_new(struct process *process, const struct service_kind *kind)
{
    struct service *service = xcalloc(1, sizeof *service);
    const size_t values_size = MAX(kind->values_size, (size_t)1);

    *service = (struct service){
        .kind = kind,
        .process = process,
        .common = &process->settings,
        .values = xcalloc(1, values_size),
        .run = xcalloc(1, sizeof *service->run),
    };
    return service;
}

int service_configure(struct service *service, struct err *err)
{
    struct service_settings *settings = &service->settings;
    int code;

    (void)snprintf(service->run->lease_name, sizeof service->run->lease_name, "muster-%s", service->kind->name);
    settings->lease_name = service->run->lease_name;
    settings->metrics_prefix = "muster";
    code = service->kind->configure ? service->kind->configure(service, err) : 0;
    if (code < 0)
        return code;
    if (!settings->component)
        settings->component = service->kind->name;
    return service_settings_check(service->kind, settings, err);
}

/* Several services have one client, with one set of watches. */
static int connect_client(struct service *service, struct err *err)
{
    const struct service_settings *settings = &service->settings;
    struct process_run *run = service->process->run;
    bool is_shared = run->services.len > 1 || run->hostable;
    struct kube_config *config = NULL;
    char agent[128];

    if (run->client) {
        service->client = run->client;
        service->run->server = xstrdup(run->server);
        return 0;
    }
    int code = kube_config_load(*settings->kubeconfig ? settings->kubeconfig : NULL,
                                *settings->context ? settings->context : NULL, &config, err);

    if (code < 0)
        return err_wrap(err, -EINVAL, "loading the kubeconfig");
    service->run->server = xstrdup(config->server);
    (void)snprintf(agent, sizeof agent, "muster-%s", is_shared ? "controller" : service->kind->name);
    log_info(service->log, "starting", log_str("server", config->server));
    service->client = kube_client_new(service->loop, config,
                                      &(struct kube_client_options){
                                          .qps = settings->qps,
                                          .burst = settings->burst,
                                          .in_flight_max = (uint32_t)settings->in_flight_max,
                                          .user_agent = agent,
                                          .shares_watches = is_shared,
                                      });
    if (is_shared) {
        run->client = service->client;
        run->server = xstrdup(service->run->server);
    }
    return 0;
}

int service_open(struct service *service, enum log_level level, struct err *err)
{
    struct process *process = service->process;
    bool is_first = process->run->services.items[0] == service;
    int code = 0;

    service->loop = process->loop;
    service->log = log_new(&(struct log_options){
        .is_json = process_log_is_json(&process->settings),
        .level = level,
        .name = service->run->hosted ? hosted_name(service->run->hosted) : service->kind->name,
    });
    loop_timer_init(&service->run->drain_timer, service->loop, drain, service);
    service->metrics = service_registry(service, service->settings.metrics_prefix);
    service_metrics_add(service);
    if (service->kind->has_api)
        code = connect_client(service, err);
    if (service->client)
        service->recorder =
            recorder_new(service->client, &(struct recorder_options){.component = service->settings.component});
    if (code == 0 && is_first)
        code = probes_start(process, service->log, err);
    if (code == 0 && service->kind->open)
        code = service->kind->open(service, err);
    service->run->is_opened = code == 0;
    return code;
}

void service_begin(struct service *service)
{
    if (service->settings.wants_lease)
        seek_lease(service);
    else
        lead(service);
}

void service_close(struct service *service)
{
    if (service->run->is_opened && service->kind->close)
        service->kind->close(service);
    if (service->run->lease)
        lease_free(service->run->lease);
    if (service->loop)
        loop_timer_done(&service->run->drain_timer);
    if (service->run->hosted)
        hosted_close(service->run->hosted);
    if (service->recorder)
        recorder_free(service->recorder);
    if (service->client && service->client != service->process->run->client)
        kube_client_free(service->client);
}

void service_free(struct service *service)
{
    hosted_free(service->run->hosted);
    free(service->values);
    free(service->run->server);
    free(service->run);
    free(service);
}
