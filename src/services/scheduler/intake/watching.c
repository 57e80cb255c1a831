/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/intake/watching.h"

#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/follow/pause.h"
#include "net/loop.h"
#include "objects/kinds.h"
#include "services/scheduler/intake/intake.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/setup.h"

enum { SELECTOR_MAX = 1024 };

struct watch {
    struct watching *watching;
    enum watch_kind kind;
    struct follower *follower;
    bool is_told;  // everything that was there, or that there is nothing
    bool is_missing;
    uint32_t versions_tried;  // device classes
    struct loop_task next_version;
};

/* An object that is being read anew. */
struct refetch {
    struct watching *watching;
    enum watch_kind kind;
    object_key key;
    struct kube_call *call;
    struct list_link in_list;
};

struct watching {
    struct service *service;
    struct log *log;
    struct kube_client *client;
    const struct setup *setup;
    const struct state *state;
    struct pace *pace;
    struct intake *intake;
    uint32_t *device_version;
    void (*on_listed)(void *arg);
    void (*on_cut)(void *arg);
    void (*on_older)(void *arg, const char *plural, const char *seen, const char *now);
    struct follow_pause pause;  // while the watch of a kind that holds room is cut
    void *arg;
    struct watch watches[_WATCH_MAX];
    int stage;
    bool is_synced;
    struct list refetches;
};

static const struct kube_resource *resource_of(const struct watch *watch)
{
    return watch_resource(watch->kind, *watch->watching->device_version);
}

static void on_event(void *arg, const struct follow_event *event)
{
    struct watch *watch = arg;

    intake_event(watch->watching->intake, watch->kind, event);
}

static void start_stage(struct watching *watching);
static void start(struct watch *watch);

/* Goes on to the next stage when all of this one has been told. */
static void look_at_stage(struct watching *watching)
{
    if (watching->is_synced)
        return;
    for (enum watch_kind kind = 0; kind < _WATCH_MAX; kind++) {
        if (watch_row(kind)->stage <= watching->stage && !watching->watches[kind].is_told)
            return;
    }
    if (++watching->stage < WATCH_STAGES) {
        start_stage(watching);
        return;
    }
    watching->is_synced = true;
    watching->on_listed(watching->arg);
}

/* Kinds that the server does not have hold no room. Before everything has been listed nothing is decided anyway. */
static bool is_behind(void *arg)
{
    const struct watching *watching = arg;

    for (enum watch_kind kind = 0; watching->is_synced && kind < _WATCH_MAX; kind++) {
        const struct watch *watch = &watching->watches[kind];

        if (watch_row(kind)->holds_room && !watch->is_missing && follower_standing(watch->follower) != FOLLOW_CURRENT)
            return true;
    }
    return false;
}

static void on_pause(void *arg, bool is_paused)
{
    struct watching *watching = arg;

    if (is_paused) {
        pace_hold(watching->pace, HOLD_BEHIND);
        return;
    }
    log_debug(watching->log, "watches are open again; scheduling resumes");
    pace_release(watching->pace, HOLD_BEHIND);
}

static void on_standing(void *arg, enum follow_standing standing)
{
    struct watch *watch = arg;
    struct watching *watching = watch->watching;

    if (!watching->is_synced || !watch_row(watch->kind)->holds_room)
        return;
    if (standing == FOLLOW_CUT && !watching->pause.is_paused)
        log_info(watching->log, "a watch is interrupted; scheduling pauses until it resumes",
                 log_str("kind", resource_of(watch)->plural));
    follow_pause_look(&watching->pause);
    if (standing == FOLLOW_CUT)
        watching->on_cut(watching->arg);
}

static void on_older(void *arg, const char *seen, const char *now)
{
    struct watch *watch = arg;

    watch->watching->on_older(watch->watching->arg, resource_of(watch)->plural, seen, now);
}

static void on_synced(void *arg, bool is_first)
{
    struct watch *watch = arg;

    (void)is_first;
    if (watch->is_missing)
        log_info(watch->watching->log, "the API server has this kind now", log_str("kind", resource_of(watch)->plural));
    watch->is_missing = false;
    watch->is_told = true;
    look_at_stage(watch->watching);
}

/*
 * The first kind of devices that is followed finds out which version of them the server has: the newest, or v1 again
 * where it has none. The others come in later stages.
 */
static void try_next_version(void *arg)
{
    struct watch *watch = arg;
    struct watching *watching = watch->watching;

    *watching->device_version = (*watching->device_version + 1) % KUBE_DEVICE_VERSIONS;
    follower_free(watch->follower);
    start(watch);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    struct watch *watch = arg;
    struct watching *watching = watch->watching;

    if (err->code != -ENOENT || follower_is_synced(watch->follower)) {
        service_follow_problem(watching->service, resource_of(watch)->plural, err, wait);
        return;
    }
    if (watch->kind == WATCH_DEVICE_CLASSES && watch->versions_tried < KUBE_DEVICE_VERSIONS) {
        watch->versions_tried++;
        loop_task_queue(&watch->next_version);
        return;
    }
    if (!watch->is_missing)
        log_info(watching->log, "the API server does not have this kind; checking again later",
                 log_str("kind", resource_of(watch)->plural));
    watch->is_missing = true;
    watch->is_told = true;
    look_at_stage(watch->watching);
    follow_pause_look(&watching->pause);
}

