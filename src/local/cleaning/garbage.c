/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/client/modify.h"
#include "kube/client/verbs.h"
#include "kube/follow/follow.h"
#include "local/cleaning/catalog.h"
#include "local/cleaning/cleaning.h"
#include "local/cleaning/graph.h"
#include "local/controllers/values.h"

enum { WORKERS = 32 };

struct collector {
    struct service *service;
    struct catalog *catalog;
    struct graph *graph;
    struct work *work;
    struct list watches;
    bool is_synced;
};

/* One kind that is followed. */
struct kind_watch {
    struct list_link in_collector;
    struct collector *collector;
    const struct kube_resource *resource;
    struct follower *follower;
    bool is_missing;
};

/* What an owner means for its dependent. */
enum bond {
    BOND_SOLID,
    BOND_UNKNOWN,  // not seen; the server has to be asked
    BOND_WAITING,  // the owner is deleted in the foreground, and waits for the dependent to go
    BOND_GONE,
};

static enum bond bond_of(const struct ownership *ownership)
{
    const struct thing *owner = ownership->owner;

    if (owner->is_absent || !ownership_is_local(ownership))
        return BOND_GONE;
    if (!owner->is_seen)
        return BOND_UNKNOWN;
    return owner->is_ending && owner->is_foreground ? BOND_WAITING : BOND_SOLID;
}

/* Which things are looked at. */

static bool needs_work(const struct thing *thing)
{
    if (!thing->is_seen)
        return false;
    if (thing->is_ending)
        return thing->is_foreground || thing->is_orphaning;
    vec_foreach (&thing->owners, at) {
        if (bond_of(*at) != BOND_SOLID)
            return true;
    }
    return false;
}

static void look_at(struct collector *collector, struct thing *thing)
{
    thing->collector = collector;
    if (needs_work(thing))
        work_add(collector->work, &thing->work);
}

static void look_at_dependents(struct collector *collector, const struct thing *thing)
{
    for (struct list_link *link = thing->dependents.first; link; link = link->next)
        look_at(collector, list_item(link, struct ownership, in_owner)->dependent);
}

static void look_at_owners(struct collector *collector, const struct thing *thing)
{
    vec_foreach (&thing->owners, at)
        look_at(collector, (*at)->owner);
}

static void let_go(struct thing *thing)
{
    struct collector *collector = thing->collector;

    if (!collector)
        return;
    if (thing->call)
        kube_cancel(TAKE_PTR(thing->call));
    if (thing->modify)
        kube_modify_cancel(TAKE_PTR(thing->modify));
    work_drop(collector->work, &thing->work);
}

static void put(struct collector *collector, const struct kube_resource *resource, yyjson_val *object)
{
    struct thing *thing = graph_find(collector->graph, kube_text(object, "metadata", "uid"));

    /* An owner that waits for it may wait no more. */
    if (thing)
        look_at_owners(collector, thing);
    thing = graph_put(collector->graph, resource, object);
    if (!thing)
        return;
    look_at(collector, thing);
    look_at_dependents(collector, thing);
}

static void drop(struct collector *collector, struct thing *thing)
{
    let_go(thing);
    look_at_owners(collector, thing);
    bool has_dependents = thing->dependents.len > 0;
    graph_drop(collector->graph, thing, let_go);
    if (has_dependents)
        look_at_dependents(collector, thing);
}

/* Requests. */

static void fail(const struct thing *thing, const struct err *err)
{
    const struct collector *collector = thing->collector;

    if (err->code < 0)
        log_warn(collector->service->log,
                 "an object whose owner was deleted could not be processed; trying again later",
                 log_str("kind", thing->resource->kind), log_str("namespace", thing->namespace),
                 log_str("name", thing->name), log_error(err));
}

static void finish(struct thing *thing, const struct kube_answer *answer)
{
    struct collector *collector = thing->collector;
    struct err err = answer->err;

    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    fail(thing, &err);
    work_done(collector->work, &thing->work, &err);
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct thing *thing = arg;

    thing->call = NULL;
    finish(thing, answer);
}

static void on_modified(void *arg, const struct kube_answer *answer)
{
    struct thing *thing = arg;
    yyjson_val *object = NULL;

    thing->modify = NULL;
    /* Taken in at once, so that it is not done again before the watch shows it. */
    if (answer->err.code == 0 && kube_answer_object(answer, &object, NULL) == 0) {
        struct thing *changed = graph_find(thing->collector->graph, kube_text(object, "metadata", "uid"));

        if (changed && changed->is_seen)
            (void)graph_put(thing->collector->graph, changed->resource, object);
        look_at(thing->collector, thing);
    }
    finish(thing, answer);
}

