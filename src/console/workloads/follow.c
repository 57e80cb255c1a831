/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/follow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "console/changes/change_feed.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/org/sync.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "console/workloads/facts.h"
#include "console/workloads/pod_row.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"

#define SELECTOR OBJECT_LABEL_KIND "=" ITEM_WORKLOAD

struct watched_pod {
    char *namespace;
    char *name;
    struct watched *workload;
    struct pod_state state;
};

/* One of the objects of a workload. */
struct watched_object {
    struct watched *workload;
    char *namespace;
    char *name;
    bool is_head;
    int64_t generation;
    yyjson_doc *conditions;
    struct workload_facts facts;
};

/* What the cluster has of one workload. */
struct watched {
    char id[UUID_TEXT_MAX];
    VEC(struct watched_object *) objects;
    VEC(struct watched_pod *) pods;
    struct workload_facts facts;  // as they were noted
};

/* Objects of one kind that workloads have. */
struct source {
    struct workload_watch *watch;
    const struct source_kind *kind;
    struct follower *follower;
    struct strmap objects;  // struct watched_object
};

static const struct source_kind {
    enum kube_known resource;
    void (*read)(yyjson_val *object, struct workload_facts *ret_facts);
} source_kinds[] = {
    {KUBE_JOBS, facts_of_job},
    {KUBE_DEPLOYMENTS, facts_of_deployment},
};

struct workload_watch {
    struct console *console;
    struct source sources[ARRAY_LEN(source_kinds)];
    struct follower *pods_follower;
    struct strmap workloads;  // struct watched, by identifier
    struct strmap pods;       // struct watched_pod
};

static const char *label_id(yyjson_val *object)
{
    return kube_text(object, "metadata", "labels", OBJECT_LABEL_ID);
}

/* --- one workload --- */

static struct watched *find(const struct workload_watch *watch, const char *id)
{
    return strmap_get(&watch->workloads, "", id);
}

static struct watched *ensure(struct workload_watch *watch, const char *id)
{
    struct watched *workload = find(watch, id);

    if (workload)
        return workload;
    workload = xcalloc(1, sizeof *workload);
    (void)snprintf(workload->id, sizeof workload->id, "%s", id);
    (void)strmap_put(&watch->workloads, "", workload->id, workload);
    return workload;
}

/* All facts, from the objects and pods that there are. */
static void count(struct watched *workload)
{
    struct workload_facts facts = {0};

    vec_foreach (&workload->objects, object)
        facts_add(&facts, &(*object)->facts, (*object)->is_head);
    vec_foreach (&workload->pods, pod) {
        const struct pod_state *state = &(*pod)->state;

        facts.pods += !state->has_ended;
        facts.scheduled += !state->has_ended && state->is_scheduled;
        facts.running += !state->has_ended && state->is_running;
        facts.gpus += !state->has_ended && state->is_scheduled ? state->gpus : 0;
    }
    workload->facts = facts;
}

static void watched_free(struct watched *workload)
{
    vec_done(&workload->objects);
    vec_done(&workload->pods);
    free(workload);
}

static bool is_same(const struct workload_facts *a, const struct workload_facts *b)
{
    return a->has_object == b->has_object && a->is_suspended == b->is_suspended && a->is_updating == b->is_updating &&
           a->is_degraded == b->is_degraded && a->has_completed == b->has_completed && a->has_failed == b->has_failed &&
           a->pods == b->pods && a->scheduled == b->scheduled && a->running == b->running;
}

/* In one transaction, since another console may change the item at the same time. */
static int note_alone(struct console *console, const char *id, struct err *err)
{
    int r = db_begin(console->db, err);

    if (r < 0)
        return r;
    r = workload_note(console, id, NULL, err);
    if (r == 0)
        r = db_commit(console->db, err);
    else
        db_rollback(console->db);
    if (r == 0)
        change_feed_wake(console->feed);
    return r;
}

