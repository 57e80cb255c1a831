/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The scheduler's contexts, made in order and freed in reverse. Each is one concern, and is given those that it works with;
 * no file but this one sees them all.
 */
#include "services/scheduler/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "model/state.h"
#include "net/loop.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/evictions.h"
#include "services/scheduler/carry/placements.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/carry/traffic.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/cycles.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/intake/complaints.h"
#include "services/scheduler/intake/intake.h"
#include "services/scheduler/intake/usage.h"
#include "services/scheduler/intake/watching.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/pod_notes.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "services/scheduler/setup.h"

/* How often an orderly stop looks whether everything under way is over. */
#define STOP_STEP (10 * NSEC_PER_MSEC)

/* How often it is looked whether writes under way are over, before everything is listed anew. */
#define RENEWAL_STEP (20 * NSEC_PER_MSEC)

struct scheduler {
    struct service *service;

    /* For as long as the service runs. */
    struct setup setup;
    struct pace *pace;
    struct traffic traffic;
    struct observers observers;
    struct usage *usage;
    uint64_t cycle_count;
    uint32_t device_version;  // of resource.k8s.io that the server has
    struct loop_timer renewal;
    struct loop_timer stop_timer;
    nsec_t stop_began;

    /* For as long as the state: until everything is listed anew. */
    struct state *state;
    struct engine *engine;
    struct pod_notes *pod_notes;
    struct writes *writes;
    struct gang_notes *gang_notes;
    struct report *report;
    struct setbacks *setbacks;
    struct placements *placements;
    struct evictions *evictions;
    struct carry *carry;
    struct complaints *complaints;
    struct intake *intake;
    struct cycles *cycles;
    struct watching *watching;
};

static struct scheduler *scheduler_of(const struct service *service)
{
    return service->state;
}

static int configure(struct service *service, struct err *err)
{
    struct scheduler_flags *flags = service->values;
    struct service_settings *settings = &service->settings;

    if (flags->is_shadow && settings->wants_lease)
        return err_set(
            err, -EINVAL,
            "--shadow and --leader-elect cannot be used together: shadow mode writes nothing, not even a Lease");
    if (*flags->listen_address)
        service->common->metrics_address = flags->listen_address;
    service->common->health_address = flags->health_address;
    settings->metrics_prefix = flags->metrics_namespace;
    settings->lease_namespace = flags->namespace;
    settings->lease_retry_period = flags->lease_retry_period;
    settings->component = flags->scheduler_name;
    settings->lease_name = flags->lease_name;
    (void)snprintf(flags->lease_name, sizeof flags->lease_name, "%s%s%s", flags->scheduler_name,
                   *flags->partition_label_value ? "-" : "", flags->partition_label_value);
    return 0;
}

static void on_listed(void *arg)
{
    struct scheduler *s = arg;

    placements_apply_all(s->placements);
    engine_take_in(s->engine);
    log_info(s->service->log, "all objects have been listed", log_int("nodes", s->state->nodes_by_rank.len),
             log_int("pods", (int64_t)map64_len(&s->state->pod_by_name)));
    service_set_ready(s->service, true);
    pace_release(s->pace, HOLD_LISTING);
}

static void on_worn_out(void *arg)
{
    struct scheduler *s = arg;

    loop_timer_start(&s->renewal, 0);
}

static void on_cut(void *arg)
{
    struct scheduler *s = arg;

    carry_take_back_unsent(s->carry);
    evictions_take_back_unsent(s->evictions);
}

/* Nothing that was known counts any more, not even what the server has confirmed. */
static void on_older(void *arg, const char *plural, const char *seen, const char *now)
{
    struct scheduler *s = arg;

    log_fail(s->service->log,
             "the API server shows an older state than before: it was restored from a backup, or a cache is stale; "
             "all objects are listed again",
             log_str("kind", plural), log_str("seen", seen), log_str("now", now));
    pace_hold(s->pace, HOLD_LISTING);
    if (!loop_timer_is_running(&s->renewal))
        loop_timer_start(&s->renewal, 0);
}