static void modify(struct thing *thing, const struct thing *object, kube_modify_fn change)
{
    struct collector *collector = thing->collector;

    thing->modify = kube_modify_start(collector->service->client, &(struct kube_modify_request){
                                                                      .resource = object->resource,
                                                                      .namespace = object->namespace,
                                                                      .name = object->name,
                                                                      .change = change,
                                                                      .on_done = on_modified,
                                                                      .arg = thing,
                                                                  });
}

static bool is_uid(yyjson_mut_val *object, const char *uid)
{
    return yyjson_mut_equals_str(yyjson_mut_obj_get(yyjson_mut_obj_get(object, "metadata"), "uid"), uid);
}

/* Takes members out of an array of the metadata. Returns 1 when there were any. */
static int take_out(yyjson_mut_val *object, const char *array_name, bool (*is_meant)(void *arg, yyjson_mut_val *item),
                    void *arg)
{
    yyjson_mut_val *array = yyjson_mut_obj_get(yyjson_mut_obj_get(object, "metadata"), array_name);
    int changed = 0;

    for (size_t i = yyjson_mut_arr_size(array); i > 0; i--) {
        if (is_meant(arg, yyjson_mut_arr_get(array, i - 1))) {
            (void)yyjson_mut_arr_remove(array, i - 1);
            changed = 1;
        }
    }
    return changed;
}

static bool is_own_finalizer(void *arg, yyjson_mut_val *item)
{
    const struct thing *thing = arg;

    return (thing->is_orphaning && yyjson_mut_equals_str(item, FINALIZER_ORPHAN)) ||
           (thing->is_foreground && yyjson_mut_equals_str(item, FINALIZER_FOREGROUND));
}

static int remove_finalizer(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct thing *thing = arg;

    (void)doc;
    (void)err;
    return is_uid(object, thing->uid) ? take_out(object, "finalizers", is_own_finalizer, thing) : 0;
}

static bool refers_to(void *arg, yyjson_mut_val *item)
{
    const struct thing *owner = arg;

    return yyjson_mut_equals_str(yyjson_mut_obj_get(item, "uid"), owner->uid);
}

static int remove_owner(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    (void)doc;
    (void)err;
    return take_out(object, "ownerReferences", refers_to, arg);
}

static bool refers_to_nobody(void *arg, yyjson_mut_val *item)
{
    const struct thing *thing = arg;

    vec_foreach (&thing->owners, at) {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(item, "uid"), (*at)->owner->uid))
            return bond_of(*at) == BOND_GONE || bond_of(*at) == BOND_WAITING;
    }
    return false;
}

static int remove_lost_owners(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct thing *thing = arg;

    (void)doc;
    (void)err;
    return is_uid(object, thing->uid) ? take_out(object, "ownerReferences", refers_to_nobody, thing) : 0;
}

/* Things that are being deleted. */

static void orphan(struct collector *collector, struct thing *thing)
{
    for (struct list_link *link = thing->dependents.first; link; link = link->next) {
        const struct thing *dependent = list_item(link, struct ownership, in_owner)->dependent;

        if (dependent->is_seen) {
            modify(thing, dependent, remove_owner);
            return;
        }
    }
    (void)collector;
    modify(thing, thing, remove_finalizer);
}

static void delete_in_foreground(struct collector *collector, struct thing *thing)
{
    bool is_blocked = false;

    for (struct list_link *link = thing->dependents.first; link; link = link->next) {
        const struct ownership *ownership = list_item(link, struct ownership, in_owner);
        struct thing *dependent = ownership->dependent;

        is_blocked |= ownership->is_blocking && dependent->is_seen && ownership_is_local(ownership) &&
                      !ownership_is_circle(collector->graph, ownership);
        /* One that goes already needs no look: things that own each other would look at each other for ever. */
        if (!dependent->is_ending)
            look_at(collector, dependent);
    }
    if (is_blocked)
        work_done(collector->work, &thing->work, NULL);
    else
        modify(thing, thing, remove_finalizer);
}

/* Things that lost an owner. */

/* NULL when it is no owner any more; then it may have been freed. */
static struct thing *still_owned_by(const struct thing *thing, struct thing *owner)
{
    vec_foreach (&thing->owners, at) {
        if ((*at)->owner == owner)
            return owner;
    }
    return NULL;
}

static void on_owner_read(void *arg, const struct kube_answer *answer)
{
    struct thing *thing = arg;
    struct collector *collector = thing->collector;
    struct thing *owner = still_owned_by(thing, thing->asked);
    yyjson_val *object = NULL;
    struct err err = answer->err;

    thing->call = NULL;
    if (!owner) {
        work_add(collector->work, &thing->work);
        work_done(collector->work, &thing->work, NULL);
        return;
    }
    bool is_there = err.code == 0 && kube_answer_object(answer, &object, NULL) == 0 &&
                    strcmp(kube_text(object, "metadata", "uid"), owner->uid) == 0;
    if (answer->status == 404 || (err.code == 0 && !is_there)) {
        err.code = 0;
        owner->is_absent = !owner->is_seen;
        work_add(collector->work, &thing->work);
    }
    fail(thing, &err);
    work_done(collector->work, &thing->work, &err);
}

