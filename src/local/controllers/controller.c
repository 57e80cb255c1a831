/* SPDX-License-Identifier: Apache-2.0 */

/* The service that all controllers of workloads are: what is followed, and when an owner is looked at. */
#include "local/controllers/controller.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "local/controllers/actions.h"
#include "local/controllers/adoption.h"
#include "local/controllers/families.h"
#include "local/controllers/values.h"

enum { WORKERS = 16 };

/* Pods of one owner change together. */
#define DELAY (5 * NSEC_PER_MSEC)

static const struct controller_kind *kind_of(const struct service *service)
{
    return (const struct controller_kind *)service->kind;
}

/* Owners. */

static void on_again(void *arg)
{
    struct owner *owner = arg;

    work_add(owner->controller->work, &owner->work);
}

static struct owner *owner_new(struct controller *controller, const struct kube_meta *meta)
{
    struct owner *owner = xcalloc(1, sizeof *owner);

    owner->controller = controller;
    owner->namespace = xstrdup(meta->namespace);
    owner->name = xstrdup(meta->name);
    owner->uid = xstrdup(meta->uid);
    loop_timer_init(&owner->again, controller->service->loop, on_again, owner);
    owner->family = families_get(controller->families, meta->uid);
    owner->family->owner = owner;
    return owner;
}

static void owner_free(struct owner *owner)
{
    struct controller *controller = owner->controller;

    owner_cancel(owner);
    adoption_drop_owner(owner);
    work_drop(controller->work, &owner->work);
    if (controller->kind->forget)
        controller->kind->forget(owner);
    loop_timer_done(&owner->again);
    owner->family->owner = NULL;
    families_release(controller->families, owner->family);
    yyjson_doc_free(owner->doc);
    free(owner->namespace);
    free(owner->name);
    free(owner->uid);
    free(owner);
}

static yyjson_doc *copy_of(yyjson_val *object)
{
    yyjson_mut_doc *copy = kube_copy(object);
    yyjson_doc *doc = yyjson_mut_doc_imut_copy(copy, NULL);

    yyjson_mut_doc_free(copy);
    BUG_ON(!doc);
    return doc;
}

static uint64_t version_of(const struct kube_meta *meta)
{
    return strtoull(meta->resource_version, NULL, 10);
}

void controller_put_owner(struct controller *controller, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta) || !meta.uid[0])
        return;
    struct family *family = families_find(controller->families, meta.uid);
    struct owner *owner = family && family->owner ? family->owner : owner_new(controller, &meta);
    if (owner->doc && version_of(&meta) < owner->version)
        return;
    yyjson_doc *before = owner->doc;
    owner->version = version_of(&meta);
    owner->doc = copy_of(object);
    owner->object = yyjson_doc_get_root(owner->doc);
    adoption_put_owner(owner, yyjson_doc_get_root(before));
    yyjson_doc_free(before);
    work_add(controller->work, &owner->work);
}

static void tell_lost(struct controller *controller, struct family *family)
{
    for (struct child *child = family_first(family), *next; child; child = next) {
        next = family_next(child);
        controller->kind->lost(controller, child);
    }
}

static void drop_owner(struct controller *controller, const char *uid)
{
    struct family *family = families_find(controller->families, uid);

    if (!family || !family->owner)
        return;
    bool has_children = family->children.len > 0;
    owner_free(family->owner);
    if (has_children && controller->is_synced && controller->kind->lost)
        tell_lost(controller, family);
}

/* Children. */

static yyjson_val *controller_reference(yyjson_val *object)
{
    size_t i, max;
    yyjson_val *reference;

    yyjson_arr_foreach(value_at(object, "metadata", "ownerReferences"), i, max, reference)
    {
        if (bool_at(reference, "controller"))
            return reference;
    }
    return NULL;
}

/* Who controls a child, if that is one of ours; `uid` is NULL otherwise. */
struct parent {
    const char *uid, *name;
};

static struct parent parent_of(const struct controller *controller, yyjson_val *object)
{
    const struct kube_resource *resource = kube_known(controller->kind->owner);
    yyjson_val *reference = controller_reference(object);
    size_t group = strlen(resource->group);