/* The phase follows where something has changed; the console that leads writes it. One that could not be written is written after the next comparison. */
static void settle(struct workload_watch *watch, struct watched *workload, const struct workload_facts *before)
{
    struct console *console = watch->console;
    struct err err = {0};

    if (!is_same(&workload->facts, before) && sync_is_leading(console->sync) &&
        note_alone(console, workload->id, &err) < 0) {
        log_warn(console->service->log, "the phase of a workload could not be written; trying again later",
                 log_error(&err));
        sync_add(console->sync, ITEM_WORKLOAD, workload->id);
    }
    if (phase_is_end(workload_phase(DESIRED_RUNNING, &workload->facts)))
        sync_add(console->sync, ITEM_WORKLOAD, workload->id);
    if (workload->objects.len == 0 && workload->pods.len == 0) {
        (void)strmap_remove(&watch->workloads, "", workload->id);
        watched_free(workload);
    }
}

/* --- objects --- */

static void object_free(struct watched_object *object)
{
    free(object->namespace);
    free(object->name);
    yyjson_doc_free(object->conditions);
    free(object);
}

static void forget_object(struct source *source, struct watched_object *object)
{
    struct watched *workload = object->workload;

    for (uint32_t i = 0; i < workload->objects.len; i++) {
        if (workload->objects.items[i] == object) {
            vec_remove_at(&workload->objects, i);
            break;
        }
    }
    (void)strmap_remove(&source->objects, object->namespace, object->name);
    object_free(object);
    count(workload);
}

static struct watched_object *add_object(struct source *source, const struct follow_event *event, const char *id)
{
    struct watched_object *object = xcalloc(1, sizeof *object);

    object->workload = ensure(source->watch, id);
    object->namespace = xstrdup(event->namespace);
    object->name = xstrdup(event->name);
    object->is_head = strcmp(kube_text(event->object, "metadata", "labels", OBJECT_LABEL_ROLE), ROLE_HEAD) == 0;
    vec_push(&object->workload->objects, object);
    (void)strmap_put(&source->objects, object->namespace, object->name, object);
    return object;
}

static void read_object(const struct source *source, struct watched_object *object, yyjson_val *from)
{
    yyjson_val *conditions = yyjson_ptr_get(from, "/status/conditions");

    source->kind->read(from, &object->facts);
    yyjson_doc_free(object->conditions);
    object->conditions = conditions ? json_copy(conditions) : NULL;
    count(object->workload);
}

/* The status of an object changes all the time; what was asked for has a generation. */
static void on_object(void *arg, const struct follow_event *event)
{
    struct source *source = arg;
    struct workload_watch *watch = source->watch;
    struct watched_object *object = strmap_get(&source->objects, event->namespace, event->name);
    struct watched *workload = object ? object->workload : NULL;
    const char *id = event->object ? label_id(event->object) : "";
    struct workload_facts before;

    if (event->change == FOLLOW_DELETED) {
        if (!object)
            return;
        before = workload->facts;
        forget_object(source, object);
        sync_add(watch->console->sync, ITEM_WORKLOAD, workload->id);
        settle(watch, workload, &before);
        return;
    }
    if (!*id || strlen(id) >= UUID_TEXT_MAX || (object && strcmp(workload->id, id) != 0))
        return;
    if (!object)
        object = add_object(source, event, id);
    workload = object->workload;
    before = workload->facts;
    read_object(source, object, event->object);
    int64_t generation = yyjson_get_sint(yyjson_ptr_get(event->object, "/metadata/generation"));
    if (generation != object->generation)
        sync_add(watch->console->sync, ITEM_WORKLOAD, workload->id);
    object->generation = generation;
    settle(watch, workload, &before);
}

/* --- pods --- */

static void pod_free(struct watched_pod *pod)
{
    free(pod->namespace);
    free(pod->name);
    pod_state_done(&pod->state);
    free(pod);
}

