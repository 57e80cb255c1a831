/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The run of a service, from its flags to its end. The end has steps that wait for others: the kind finishes what is
 * under way, events are written, the lease is given back; a timer bounds them all.
 */
#include "frame/service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "frame/service_internal.h"
#include "frame/start_pages.h"
#include "kube/access/config.h"
#include "kube/lease/lease.h"

/* How long events that wait to be written hold up the end, and how often we look. */
#define DRAIN_STEP (20 * NSEC_PER_MSEC)

/* After so long whatever is done once has been done. */
#define START (2 * NSEC_PER_SEC)

bool service_is_leading(const struct service *service)
{
    const struct service_run *run = service->run;

    return run->is_leading && !run->is_stopping && (!run->lease || lease_is_held(run->lease));
}

void service_set_ready(struct service *service, bool is_ready)
{
    service->run->is_ready = is_ready;
}

void service_follow_problem(struct service *service, const char *what, const struct err *err, nsec_t wait)
{
    meter_add(meter_series(service->run->problems, METER_LABELS(what)), 1);
    log_warn(service->log, "following objects had a problem", log_str("kind", what), log_error(err),
             log_duration("again_after", wait));
}

/* The end. */

static void end_now(void *arg)
{
    struct service *service = arg;

    loop_stop(service->loop);
}

/* The lease is freed behind us. */
static void on_released(void *arg)
{
    struct service *service = arg;

    service->run->lease = NULL;
    end_now(service);
}

static void drain(void *arg)
{
    struct service *service = arg;
    struct service_run *run = service->run;

    if (recorder_waiting(service->recorder) > 0) {
        loop_timer_start(&run->drain_timer, DRAIN_STEP);
        return;
    }
    if (!run->lease) {
        end_now(service);
        return;
    }
    lease_release(run->lease, on_released, service);
}

void service_stopped(struct service *service)
{
    struct service_run *run = service->run;

    if (run->has_stopped)
        return;
    run->has_stopped = true;
    loop_timer_start(&run->drain_timer, 0);
}

static void stop_took_too_long(void *arg)
{
    struct service *service = arg;

    log_warn(service->log, "stopped before everything was done", log_duration("after", service->settings.stop_timeout));
    end_now(service);
}

static void begin_stop(struct service *service)
{
    struct service_run *run = service->run;
    bool was_leading = run->is_leading;

    if (run->is_stopping)
        return;
    run->is_stopping = true;
    run->is_leading = false;
    loop_timer_start(&run->stop_timer, service->settings.stop_timeout);
    if (was_leading && service->kind->stop)
        service->kind->stop(service);
    else
        service_stopped(service);
}

void service_fail(struct service *service, const struct err *err)
{
    if (service->run->is_stopping)
        return;
    service->run->failure = *err;
    log_fail(service->log, "cannot go on", log_error(err));
    begin_stop(service);
}

static void on_signal(void *arg, int signal)
{
    struct service *service = arg;

    if (service->run->is_stopping) {
        end_now(service);
        return;
    }
    log_info(service->log, "told to stop", log_str("signal", strsignal(signal)));
    begin_stop(service);
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
    service->run->failure = lost;
    log_fail(service->log, "cannot go on", log_error(&lost));
    /*
     * Others act from now on, and do not know of what we have yet to write: nothing is waited for, what waits to be
     * sent never is, and the process ends, so that it starts from scratch.
     */
    lease_free(TAKE_PTR(service->run->lease));
    service->run->is_stopping = true;
    service->run->is_leading = false;
    end_now(service);
}

static void on_leader(void *arg, const char *identity)
{
    struct service *service = arg;

    log_info(service->log, "another one leads", log_str("identity", identity));
}

static void on_lease_problem(void *arg, const struct err *err)
{
    struct service *service = arg;

    log_warn(service->log, "lease could not be had or renewed", log_error(err));
}

/* "<hostname>_<uuid>": the operator takes what is in front of the underscore for the name of the pod. */
static void make_identity(char *text, size_t size)
{
    unsigned char random[16];
    char host[128] = "";

    if (gethostname(host, sizeof host - 1) < 0 || !*host)
        (void)snprintf(host, sizeof host, "muster");
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        bug_abort(__FILE__, __LINE__, "the system has no random numbers");
    random[6] = (unsigned char)((random[6] & 0x0f) | 0x40);
    random[8] = (unsigned char)((random[8] & 0x3f) | 0x80);
    (void)snprintf(text, size, "%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", host,
                   random[0], random[1], random[2], random[3], random[4], random[5], random[6], random[7], random[8],
                   random[9], random[10], random[11], random[12], random[13], random[14], random[15]);
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
    log_info(service->log, "waiting for the lease", log_str("lease", settings->lease_name),
             log_str("namespace", *given ? given : own), log_str("identity", identity));
}

/* The beginning. */

