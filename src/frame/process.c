/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The run of a process, from its flags to its end. Services are configured, opened and begun in the order of their
 * table, and closed in reverse.
 */
#include "frame/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/process_internal.h"
#include "frame/start_pages.h"

/* After so long whatever is done once has been done. */
#define START (2 * NSEC_PER_SEC)

/* A process has at least one service, which is configured before anything is logged. */
static struct log *log_of(const struct process *process)
{
    return process->run->services.items[0]->log;
}

/* The end. */

static void stop_took_too_long(void *arg)
{
    struct process *process = arg;

    log_warn(log_of(process), "stopped before all work was finished",
             log_duration("after", process->settings.stop_timeout));
    loop_stop(process->loop);
}

static void begin_stop(struct process *process)
{
    if (process->run->is_stopping)
        return;
    process->run->is_stopping = true;
    loop_timer_start(&process->run->stop_timer, process->settings.stop_timeout);
    vec_foreach (&process->run->services, service)
        service_begin_stop(*service);
}

void process_service_is_over(struct process *process)
{
    vec_foreach (&process->run->services, service) {
        if (!(*service)->run->is_over)
            return;
    }
    servers_drain(process);
}

void process_fail(struct process *process, const struct err *err, bool is_at_once)
{
    if (!process->run->is_stopping)
        process->run->failure = *err;
    if (is_at_once) {
        process->run->is_stopping = true;
        loop_stop(process->loop);
        return;
    }
    begin_stop(process);
}

static void on_signal(void *arg, int signal)
{
    struct process *process = arg;

    if (process->run->is_stopping) {
        loop_stop(process->loop);
        return;
    }
    log_info(log_of(process), "stopping on a signal", log_str("signal", strsignal(signal)));
    begin_stop(process);
}

/* The beginning. */

static void on_started(void *arg)
{
    (void)arg;
    start_pages_drop();
}

static int listen_to_signals(struct process *process, struct err *err)
{
    int code = loop_on_signal(process->loop, SIGTERM, on_signal, process, err);

    return code < 0 ? code : loop_on_signal(process->loop, SIGINT, on_signal, process, err);
}

static int configure(struct process *process, enum log_level *ret_level, struct err *err)
{
    vec_foreach (&process->run->services, service) {
        int code = service_configure(*service, err);

        if (code < 0)
            return code;
    }
    return process_settings_check(&process->settings, ret_level, err);
}

static int open_all(struct process *process, enum log_level level, struct err *err)
{
    struct process_run *run = process->run;
    int code;

    process->loop = loop_new();
    run->level = level;
    loop_timer_init(&run->stop_timer, process->loop, stop_took_too_long, process);
    loop_timer_init(&run->started_timer, process->loop, on_started, process);
    loop_timer_start(&run->started_timer, START);
    code = listen_to_signals(process, err);
    vec_foreach (&run->services, service) {
        if (code == 0)
            code = service_open(*service, level, err);
    }
    return code;
}

static void close_all(struct process *process)
{
    struct process_run *run = process->run;

    for (size_t i = run->services.len; i > 0; i--)
        service_close(run->services.items[i - 1]);
    if (run->client)
        kube_client_free(run->client);
    free(run->server);
    servers_stop(process);
    vec_foreach (&run->registries, registry) {
        metrics_free(registry->metrics);
        free(registry->prefix);
    }
    vec_done(&run->registries);
    loop_timer_done(&run->stop_timer);
    loop_timer_done(&run->started_timer);
    loop_free(process->loop);
    vec_foreach (&run->services, service)
        log_free((*service)->log);
}

static int run_until_stopped(struct process *process, enum log_level level, struct err *err)
{
    int code = open_all(process, level, err);

    if (code < 0) {
        if (log_of(process) && code != -EINVAL)
            log_fail(log_of(process), "cannot start", log_error(err));
        close_all(process);
        return code;
    }
    vec_foreach (&process->run->services, service)
        service_begin(*service);
    loop_run(process->loop);
    log_info(log_of(process), "stopped");
    code = process->run->failure.code;
    if (code < 0)
        *err = process->run->failure;
    close_all(process);
    return code;
}

void process_forget_service(struct process *process, const struct service *service)
{
    struct process_services *services = &process->run->services;

    for (uint32_t i = 0; i < services->len; i++) {
        if (services->items[i] == service) {
            vec_remove_at(services, i);
            return;
        }
    }
}

static int run_process(const struct service_kind *const *kinds, size_t kind_count,
                       const struct service_kind *const *hostable, bool is_check, int argc, const char *const *argv,
                       struct err *err)
{
    struct process_run run = {.hostable = hostable};
    struct process process = {.run = &run};
    size_t set_count = 0;
    struct flag_set *sets = xcalloc(kind_count * SERVICE_FLAG_SETS, sizeof *sets);
    enum flags_result asked = FLAGS_RUN;
    enum log_level level = LOG_INFO;
    int code;

    for (size_t i = 0; i < kind_count; i++) {
        struct service *service = service_new(&process, kinds[i]);
        size_t count = service_flag_sets(kinds[i], &sets[set_count]);

        vec_push(&run.services, service);
        for (size_t s = 0; s < count; s++) {
            struct flag_set *set = &sets[set_count + s];

            set->taker = i;
            set->taker_name = kind_count > 1 ? kinds[i]->name : NULL;
            set->values = s == 0                        ? service->values
                          : set->flags == process_flags ? (void *)&process.settings
                                                        : (void *)&service->settings;
        }
        set_count += count;
    }
    code = flags_parse(sets, set_count, argc, argv, &asked, err);
    if (code == 0 && asked == FLAGS_HELP)
        code = PROCESS_WANTS_HELP;
    else if (code == 0 && process.settings.wants_version)
        code = PROCESS_WANTS_VERSION;
    else if (code == 0)
        code = configure(&process, &level, err);
    if (code == 0 && !is_check)
        code = run_until_stopped(&process, level, err);
    flags_done(sets, set_count);
    free(sets);
    vec_foreach (&run.services, service)
        service_free(*service);
    vec_done(&run.services);
    return code;
}

int process_main(const struct service_kind *const *kinds, size_t kind_count, int argc, const char *const *argv,
                 struct err *err)
{
    return run_process(kinds, kind_count, NULL, false, argc, argv, err);
}

int process_check(const struct service_kind *const *kinds, size_t kind_count, int argc, const char *const *argv,
                  struct err *err)
{
    return run_process(kinds, kind_count, NULL, true, argc, argv, err);
}

int process_main_hosting(const struct service_kind *host, const struct service_kind *const *hostable, int argc,
                         const char *const *argv, struct err *err)
{
    return run_process(&host, 1, hostable, false, argc, argv, err);
}