static void forget_pod(struct workload_watch *watch, struct watched_pod *pod)
{
    struct watched *workload = pod->workload;
    struct workload_facts before = workload->facts;

    for (uint32_t i = 0; i < workload->pods.len; i++) {
        if (workload->pods.items[i] == pod) {
            vec_remove_at(&workload->pods, i);
            break;
        }
    }
    (void)strmap_remove(&watch->pods, pod->namespace, pod->name);
    pod_free(pod);
    count(workload);
    settle(watch, workload, &before);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    struct workload_watch *watch = arg;
    struct watched_pod *pod = strmap_get(&watch->pods, event->namespace, event->name);
    const char *id = event->object ? label_id(event->object) : "";

    if (event->change == FOLLOW_DELETED) {
        if (pod)
            forget_pod(watch, pod);
        return;
    }
    if (!*id || strlen(id) >= UUID_TEXT_MAX || (pod && strcmp(pod->workload->id, id) != 0))
        return;
    struct watched *workload = pod ? pod->workload : ensure(watch, id);
    struct workload_facts before = workload->facts;
    if (!pod) {
        pod = xcalloc(1, sizeof *pod);
        pod->namespace = xstrdup(event->namespace);
        pod->name = xstrdup(event->name);
        pod->workload = workload;
        (void)strmap_put(&watch->pods, pod->namespace, pod->name, pod);
        vec_push(&workload->pods, pod);
    }
    pod_state_read(&pod->state, watch->console->cluster_id, id, event->object);
    count(workload);
    settle(watch, workload, &before);
}

/* --- what others ask --- */

struct workload_facts workload_facts(const struct workload_watch *watch, const char *id)
{
    const struct watched *workload = find(watch, id);

    return workload ? workload->facts : (struct workload_facts){0};
}

const char *workload_wait_reason(const struct workload_watch *watch, const char *id)
{
    const struct watched *workload = find(watch, id);

    if (!workload || workload->facts.running > 0)
        return "";
    vec_foreach (&workload->pods, pod) {
        if (!(*pod)->state.has_ended && (*pod)->state.reason)
            return (*pod)->state.reason;
    }
    return "";
}

yyjson_val *workload_conditions(const struct workload_watch *watch, const char *id)
{
    const struct watched *workload = find(watch, id);

    const struct watched_object *speaker = NULL;

    if (!workload)
        return NULL;
    vec_foreach (&workload->objects, object)
        speaker = !speaker || (*object)->is_head ? *object : speaker;
    return speaker ? yyjson_doc_get_root(speaker->conditions) : NULL;
}

void workload_each_pod(const struct workload_watch *watch, const char *id, workload_pod_fn fn, void *arg)
{
    const struct watched *workload = find(watch, id);

    if (!workload)
        return;
    vec_foreach (&workload->pods, pod)
        fn(arg, yyjson_doc_get_root((*pod)->state.row));
}

/* --- from the start to the end --- */

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    struct workload_watch *watch = arg;

    service_follow_problem(watch->console->service, "the objects of workloads", err, wait);
}

static void on_source_problem(void *arg, const struct err *err, nsec_t wait)
{
    const struct source *source = arg;

    on_problem(source->watch, err, wait);
}

struct workload_watch *workload_watch_new(struct console *console)
{
    struct workload_watch *watch = xcalloc(1, sizeof *watch);
    struct follow_options options = {.label_selector = SELECTOR, .is_unshared = true};

    watch->console = console;
    strmap_init(&watch->workloads);
    strmap_init(&watch->pods);
    options.on_event = on_object;
    options.on_problem = on_source_problem;
    for (size_t i = 0; i < ARRAY_LEN(source_kinds); i++) {
        struct source *source = &watch->sources[i];

        source->watch = watch;
        source->kind = &source_kinds[i];
        strmap_init(&source->objects);
        options.resource = kube_known(source->kind->resource);
        options.arg = source;
        source->follower = follower_new(console->service->client, &options);
    }
    options.resource = kube_known(KUBE_PODS);
    options.on_event = on_pod;
    options.on_problem = on_problem;
    options.arg = watch;
    watch->pods_follower = follower_new(console->service->client, &options);
    return watch;
}

void workload_watch_free(struct workload_watch *watch)
{
    struct watched_object *object;
    struct watched_pod *pod;
    struct watched *workload;

    if (!watch)
        return;
    for (size_t i = 0; i < ARRAY_LEN(watch->sources); i++) {
        follower_free(watch->sources[i].follower);
        for (size_t cursor = 0; (object = strmap_next(&watch->sources[i].objects, &cursor));)
            object_free(object);
        strmap_done(&watch->sources[i].objects);
    }
    follower_free(watch->pods_follower);
    for (size_t cursor = 0; (pod = strmap_next(&watch->pods, &cursor));)
        pod_free(pod);
    for (size_t cursor = 0; (workload = strmap_next(&watch->workloads, &cursor));)
        watched_free(workload);
    strmap_done(&watch->pods);
    strmap_done(&watch->workloads);
    free(watch);
}