/* What is written to the cluster, and what is remembered of it. */
static void make_outgoing(struct scheduler *s)
{
    struct service *service = s->service;

    s->pod_notes = pod_notes_new();
    s->writes =
        writes_new(s->state, service->client, service->loop, &s->traffic, (uint32_t)s->setup.flags->status_workers);
    s->gang_notes = gang_notes_new(s->state, &s->setup, s->writes, &s->observers);
    s->report = report_new(&(struct report_options){
        .state = s->state,
        .engine = s->engine,
        .setup = &s->setup,
        .loop = service->loop,
        .recorder = service->recorder,
        .writes = s->writes,
        .pod_notes = s->pod_notes,
        .gang_notes = s->gang_notes,
        .pace = s->pace,
        .traffic = &s->traffic,
    });
    s->setbacks = setbacks_new(s->state, s->pod_notes);
    s->placements = placements_new(&(struct placements_options){
        .state = s->state,
        .setup = &s->setup,
        .notes = s->pod_notes,
        .observers = &s->observers,
        .pace = s->pace,
        .log = service->log,
    });
    s->evictions = evictions_new(&(struct evictions_options){
        .state = s->state,
        .setup = &s->setup,
        .client = service->client,
        .notes = s->pod_notes,
        .setbacks = s->setbacks,
        .report = s->report,
        .observers = &s->observers,
        .pace = s->pace,
        .log = service->log,
    });
    s->carry = carry_new(&(struct carry_options){
        .state = s->state,
        .setup = &s->setup,
        .loop = service->loop,
        .log = service->log,
        .client = service->client,
        .device_version = &s->device_version,
        .placements = s->placements,
        .setbacks = s->setbacks,
        .writes = s->writes,
        .report = s->report,
        .observers = &s->observers,
        .traffic = &s->traffic,
        .pace = s->pace,
    });
}

/* What is read from it, and the cycles between the two. */
static void make_incoming(struct scheduler *s)
{
    struct service *service = s->service;

    s->complaints = complaints_new(s->state, s->setup.flags->is_shadow ? NULL : service->recorder, s->pace,
                                   &s->device_version, service->log);
    s->intake = intake_new(&(struct intake_options){
        .state = s->state,
        .engine = s->engine,
        .setup = &s->setup,
        .pod_notes = s->pod_notes,
        .gang_notes = s->gang_notes,
        .placements = s->placements,
        .evictions = s->evictions,
        .setbacks = s->setbacks,
        .report = s->report,
        .complaints = s->complaints,
        .usage = s->usage,
        .observers = &s->observers,
        .pace = s->pace,
        .traffic = &s->traffic,
    });
    s->cycles = cycles_new(&(struct cycles_options){
        .service = service,
        .log = service->log,
        .setup = &s->setup,
        .state = s->state,
        .engine = s->engine,
        .pod_notes = s->pod_notes,
        .gang_notes = s->gang_notes,
        .placements = s->placements,
        .setbacks = s->setbacks,
        .evictions = s->evictions,
        .carry = s->carry,
        .writes = s->writes,
        .report = s->report,
        .intake = s->intake,
        .observers = &s->observers,
        .pace = s->pace,
        .count = &s->cycle_count,
        .on_worn_out = on_worn_out,
        .arg = s,
    });
}

/* An empty cluster, to be filled by what is followed. */
static void begin_cluster(struct scheduler *s)
{
    s->state = state_new();
    s->engine = engine_new(s->state, &s->setup.config);
    make_outgoing(s);
    make_incoming(s);
}

static void follow_cluster(struct scheduler *s)
{
    s->watching = watching_new(&(struct watching_options){
        .service = s->service,
        .loop = s->service->loop,
        .log = s->service->log,
        .client = s->service->client,
        .setup = &s->setup,
        .state = s->state,
        .pace = s->pace,
        .intake = s->intake,
        .device_version = &s->device_version,
        .on_listed = on_listed,
        .on_cut = on_cut,
        .on_older = on_older,
        .arg = s,
    });
    intake_set_watching(s->intake, s->watching);
}

/* Everything that is known of the cluster but the state, which observers still look at. */
static void forget_cluster(struct scheduler *s)
{
    watching_free(TAKE_PTR(s->watching));
    cycles_free(TAKE_PTR(s->cycles));
    intake_free(TAKE_PTR(s->intake));
    complaints_free(TAKE_PTR(s->complaints));
    carry_free(TAKE_PTR(s->carry));
    evictions_free(TAKE_PTR(s->evictions));
    placements_free(TAKE_PTR(s->placements));
    setbacks_free(TAKE_PTR(s->setbacks));
    report_free(TAKE_PTR(s->report));
    gang_notes_free(TAKE_PTR(s->gang_notes));
    writes_free(TAKE_PTR(s->writes));
    pod_notes_free(TAKE_PTR(s->pod_notes));
}