static void on_started(void *arg)
{
    (void)arg;
    start_pages_drop();
}

static int configure(struct service *service, struct err *err)
{
    struct service_settings *settings = &service->settings;
    int code;

    settings->metrics_prefix = "muster";
    if (service->kind->configure) {
        code = service->kind->configure(service, err);
        if (code < 0)
            return code;
    }
    if (!settings->component)
        settings->component = service->kind->name;
    return settings_check(settings, err);
}

static int open_log(struct service *service, struct err *err)
{
    struct log_options options = {.is_json = settings_log_is_json(&service->settings), .name = service->kind->name};
    int code = service_log_level(&service->settings, &options.level, err);

    if (code < 0)
        return code;
    service->log = log_new(&options);
    return 0;
}

static int connect_client(struct service *service, struct err *err)
{
    const struct service_settings *settings = &service->settings;
    struct kube_config *config = NULL;
    char agent[128];
    int code = kube_config_load(*settings->kubeconfig ? settings->kubeconfig : NULL,
                                *settings->context ? settings->context : NULL, &config, err);

    if (code < 0)
        return code;
    (void)snprintf(agent, sizeof agent, "muster-%s", service->kind->name);
    log_info(service->log, "starting", log_str("server", config->server));
    service->client = kube_client_new(service->loop, config,
                                      &(struct kube_client_options){
                                          .qps = settings->qps,
                                          .burst = settings->burst,
                                          .in_flight_max = (uint32_t)settings->in_flight_max,
                                          .user_agent = agent,
                                      });
    service->recorder = recorder_new(service->client, &(struct recorder_options){.component = settings->component});
    return 0;
}

static int listen_to_signals(struct service *service, struct err *err)
{
    int code = loop_on_signal(service->loop, SIGTERM, on_signal, service, err);

    return code < 0 ? code : loop_on_signal(service->loop, SIGINT, on_signal, service, err);
}

static int open_all(struct service *service, struct err *err)
{
    struct service_run *run = service->run;
    int code = open_log(service, err);

    if (code < 0)
        return code;
    service->loop = loop_new();
    loop_timer_init(&run->stop_timer, service->loop, stop_took_too_long, service);
    loop_timer_init(&run->drain_timer, service->loop, drain, service);
    loop_timer_init(&run->started_timer, service->loop, on_started, service);
    loop_timer_start(&run->started_timer, START);
    service->metrics = metrics_new(service->settings.metrics_prefix);
    run->problems =
        metrics_counter(service->metrics, "follow_problems_total",
                        "Times that following objects of a kind had to be taken up again.", METER_LABELS("kind"));
    code = listen_to_signals(service, err);
    if (code == 0)
        code = connect_client(service, err);
    if (code < 0)
        return code;
    process_metrics_add(service);
    code = probes_start(service, err);
    if (code == 0 && service->kind->open)
        code = service->kind->open(service, err);
    return code;
}

static void close_all(struct service *service)
{
    struct service_run *run = service->run;

    lease_free(run->lease);
    servers_stop(service);
    loop_timer_done(&run->stop_timer);
    loop_timer_done(&run->drain_timer);
    loop_timer_done(&run->started_timer);
    if (service->recorder)
        recorder_free(service->recorder);
    kube_client_free(service->client);
    metrics_free(service->metrics);
    loop_free(service->loop);
    log_free(service->log);
}

static int run_until_stopped(struct service *service, struct err *err)
{
    int code = open_all(service, err);

    if (code < 0) {
        if (service->log)
            log_fail(service->log, "cannot start", log_error(err));
        close_all(service);
        return code;
    }
    if (service->settings.wants_lease)
        seek_lease(service);
    else
        lead(service);
    loop_run(service->loop);
    if (service->kind->close)
        service->kind->close(service);
    log_info(service->log, "stopped");
    code = service->run->failure.code;
    if (code < 0)
        *err = service->run->failure;
    close_all(service);
    return code;
}

int service_main(const struct service_kind *kind, int argc, const char *const *argv, struct err *err)
{
    struct service_run run = {0};
    struct service service = {.kind = kind, .argc = argc, .argv = argv, .run = &run};
    char lease_name[64];
    struct flag_set sets[2];
    enum flags_result asked;
    int code;

    service_flag_sets(kind, sets);
    service.values = xcalloc(1, kind->values_size);
    sets[0].values = service.values;
    sets[1].values = &service.settings;
    code = flags_parse(sets, 2, argc, argv, &asked, err);
    if (code == 0 && asked == FLAGS_HELP) {
        code = 1;
    } else if (code == 0) {
        (void)snprintf(lease_name, sizeof lease_name, "muster-%s", kind->name);
        service.settings.lease_name = lease_name;
        code = configure(&service, err);
        if (code == 0)
            code = run_until_stopped(&service, err);
    }
    flags_done(sets, 2);
    free(service.values);
    return code;
}
