/* SPDX-License-Identifier: Apache-2.0 */

/* The scheduler's parts, put together and taken apart. */
#include "services/scheduler/scheduler.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/context.h"
#include "services/scheduler/intake/complain.h"
#include "services/scheduler/intake/configure.h"
#include "services/scheduler/intake/usage.h"
#include "services/scheduler/intake/watching.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"

/* How often an orderly stop looks whether everything under way is over. */
#define STOP_STEP (10 * NSEC_PER_MSEC)

static struct scheduler *scheduler_of(const struct service *service)
{
    return service->state;
}

static int configure(struct service *service, struct err *err)
{
    struct scheduler_flags *flags = service->values;
    struct service_settings *settings = &service->settings;

    (void)err;
    service->process->settings.metrics_address = flags->listen_address;
    service->process->settings.health_address = flags->health_address;
    settings->metrics_prefix = flags->metrics_namespace;
    settings->lease_namespace = flags->namespace;
    settings->lease_retry_period = flags->lease_retry_period;
    settings->component = flags->scheduler_name;
    settings->lease_name = flags->lease_name;
    (void)snprintf(flags->lease_name, sizeof flags->lease_name, "%s%s%s", flags->scheduler_name,
                   *flags->partition_label_value ? "-" : "", flags->partition_label_value);
    return 0;
}

void scheduler_synced(struct scheduler *s)
{
    s->is_synced = true;
    placements_apply_all(s);
    engine_take_in(s->engine);
    log_info(s->log, "everything is known", log_int("nodes", s->state->nodes_by_rank.len),
             log_int("pods", (int64_t)map64_len(&s->state->pod_by_name)));
    service_set_ready(s->service, true);
    s->is_woken = false;
    cycle_wake(s);
}

static int add_observers(struct scheduler *s, struct err *err)
{
    s->view = (struct scheduler_view){
        .loop = s->loop,
        .service = s->service,
        .client = s->client,
        .flags = s->flags,
        .settings = &s->settings,
        .config = &s->config,
        .options = &s->options,
        .state = s->state,
        .engine = s->engine,
        .is_leading = &s->is_leading,
        .device_version = &s->device_version,
    };
    for (const scheduler_observer_fn *maker = scheduler_observers; *maker; maker++) {
        struct scheduler_observer observer = {0};
        int r = (*maker)(&s->view, &observer, err);

        if (r < 0)
            return r;
        if (r > 0)
            vec_push(&s->observers, observer);
    }
    return 0;
}

/* Everything that is known of the cluster, and all that hangs on names. */
static void forget_cluster(struct scheduler *s)
{
    watching_free(s->watching);
    s->watching = NULL;
    carry_done(s);
    writes_free(s->writes);
    report_done(s);
    complaints_done(s);
    placements_done(&s->placements);
    setbacks_done(&s->setbacks);
    gang_notes_done(&s->gang_notes);
    beside_done(&s->beside);
    map64_done(&s->lone_gangs);
    map64_done(&s->pod_conditions);
    map64_done(&s->leaving);
    map64_done(&s->namespace_pickers);
    map64_done(&s->promised);
    object_reader_done(&s->reader);
    object_notes_done(&s->notes);
    s->is_synced = false;
}

/* An empty cluster, to be filled by what is followed. */
static void begin_cluster(struct scheduler *s)
{
    s->state = state_new();
    s->engine = engine_new(s->state, &s->config);
    object_notes_init(&s->notes);
    object_reader_init(&s->reader, s->state, &s->options, NULL, &s->notes);
    report_init(s);
    s->writes = writes_new(s, (uint32_t)s->flags->status_workers);
    cycle_set_clock(s);
}

static int renew_observers(struct scheduler *s, struct err *err)
{
    int r = 0;

    s->view.state = s->state;
    s->view.engine = s->engine;
    vec_foreach (&s->observers, observer) {
        if (r >= 0 && observer->on_renewed)
            r = observer->on_renewed(observer->arg, err);
    }
    return r;
}

static void renew(void *arg)
{
    struct scheduler *s = arg;
    struct state *old_state = s->state;
    struct engine *old_engine = s->engine;
    struct err err = {0};

    log_info(s->log, "listing everything anew", log_int("names", intern_len(&s->state->names)));
    forget_cluster(s);
    begin_cluster(s);
    int r = renew_observers(s, &err);
    engine_free(old_engine);
    state_free(old_state);
    if (r < 0)
        service_fail(s->service, &err);
    else
        s->watching = watching_new(s);
}

static void scheduler_free(struct scheduler *s)
{
    loop_task_cancel(&s->renewal);
    usage_close(s);
    cycle_done(s);
    loop_timer_done(&s->stop_timer);
    forget_cluster(s);
    vec_foreach (&s->observers, observer)
        if (observer->free)
            observer->free(observer->arg);
    vec_done(&s->observers);
    engine_free(s->engine);
    state_free(s->state);
    settings_done(&s->settings);
    free(s);
}

static void look_whether_idle(void *arg)
{
    struct scheduler *s = arg;

    if (carry_is_idle(s) && report_is_over(s, nsec_now_monotonic() - s->stop_began))
        service_stopped(s->service);
    else
        loop_timer_start(&s->stop_timer, STOP_STEP);
}

static int open(struct service *service, struct err *err)
{
    struct scheduler *s = xcalloc(1, sizeof *s);

    s->service = service;
    s->flags = service->values;
    s->log = service->log;
    s->loop = service->loop;
    s->client = service->client;
    s->recorder = service->recorder;
    int r = scheduler_configure(s, err);
    if (r < 0) {
        settings_done(&s->settings);
        free(s);
        return r;
    }
    loop_timer_init(&s->stop_timer, s->loop, look_whether_idle, s);
    loop_task_init(&s->renewal, s->loop, renew, s);
    cycle_init(s);
    service->state = s;
    begin_cluster(s);
    r = add_observers(s, err);
    if (r >= 0)
        r = usage_open(s, err);
    if (r < 0) {
        scheduler_free(s);
        return r;
    }
    s->watching = watching_new(s);
    return 0;
}

static void lead(struct service *service)
{
    struct scheduler *s = scheduler_of(service);

    s->is_leading = true;
    complaints_tell(s);
    s->is_woken = false;
    cycle_wake(s);
}

/* Nothing new is begun; what is under way has a moment to end. */
static void stop(struct service *service)
{
    struct scheduler *s = scheduler_of(service);

    s->is_stopping = true;
    s->stop_began = nsec_now_monotonic();
    s->is_leading = false;
    look_whether_idle(s);
}

static void close(struct service *service)
{
    scheduler_free(scheduler_of(service));
}

const struct service_kind scheduler_service = {
    .name = "scheduler",
    .flags = scheduler_flag_table,
    .flag_count = SCHEDULER_FLAGS,
    .values_size = sizeof(struct scheduler_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open,
    .lead = lead,
    .stop = stop,
    .close = close,
};