static void renew(void *arg)
{
    struct scheduler *s = arg;
    struct state *old_state = s->state;
    struct engine *old_engine = s->engine;
    struct err err = {0};

    /* What becomes of a write under way has to be known first: its room is the pod's until then. */
    if (!carry_is_idle(s->carry) || !evictions_are_idle(s->evictions)) {
        loop_timer_start(&s->renewal, RENEWAL_STEP);
        return;
    }
    log_info(s->service->log, "listing all objects again", log_int("names", intern_len(&s->state->names)));
    service_set_ready(s->service, false);
    pace_hold(s->pace, HOLD_LISTING);
    forget_cluster(s);
    begin_cluster(s);
    usage_set_state(s->usage, s->state);
    int r = observers_renew(&s->observers, s->state, s->engine, s->gang_notes, &err);
    engine_free(old_engine);
    state_free(old_state);
    if (r < 0)
        service_fail(s->service, &err);
    else
        follow_cluster(s);
}

static void scheduler_free(struct scheduler *s)
{
    loop_timer_done(&s->renewal);
    loop_timer_done(&s->stop_timer);
    forget_cluster(s);
    usage_close(s->usage);
    observers_done(&s->observers);
    engine_free(s->engine);
    state_free(s->state);
    pace_free(s->pace);
    setup_done(&s->setup);
    free(s);
}

static void look_whether_idle(void *arg)
{
    struct scheduler *s = arg;

    /* Writes whose answer got lost, too: the lease is released right behind, and the next leader does not know of them. */
    if (carry_is_idle(s->carry) && evictions_len(s->evictions) == 0 && usage_is_idle(s->usage) &&
        report_is_over(s->report, nsec_now_monotonic() - s->stop_began))
        service_stopped(s->service);
    else
        loop_timer_start(&s->stop_timer, STOP_STEP);
}

static int open_parts(struct scheduler *s, struct err *err)
{
    struct service *service = s->service;

    int r = usage_open(
        &(struct usage_options){
            .settings = &s->setup.settings.usage,
            .loop = service->loop,
            .log = service->log,
            .observers = &s->observers,
            .pace = s->pace,
            .client = service->client,
            .namespace = s->setup.flags->namespace,
            .scheduler = s->setup.flags->lease_name,
            .is_silent = s->setup.flags->is_shadow,
        },
        &s->usage, err);
    if (r < 0)
        return r;
    begin_cluster(s);
    usage_set_state(s->usage, s->state);
    return observers_open(&s->observers,
                          &(struct scheduler_view){
                              .loop = service->loop,
                              .service = service,
                              .client = service->client,
                              .flags = s->setup.flags,
                              .settings = &s->setup.settings,
                              .config = &s->setup.config,
                              .options = &s->setup.options,
                              .state = s->state,
                              .engine = s->engine,
                              .gang_notes = s->gang_notes,
                              .device_version = &s->device_version,
                          },
                          err);
}

static int open(struct service *service, struct err *err)
{
    struct scheduler *s = xcalloc(1, sizeof *s);
    int r = setup_init(&s->setup, service->values, service->log, err);

    if (r < 0) {
        free(s);
        return r;
    }
    s->service = service;
    s->traffic.is_silent = s->setup.flags->is_shadow;
    s->pace = pace_new(service->loop, s->setup.flags->schedule_period);
    loop_timer_init(&s->stop_timer, service->loop, look_whether_idle, s);
    loop_timer_init(&s->renewal, service->loop, renew, s);
    r = open_parts(s, err);
    if (r < 0) {
        scheduler_free(s);
        return r;
    }
    follow_cluster(s);
    service->state = s;
    return 0;
}

static void lead(struct service *service)
{
    struct scheduler *s = scheduler_of(service);

    pace_release(s->pace, HOLD_STANDBY);
    complaints_tell(s->complaints);
}

/* Nothing new is begun; what is under way has a moment to end. */
static void stop(struct service *service)
{
    struct scheduler *s = scheduler_of(service);

    pace_hold(s->pace, HOLD_STOPPING);
    pace_hold(s->pace, HOLD_STANDBY);
    s->stop_began = nsec_now_monotonic();
    usage_stop(s->usage);
    /* The next leader decides these: it need not wait for them. */
    carry_take_back_unsent(s->carry);
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