static void start(struct watch *watch)
{
    struct watching *watching = watch->watching;
    const struct watch_row *row = watch_row(watch->kind);
    struct strbuf selector;

    strbuf_init(&selector, SELECTOR_MAX);
    watch->follower = follower_new(
        watching->client,
        &(struct follow_options){
            .resource = resource_of(watch),
            .label_selector = row->is_of_pool ? setup_pool_selector(&watching->setup->options, &selector) : NULL,
            .field_selector = row->field_selector,
            .is_metadata_only = row->is_metadata_only,
            .on_event = on_event,
            .on_synced = on_synced,
            .on_problem = on_problem,
            .on_standing = on_standing,
            .on_older = on_older,
            .arg = watch,
        });
    strbuf_done(&selector);
}

static void start_stage(struct watching *watching)
{
    for (enum watch_kind kind = 0; kind < _WATCH_MAX; kind++) {
        if (watch_row(kind)->stage == watching->stage)
            start(&watching->watches[kind]);
    }
}

struct watching *watching_new(const struct watching_options *options)
{
    struct watching *watching = xcalloc(1, sizeof *watching);

    *watching = (struct watching){
        .service = options->service,
        .log = options->log,
        .client = options->client,
        .setup = options->setup,
        .state = options->state,
        .pace = options->pace,
        .intake = options->intake,
        .device_version = options->device_version,
        .on_listed = options->on_listed,
        .on_cut = options->on_cut,
        .on_older = options->on_older,
        .arg = options->arg,
    };
    *watching->device_version = 0;
    watching->pause = (struct follow_pause){.is_behind = is_behind, .on_change = on_pause, .arg = watching};
    follow_pause_init(&watching->pause, options->loop);
    for (enum watch_kind kind = 0; kind < _WATCH_MAX; kind++) {
        struct watch *watch = &watching->watches[kind];

        *watch = (struct watch){.watching = watching, .kind = kind};
        loop_task_init(&watch->next_version, options->loop, try_next_version, watch);
    }
    start_stage(watching);
    return watching;
}

static void refetch_free(struct watching *watching, struct refetch *refetch)
{
    list_remove(&watching->refetches, &refetch->in_list);
    free(refetch);
}

void watching_free(struct watching *watching)
{
    struct refetch *refetch;

    if (!watching)
        return;
    while ((refetch = list_first(&watching->refetches, struct refetch, in_list))) {
        kube_cancel(refetch->call);
        refetch_free(watching, refetch);
    }
    for (enum watch_kind kind = 0; kind < _WATCH_MAX; kind++) {
        loop_task_cancel(&watching->watches[kind].next_version);
        follower_free(watching->watches[kind].follower);
    }
    follow_pause_done(&watching->pause);
    pace_release(watching->pace, HOLD_BEHIND);
    free(watching);
}

static void on_refetched(void *arg, const struct kube_answer *answer)
{
    struct refetch *refetch = arg;
    yyjson_val *object = NULL;

    if (answer->err.code == 0 && kube_answer_object(answer, &object, NULL) == 0) {
        struct follow_event event = {
            .change = FOLLOW_CHANGED,
            .namespace = kube_text(object, "metadata", "namespace"),
            .name = kube_text(object, "metadata", "name"),
            .uid = kube_text(object, "metadata", "uid"),
            .object = object,
        };
        intake_event(refetch->watching->intake, refetch->kind, &event);
    }
    refetch_free(refetch->watching, refetch);
}

void watching_refetch(struct watching *watching, enum watch_kind kind, object_key key)
{
    for (struct list_link *link = watching->refetches.first; link; link = link->next) {
        const struct refetch *other = list_item(link, struct refetch, in_list);

        if (other->kind == kind && other->key == key)
            return;
    }
    struct refetch *refetch = xcalloc(1, sizeof *refetch);
    *refetch = (struct refetch){.watching = watching, .kind = kind, .key = key};
    list_push(&watching->refetches, &refetch->in_list);
    refetch->call = kube_send(watching->client, &(struct kube_request){
                                                    .verb = KUBE_GET,
                                                    .resource = watch_resource(kind, *watching->device_version),
                                                    .namespace = key_namespace(watching->state, key),
                                                    .name = key_name(watching->state, key),
                                                    .on_done = on_refetched,
                                                    .arg = refetch,
                                                });
}