static void ask_for(struct collector *collector, struct thing *thing, const struct ownership *ownership)
{
    const struct kube_resource *resource = catalog_find(collector->catalog, ownership->api_version, ownership->kind);
    struct err err = {0};

    if (!resource) {
        err.code = err_set(&err, -ENOENT, "the server has no kind %s in %s", ownership->kind, ownership->api_version);
        work_done(collector->work, &thing->work, &err);
        return;
    }
    /* Nobody can tell in which namespace it would be. */
    if (resource->is_namespaced && !thing->resource->is_namespaced) {
        work_done(collector->work, &thing->work, NULL);
        return;
    }
    thing->asked = ownership->owner;
    thing->call =
        kube_send(collector->service->client, &(struct kube_request){
                                                  .verb = KUBE_GET,
                                                  .resource = resource,
                                                  .namespace = resource->is_namespaced ? thing->namespace : NULL,
                                                  .name = ownership->name,
                                                  .is_metadata_only = true,
                                                  .on_done = on_owner_read,
                                                  .arg = thing,
                                              });
}

static void tell_namespace(struct collector *collector, const struct thing *thing)
{
    vec_foreach (&thing->owners, at) {
        char version[320];

        if (ownership_is_local(*at))
            continue;
        (void)snprintf(version, sizeof version, "%s%s%s", thing->resource->group, thing->resource->group[0] ? "/" : "",
                       thing->resource->version);
        recorder_record(
            collector->service->recorder,
            &(struct event){
                .api_version = version,
                .kind = thing->resource->kind,
                .namespace = thing->namespace,
                .name = thing->name,
                .uid = thing->uid,
                .type = "Warning",
                .reason = "OwnerRefInvalidNamespace",
                .message = "ownerReferences names an owner in another namespace, which is treated as deleted",
            });
    }
}

static void remove_thing(struct collector *collector, struct thing *thing, bool is_awaited)
{
    const char *policy = "Background";

    if (thing->is_orphaning)
        policy = "Orphan";
    else if (thing->is_foreground || (is_awaited && thing->dependents.len > 0))
        policy = "Foreground";
    tell_namespace(collector, thing);
    thing->call = kube_delete(collector->service->client,
                              &(struct kube_delete_request){
                                  .resource = thing->resource,
                                  .namespace = thing->resource->is_namespaced ? thing->namespace : NULL,
                                  .name = thing->name,
                                  .uid = thing->uid,
                                  .propagation = policy,
                                  .grace_s = -1,
                                  .on_done = on_deleted,
                                  .arg = thing,
                              });
}

static void judge(struct collector *collector, struct thing *thing)
{
    uint32_t counts[BOND_GONE + 1] = {0};
    const struct ownership *unknown = NULL;

    vec_foreach (&thing->owners, at) {
        enum bond bond = bond_of(*at);

        counts[bond]++;
        if (bond == BOND_UNKNOWN)
            unknown = *at;
    }
    if (unknown)
        ask_for(collector, thing, unknown);
    else if (counts[BOND_GONE] + counts[BOND_WAITING] == 0)
        work_done(collector->work, &thing->work, NULL);
    else if (counts[BOND_SOLID] > 0)
        modify(thing, thing, remove_lost_owners);
    else
        remove_thing(collector, thing, counts[BOND_WAITING] > 0);
}

static void start(void *arg, struct work_item *item)
{
    struct collector *collector = arg;
    struct thing *thing = list_item(&item->in_work, struct thing, work.in_work);

    if (thing->is_ending && thing->is_orphaning)
        orphan(collector, thing);
    else if (thing->is_ending && thing->is_foreground)
        delete_in_foreground(collector, thing);
    else if (thing->is_ending || !thing->is_seen)
        work_done(collector->work, item, NULL);
    else
        judge(collector, thing);
}

static bool may_start(void *arg)
{
    return ((const struct collector *)arg)->is_synced;
}

/* Following. */

static void look_at_sync(struct collector *collector)
{
    bool is_synced = catalog_is_complete(collector->catalog);

    for (struct list_link *link = collector->watches.first; link && is_synced; link = link->next) {
        const struct kind_watch *watch = list_item(link, struct kind_watch, in_collector);

        is_synced = watch->is_missing || follower_is_synced(watch->follower);
    }
    if (is_synced && !collector->is_synced) {
        collector->is_synced = true;
        log_info(collector->service->log, "synced", log_int("kinds", (int64_t)collector->watches.len));
        service_set_ready(collector->service, true);
    }
    work_pump(collector->work);
}