    if (!reference) {
        const char *label = controller->kind->name_label;

        return (struct parent){controller->kind->family_of ? controller->kind->family_of(object) : NULL,
                               label ? kube_text(object, "metadata", "labels", label) : ""};
    }
    if (strcmp(kube_text(reference, "kind"), resource->kind) != 0 ||
        strncmp(kube_text(reference, "apiVersion"), resource->group, group) != 0)
        return (struct parent){0};
    return (struct parent){kube_text(reference, "uid"), kube_text(reference, "name")};
}

struct child *owner_child(const struct owner *owner, const char *uid)
{
    struct child *child = families_child(owner->controller->families, uid);

    return child && child->family == owner->family ? child : NULL;
}

static void wake(const struct family *family)
{
    if (family->owner)
        work_add(family->owner->controller->work, &family->owner->work);
}

void controller_drop_child(struct controller *controller, const char *uid)
{
    struct child *child = families_child(controller->families, uid);

    if (!child)
        return;
    if (child->family->owner && child->family->owner->calls.len > 0)
        vec_push(&child->family->owner->buried, xstrdup(uid));
    wake(child->family);
    families_drop_child(controller->families, child);
}

static struct child *child_new(struct controller *controller, uint32_t kind, const struct kube_meta *meta,
                               const struct parent *parent)
{
    struct child *child = xcalloc(1, sizeof *child);
    struct family *family = families_get(controller->families, parent->uid);

    child->kind = kind;
    child->namespace = xstrdup(meta->namespace);
    child->name = xstrdup(meta->name);
    child->uid = xstrdup(meta->uid);
    child->mark = xstrdup("");
    if (!family->name && parent->name[0])
        family->name = xstrdup(parent->name);
    families_add_child(controller->families, family, child);
    return child;
}

static void child_read(const struct controller_kind *kind, struct child *child, yyjson_val *object)
{
    bool is_pod = kind->children[child->kind] == KUBE_PODS;

    child->created = time_at(object, "metadata", "creationTimestamp");
    child->is_ending = value_at(object, "metadata", "deletionTimestamp") != NULL;
    yyjson_doc_free(child->doc);
    child->doc = NULL;
    if (is_pod)
        pod_life_read(object, &child->pod);
    if (!is_pod || (kind->keeps && kind->keeps(object)))
        child->doc = copy_of(object);
    const char *mark = kind->mark ? kube_text(object, "metadata", "labels", kind->mark) : "";
    if (strcmp(mark, child->mark) != 0) {
        free(child->mark);
        child->mark = xstrdup(mark);
    }
}

void controller_put_child(struct controller *controller, uint32_t kind, yyjson_val *object)
{
    struct parent parent = parent_of(controller, object);
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta))
        return;
    struct child *child = families_child(controller->families, meta.uid);
    if (child && (version_of(&meta) < child->version))
        return;
    if (child && (!parent.uid || strcmp(child->family->uid, parent.uid) != 0)) {
        controller_drop_child(controller, meta.uid);
        child = NULL;
    }
    if (kind == 0 && !controller_reference(object))
        adoption_put_orphan(controller, object);
    if (!parent.uid)
        return;
    if (!child)
        child = child_new(controller, kind, &meta, &parent);
    child->version = version_of(&meta);
    child_read(controller->kind, child, object);
    if (kind == 0)
        adoption_put_child(child, object);
    wake(child->family);
    if (!child->family->owner && controller->is_synced && controller->kind->lost)
        controller->kind->lost(controller, child);
}

/* Following. */

static void on_owner(void *arg, const struct follow_event *event)
{
    struct controller *controller = ((const struct controller_watch *)arg)->controller;

    if (event->change == FOLLOW_DELETED)
        drop_owner(controller, event->uid);
    else
        controller_put_owner(controller, event->object);
}

static void on_child(void *arg, const struct follow_event *event)
{
    const struct controller_watch *watch = arg;
    struct controller *controller = watch->controller;

    if (controller->kind->seen)
        controller->kind->seen(controller, event);
    if (event->change == FOLLOW_DELETED)
        controller_drop_child(watch->controller, event->uid);
    else
        controller_put_child(watch->controller, watch->kind, event->object);
}

struct owner *controller_next_owner(const struct controller *controller, size_t *cursor)
{
    struct family *family;

    while ((family = families_next(controller->families, cursor))) {
        if (family->owner)
            return family->owner;
    }
    return NULL;
}

