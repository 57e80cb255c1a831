/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/process_internal.h"

/* What a hosted service has beside what every service has. */
struct hosted {
    char *name;
    char **argv;  // flags point into it
    size_t argc;
    struct flag_set sets[SERVICE_FLAG_SETS];
    size_t set_count;
    struct process_settings unused;  // those of the process are not ours to set
    struct loop_timer removal;       // a service cannot be freed from its own callbacks
    void (*on_ready)(void *arg, bool is_ready);
    void (*on_over)(void *arg);
    void *arg;
};

static const struct service_kind *find_kind(const struct process *process, const char *name)
{
    for (size_t i = 0; process->run->hostable && process->run->hostable[i]; i++) {
        if (strcmp(process->run->hostable[i]->name, name) == 0)
            return process->run->hostable[i];
    }
    return NULL;
}

static struct hosted *hosted_new(const struct host_options *options)
{
    struct hosted *hosted = xcalloc(1, sizeof *hosted);

    hosted->name = xstrdup(options->name);
    hosted->argc = options->argc;
    hosted->argv = xcalloc(MAX(options->argc, (size_t)1), sizeof *hosted->argv);
    for (size_t i = 0; i < options->argc; i++)
        hosted->argv[i] = xstrdup(options->argv[i]);
    hosted->on_ready = options->on_ready;
    hosted->on_over = options->on_over;
    hosted->arg = options->arg;
    return hosted;
}

void hosted_close(struct hosted *hosted)
{
    loop_timer_done(&hosted->removal);
}

void hosted_free(struct hosted *hosted)
{
    if (!hosted)
        return;
    flags_done(hosted->sets, hosted->set_count);
    for (size_t i = 0; i < hosted->argc; i++)
        free(hosted->argv[i]);
    free(hosted->argv);
    free(hosted->name);
    free(hosted);
}

const char *hosted_name(const struct hosted *hosted)
{
    return hosted->name;
}

void hosted_tell_ready(const struct hosted *hosted, bool is_ready)
{
    hosted->on_ready(hosted->arg, is_ready);
}

void hosted_remove_soon(struct hosted *hosted)
{
    loop_timer_start(&hosted->removal, 0);
}

static void close_and_free(struct service *service)
{
    struct process *process = service->process;

    service_close(service);
    log_free(service->log);
    process_forget_service(process, service);
    process_forget_metrics(process, service);
    service_free(service);
}

static void remove_service(void *arg)
{
    struct service *service = arg;
    void (*on_over)(void *arg) = service->run->hosted->on_over;
    void *for_whom = service->run->hosted->arg;

    /* A process that stops closes all services in order. */
    if (service->process->run->is_stopping)
        return;
    log_info(service->log, "ended");
    close_and_free(service);
    on_over(for_whom);
}

static int configure(struct service *service, struct err *err)
{
    struct hosted *hosted = service->run->hosted;
    enum flags_result asked = FLAGS_RUN;

    hosted->set_count = service_flag_sets(service->kind, hosted->sets);
    for (size_t i = 0; i < hosted->set_count; i++) {
        struct flag_set *set = &hosted->sets[i];

        set->values = i == 0                        ? service->values
                      : set->flags == process_flags ? (void *)&hosted->unused
                                                    : (void *)&service->settings;
    }
    int code =
        flags_parse(hosted->sets, hosted->set_count, (int)hosted->argc, (const char *const *)hosted->argv, &asked, err);
    if (code == 0 && asked != FLAGS_RUN)
        code = err_set(err, -EINVAL, "--help is not available for a hosted service");
    service->settings.wants_lease = false;
    return code < 0 ? code : service_configure(service, err);
}

int host_start(struct service *host, const struct host_options *options, struct service **ret_service, struct err *err)
{
    struct process *process = host->process;
    const struct service_kind *kind = find_kind(process, options->kind);

    if (!kind)
        return err_set(err, -ENOENT, "this process has no service '%s'", options->kind);
    struct service *service = service_new(process, kind);

    service->run->hosted = hosted_new(options);
    service->common = &service->run->hosted->unused;
    loop_timer_init(&service->run->hosted->removal, process->loop, remove_service, service);
    vec_push(&process->run->services, service);
    int code = configure(service, err);
    if (code == 0)
        code = service_open(service, process->run->level, err);
    if (code < 0) {
        close_and_free(service);
        return code;
    }
    log_info(service->log, "started");
    service_begin(service);
    *ret_service = service;
    return 0;
}

void host_end(struct service *hosted)
{
    service_begin_stop(hosted);
}