static void on_event(void *arg, const struct follow_event *event)
{
    struct kind_watch *watch = arg;
    struct thing *thing;

    if (event->change != FOLLOW_DELETED)
        put(watch->collector, watch->resource, event->object);
    else if ((thing = graph_find(watch->collector->graph, event->uid)) && thing->is_seen)
        drop(watch->collector, thing);
}

static void on_synced(void *arg, bool is_first)
{
    struct kind_watch *watch = arg;

    (void)is_first;
    watch->is_missing = false;
    look_at_sync(watch->collector);
}

static void on_watch_problem(void *arg, const struct err *err, nsec_t wait)
{
    struct kind_watch *watch = arg;

    /* The catalog says soon that the kind is gone. */
    if (err->code == -ENOENT) {
        watch->is_missing = true;
        look_at_sync(watch->collector);
        return;
    }
    service_follow_problem(watch->collector->service, watch->resource->plural, err, wait);
}

static void on_added(void *arg, const struct kube_resource *resource)
{
    struct collector *collector = arg;

    /* Events are many, own nothing, and expire by themselves. */
    if (strcmp(resource->plural, "events") == 0)
        return;
    struct kind_watch *watch = xcalloc(1, sizeof *watch);

    watch->collector = collector;
    watch->resource = resource;
    list_push(&collector->watches, &watch->in_collector);
    watch->follower = follower_new(collector->service->client, &(struct follow_options){
                                                                   .resource = resource,
                                                                   .is_metadata_only = true,
                                                                   .on_event = on_event,
                                                                   .on_synced = on_synced,
                                                                   .on_problem = on_watch_problem,
                                                                   .arg = watch,
                                                               });
}

static void watch_free(struct collector *collector, struct kind_watch *watch)
{
    list_remove(&collector->watches, &watch->in_collector);
    follower_free(watch->follower);
    free(watch);
}

static struct kind_watch *find_watch(const struct collector *collector, const struct kube_resource *resource)
{
    for (struct list_link *link = collector->watches.first; link; link = link->next) {
        struct kind_watch *watch = list_item(link, struct kind_watch, in_collector);

        if (watch->resource == resource)
            return watch;
    }
    return NULL;
}

/* A kind that is gone has taken its objects along. */
static void on_removed(void *arg, const struct kube_resource *resource)
{
    struct collector *collector = arg;
    struct kind_watch *watch = find_watch(collector, resource);
    VEC(struct thing *) gone = {0};
    struct thing *thing;

    for (size_t cursor = 0; (thing = graph_next(collector->graph, &cursor));) {
        if (thing->is_seen && thing->resource == resource)
            vec_push(&gone, thing);
    }
    vec_foreach (&gone, at)
        drop(collector, *at);
    vec_done(&gone);
    if (watch)
        watch_free(collector, watch);
}

static void on_complete(void *arg)
{
    look_at_sync(arg);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((const struct collector *)arg)->service, "kinds", err, wait);
}

/* The service. */

static int configure(struct service *service, struct err *err)
{
    (void)err;
    service->settings.component = "garbage-collector-controller";
    return 0;
}

static int open_garbage(struct service *service, struct err *err)
{
    struct collector *collector = xcalloc(1, sizeof *collector);

    (void)err;
    service->state = collector;
    collector->service = service;
    collector->graph = graph_new();
    collector->work = work_new(&(struct work_options){
        .service = service,
        .controller = "garbage",
        .workers = WORKERS,
        .may_start = may_start,
        .start = start,
        .arg = collector,
    });
    collector->catalog = catalog_new(service->client, &(struct catalog_options){
                                                          .on_added = on_added,
                                                          .on_removed = on_removed,
                                                          .on_complete = on_complete,
                                                          .on_problem = on_problem,
                                                          .arg = collector,
                                                      });
    return 0;
}

static void lead(struct service *service)
{
    work_pump(((struct collector *)service->state)->work);
}

static void stop(struct service *service)
{
    work_stop(((struct collector *)service->state)->work);
}

static void close_garbage(struct service *service)
{
    struct collector *collector = service->state;

    for (struct kind_watch *watch; (watch = list_first(&collector->watches, struct kind_watch, in_collector));)
        watch_free(collector, watch);
    graph_free(collector->graph, let_go);
    catalog_free(collector->catalog);
    work_free(collector->work);
    free(collector);
}

const struct service_kind garbage_service = {
    .name = "garbage",
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_garbage,
    .lead = lead,
    .stop = stop,
    .close = close_garbage,
};