static void find_lost(struct controller *controller)
{
    struct family *family;

    for (size_t cursor = 0; controller->kind->lost && (family = families_next(controller->families, &cursor));) {
        if (!family->owner)
            tell_lost(controller, family);
    }
}

static void on_synced(void *arg, bool is_first)
{
    struct controller *controller = ((const struct controller_watch *)arg)->controller;

    (void)is_first;
    if (controller->is_synced || !follower_is_synced(controller->owners.follower))
        return;
    for (uint32_t i = 0; i < controller->kind->child_kinds; i++) {
        if (!follower_is_synced(controller->children[i].follower))
            return;
    }
    controller->is_synced = true;
    log_info(controller->service->log, "synced",
             log_int("objects", (int64_t)follower_len(controller->owners.follower)));
    service_set_ready(controller->service, true);
    find_lost(controller);
    work_pump(controller->work);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((const struct controller_watch *)arg)->controller->service, "objects", err, wait);
}

/* The server was taken back to an older state: whatever it shows now counts. */
static void on_older(void *arg, const char *seen, const char *now)
{
    struct controller *controller = ((const struct controller_watch *)arg)->controller;
    struct family *family;

    (void)seen;
    (void)now;
    for (size_t cursor = 0; (family = families_next(controller->families, &cursor));) {
        if (family->owner)
            family->owner->version = 0;
        for (struct child *child = family_first(family); child; child = family_next(child))
            child->version = 0;
    }
}

static void follow(struct controller *controller, struct controller_watch *watch, enum kube_known known,
                   follow_event_fn on_event)
{
    watch->controller = controller;
    watch->follower = follower_new(controller->service->client, &(struct follow_options){
                                                                    .resource = kube_known(known),
                                                                    .on_event = on_event,
                                                                    .on_synced = on_synced,
                                                                    .on_problem = on_problem,
                                                                    .on_older = on_older,
                                                                    .arg = watch,
                                                                });
}

/* The service. */

static void start(void *arg, struct work_item *item)
{
    (void)arg;
    owner_start(list_item(&item->in_work, struct owner, work.in_work));
}

static bool may_start(void *arg)
{
    return ((const struct controller *)arg)->is_synced;
}

int controller_configure(struct service *service, struct err *err)
{
    (void)err;
    service->settings.component = kind_of(service)->component;
    return 0;
}

int controller_open(struct service *service, struct err *err)
{
    struct controller *controller = xcalloc(1, sizeof *controller);

    (void)err;
    service->state = controller;
    controller->service = service;
    controller->kind = kind_of(service);
    controller->families = families_new();
    controller->work = work_new(&(struct work_options){
        .service = service,
        .controller = service->kind->name,
        .workers = WORKERS,
        .delay = DELAY,
        .interval = controller->kind->interval,
        .may_start = may_start,
        .start = start,
        .arg = controller,
    });
    follow(controller, &controller->owners, controller->kind->owner, on_owner);
    for (uint32_t i = 0; i < controller->kind->child_kinds; i++) {
        controller->children[i].kind = i;
        follow(controller, &controller->children[i], controller->kind->children[i], on_child);
    }
    return 0;
}

void controller_lead(struct service *service)
{
    work_pump(((struct controller *)service->state)->work);
}

void controller_stop(struct service *service)
{
    work_stop(((struct controller *)service->state)->work);
}

/* The last one of a family frees it. */
static void drop_family(struct controller *controller, struct family *family)
{
    struct child *child;

    if (family->children.len == 0) {
        owner_free(family->owner);
        return;
    }
    if (family->owner)
        owner_free(family->owner);
    for (size_t left = family->children.len; left > 0 && (child = family_first(family)); left--)
        families_drop_child(controller->families, child);
}

static void drop_all(struct controller *controller)
{
    VEC(struct family *) all = {0};
    struct family *family;

    for (size_t cursor = 0; (family = families_next(controller->families, &cursor));)
        vec_push(&all, family);
    vec_foreach (&all, at)
        drop_family(controller, *at);
    vec_done(&all);
}

void controller_close(struct service *service)
{
    struct controller *controller = service->state;

    follower_free(controller->owners.follower);
    for (uint32_t i = 0; i < controller->kind->child_kinds; i++)
        follower_free(controller->children[i].follower);
    if (controller->kind->close)
        controller->kind->close(controller);
    drop_all(controller);
    work_free(controller->work);
    families_free(controller->families);
    free(controller);
}
