/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Namespaces. Each has the ServiceAccount "default" and the ConfigMap "kube-root-ca.crt", which clients wait for and trust:
 * they are made again when somebody deletes them, and what somebody changes in the map is undone. A namespace that is deleted is emptied kind by kind; when nothing is left, its own finalizer is taken off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "frame/service.h"
#include "frame/work.h"
#include "kube/access/config.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "kube/follow/follow.h"
#include "local/cleaning/catalog.h"
#include "local/cleaning/cleaning.h"
#include "local/controllers/status.h"
#include "local/controllers/values.h"
#include "net/loop.h"
#include "text/file.h"
#include "text/json.h"

#define AUTHORITY_MAP "kube-root-ca.crt"

enum { WORKERS = 8, LIST_PAGE = 500, NAMES_MAX = 2000 };

/* Pods take their time to end. */
#define LOOK_AGAIN (NSEC_PER_SEC / 2)

enum step { STEP_DELETE, STEP_COUNT };

struct namespaces {
    struct service *service;
    struct catalog *catalog;
    struct follower *follower, *accounts, *maps;
    struct work *work;
    struct strmap all;  // struct space, by name
    char *authority;    // PEM; "" when there is none
};

struct space {
    struct namespaces *namespaces;
    struct work_item work;
    char *name;
    yyjson_doc *doc;
    struct kube_call *call;
    struct loop_timer again;
    bool has_account, has_map, is_making_map, is_ending;
    bool is_map_changed;  // there is one, which says something else; then `has_map` is false

    /* Emptying: one kind after the other, first to delete, then to count. */
    enum step step;
    size_t next;
    uint64_t catalog_changes;  // when it began
    int64_t left, finalizers;  // objects that are left, and those of them that somebody holds
    struct strbuf left_text;
};

static const struct kube_resource *namespace_resource(void)
{
    return kube_known(KUBE_NAMESPACES);
}

static void finish(struct space *space, const struct err *err)
{
    struct namespaces *namespaces = space->namespaces;

    if (err && err->code < 0)
        log_warn(namespaces->service->log, "a namespace could not be updated; trying again later",
                 log_str("namespace", space->name), log_error(err));
    work_done(namespaces->work, &space->work, err);
}

/* What every namespace has. */

static void on_made(void *arg, const struct kube_answer *answer)
{
    struct space *space = arg;
    struct err err = answer->err;

    space->call = NULL;
    /* There already, or the namespace is going. */
    if (answer->status == 409 || answer->status == 404 || answer->status == 403)
        err.code = 0;
    if (err.code == 0) {
        *(space->is_making_map ? &space->has_map : &space->has_account) = true;
        space->is_map_changed &= !space->is_making_map;
        work_add(space->namespaces->work, &space->work);
    }
    finish(space, &err);
}

static void make(struct space *space, enum kube_known known, const char *name)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);

    space->is_making_map = known == KUBE_CONFIG_MAPS;
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", kube_known(known)->kind);
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "name", name);
    if (space->is_making_map)
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "data"), "ca.crt",
                                     space->namespaces->authority);
    space->call = kube_send_doc(space->namespaces->service->client,
                                &(struct kube_request){
                                    .verb = KUBE_CREATE,
                                    .resource = kube_known(known),
                                    .namespace = space->name,
                                    .is_repeatable = true,
                                    .on_done = on_made,
                                    .arg = space,
                                },
                                doc);
    yyjson_mut_doc_free(doc);
}

/* Labels and annotations of the map are anybody's. */
static void restore_map(struct space *space)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *steps = yyjson_mut_arr(doc);
    yyjson_mut_val *step = yyjson_mut_arr_add_obj(doc, steps);

    yyjson_mut_doc_set_root(doc, steps);
    (void)yyjson_mut_obj_add_str(doc, step, "op", "add");
    (void)yyjson_mut_obj_add_str(doc, step, "path", "/data");
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, step, "value"), "ca.crt",
                                 space->namespaces->authority);
    space->is_making_map = true;
    space->call = kube_send_doc(space->namespaces->service->client,
                                &(struct kube_request){
                                    .verb = KUBE_PATCH_JSON,
                                    .resource = kube_known(KUBE_CONFIG_MAPS),
                                    .namespace = space->name,
                                    .name = AUTHORITY_MAP,
                                    .is_repeatable = true,
                                    .on_done = on_made,
                                    .arg = space,
                                },
                                doc);
    yyjson_mut_doc_free(doc);
}

/* Emptying. */

static void empty(struct space *space);
static void empty_next(struct space *space);

static void on_finalized(void *arg, const struct kube_answer *answer)
{
    struct space *space = arg;
    struct err err = answer->err;

    space->call = NULL;
    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    finish(space, &err);
}

static void finalize(struct space *space)
{
    yyjson_mut_doc *doc = kube_copy(yyjson_doc_get_root(space->doc));
    yyjson_mut_val *finalizers = yyjson_mut_doc_ptr_get(doc, "/spec/finalizers");

    for (size_t i = yyjson_mut_arr_size(finalizers); i > 0; i--) {
        if (yyjson_mut_equals_str(yyjson_mut_arr_get(finalizers, i - 1), "kubernetes"))
            (void)yyjson_mut_arr_remove(finalizers, i - 1);
    }
    space->call = kube_send_doc(space->namespaces->service->client,
                                &(struct kube_request){
                                    .verb = KUBE_UPDATE,
                                    .resource = namespace_resource(),
                                    .name = space->name,
                                    .subresource = "finalize",
                                    .on_done = on_finalized,
                                    .arg = space,
                                },
                                doc);
    yyjson_mut_doc_free(doc);
}

static void add_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const char *type, bool is_true,
                          const char *reason, const char *message)
{
    status_set_condition(doc, conditions,
                         &(struct status_condition){
                             .type = type, .status = is_true ? "True" : "False", .reason = reason, .message = message},
                         nsec_now_wall());
}

static void on_told(void *arg, const struct kube_answer *answer)
{
    struct space *space = arg;
    struct err err = answer->err;

    space->call = NULL;
    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    /* The watch brings the namespace with its new version; without a change, a timer looks again. */
    loop_timer_start(&space->again, LOOK_AGAIN);
    finish(space, &err);
}

/* Tells what is left, as `kubectl describe namespace` shows it. */
static void tell(struct space *space)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, root, "status");
    yyjson_mut_val *conditions = status_conditions(doc, yyjson_doc_get_root(space->doc));
    char left[NAMES_MAX + 100], held[100];

    (void)snprintf(left, sizeof left, "Some resources are remaining: %s", space->left_text.text);
    (void)snprintf(held, sizeof held, "Some content in the namespace has finalizers remaining: %lld objects",
                   (long long)space->finalizers);
    add_condition(doc, conditions, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                  "All resources successfully discovered");
    add_condition(doc, conditions, "NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                  "All legacy kube types successfully parsed");
    add_condition(doc, conditions, "NamespaceDeletionContentFailure", false, "ContentDeleted",
                  "All content successfully deleted, may be waiting on finalization");
    add_condition(doc, conditions, "NamespaceContentRemaining", true, "SomeResourcesRemain", left);
    add_condition(doc, conditions, "NamespaceFinalizersRemaining", space->finalizers > 0,
                  space->finalizers > 0 ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
                  space->finalizers > 0 ? held : "All content-preserving finalizers finished");
    (void)yyjson_mut_obj_add_val(doc, status, "conditions", conditions);
    space->call = kube_send_doc(space->namespaces->service->client,
                                &(struct kube_request){
                                    .verb = KUBE_PATCH_MERGE,
                                    .resource = namespace_resource(),
                                    .name = space->name,
                                    .subresource = "status",
                                    .is_repeatable = true,
                                    .on_done = on_told,
                                    .arg = space,
                                },
                                doc);
    yyjson_mut_doc_free(doc);
}

static void on_kind_deleted(void *arg, const struct kube_answer *answer)
{
    struct space *space = arg;

    space->call = NULL;
    /* A kind that cannot be deleted as a whole, or has gone away. */
    if (answer->err.code < 0 && answer->status != 404 && answer->status != 405) {
        finish(space, &answer->err);
        return;
    }
    space->next++;
    empty_next(space);
}

static void on_kind_listed(void *arg, const struct kube_answer *answer)
{
    struct space *space = arg;
    const struct kube_resource *resource = catalog_at(space->namespaces->catalog, space->next);
    yyjson_val *list = NULL, *item;
    size_t i, max;

    space->call = NULL;
    if (answer->err.code < 0 && answer->status != 404) {
        finish(space, &answer->err);
        return;
    }
    if (answer->err.code == 0 && kube_answer_object(answer, &list, NULL) == 0) {
        yyjson_val *items = yyjson_obj_get(list, "items");

        yyjson_arr_foreach(items, i, max, item)
        {
            space->finalizers += yyjson_arr_size(value_at(item, "metadata", "finalizers")) > 0;
        }
        space->left += (int64_t)yyjson_arr_size(items);
        if (yyjson_arr_size(items) > 0 && resource)
            strbuf_addf(&space->left_text, "%s%s.%s has %zu resource instances", space->left_text.len ? ", " : "",
                        resource->plural, resource->group, yyjson_arr_size(items));
    }
    space->next++;
    empty_next(space);
}

static struct kube_call *send_kind(struct space *space, const struct kube_resource *resource)
{
    bool is_delete = space->step == STEP_DELETE;

    return kube_send(space->namespaces->service->client, &(struct kube_request){
                                                             .verb = is_delete ? KUBE_DELETE_ALL : KUBE_LIST,
                                                             .resource = resource,
                                                             .namespace = space->name,
                                                             .limit = is_delete ? 0 : LIST_PAGE,
                                                             .is_metadata_only = !is_delete,
                                                             .is_repeatable = true,
                                                             .on_done = is_delete ? on_kind_deleted : on_kind_listed,
                                                             .arg = space,
                                                         });
}

static void empty_next(struct space *space)
{
    const struct kube_resource *resource;

    for (;;) {
        resource = catalog_at(space->namespaces->catalog, space->next);
        if (resource && resource->is_namespaced) {
            space->call = send_kind(space, resource);
            return;
        }
        if (resource) {
            space->next++;
            continue;
        }
        space->next = 0;
        if (space->step == STEP_COUNT)
            break;
        space->step = STEP_COUNT;
    }
    /* A kind that came or went on the way may have been passed over. */
    if (space->catalog_changes != catalog_changes(space->namespaces->catalog))
        empty(space);
    else if (space->left == 0)
        finalize(space);
    else
        tell(space);
}

static void empty(struct space *space)
{
    space->step = STEP_DELETE;
    space->next = 0;
    space->catalog_changes = catalog_changes(space->namespaces->catalog);
    space->left = space->finalizers = 0;
    strbuf_clear(&space->left_text);
    empty_next(space);
}

static void start(void *arg, struct work_item *item)
{
    struct space *space = list_item(&item->in_work, struct space, work.in_work);

    (void)arg;
    if (space->is_ending)
        empty(space);
    else if (!space->has_account)
        make(space, KUBE_SERVICE_ACCOUNTS, "default");
    else if (space->is_map_changed)
        restore_map(space);
    else if (!space->has_map)
        make(space, KUBE_CONFIG_MAPS, AUTHORITY_MAP);
    else
        finish(space, NULL);
}

static bool may_start(void *arg)
{
    const struct namespaces *namespaces = arg;

    return catalog_is_complete(namespaces->catalog) && follower_is_synced(namespaces->follower) &&
           follower_is_synced(namespaces->accounts) && follower_is_synced(namespaces->maps);
}

/* Following. */

static void on_again(void *arg)
{
    struct space *space = arg;

    work_add(space->namespaces->work, &space->work);
}

static struct space *get(struct namespaces *namespaces, const char *name)
{
    struct space *space = strmap_get(&namespaces->all, "", name);

    if (space)
        return space;
    space = xcalloc(1, sizeof *space);
    space->namespaces = namespaces;
    space->name = xstrdup(name);
    strbuf_init(&space->left_text, NAMES_MAX);
    loop_timer_init(&space->again, namespaces->service->loop, on_again, space);
    (void)strmap_put(&namespaces->all, "", space->name, space);
    return space;
}

static void space_free(struct space *space)
{
    if (space->call)
        kube_cancel(TAKE_PTR(space->call));
    work_drop(space->namespaces->work, &space->work);
    loop_timer_done(&space->again);
    strbuf_done(&space->left_text);
    yyjson_doc_free(space->doc);
    free(space->name);
    free(space);
}

static void on_namespace(void *arg, const struct follow_event *event)
{
    struct namespaces *namespaces = arg;

    if (event->change == FOLLOW_DELETED) {
        struct space *gone = strmap_remove(&namespaces->all, "", event->name);

        if (gone)
            space_free(gone);
        return;
    }
    struct space *space = get(namespaces, event->name);
    yyjson_mut_doc *copy = kube_copy(event->object);
    yyjson_doc_free(space->doc);
    space->doc = yyjson_mut_doc_imut_copy(copy, NULL);
    yyjson_mut_doc_free(copy);
    bool was_ending = space->is_ending;
    space->is_ending = value_at(event->object, "metadata", "deletionTimestamp") != NULL;
    /* Our own conditions bring it here again: then the timer decides. */
    if (!space->is_ending || !was_ending)
        work_add(namespaces->work, &space->work);
}

/* Where the thing is, or was; NULL: in a namespace that nobody has seen. */
static struct space *place_of(struct namespaces *namespaces, const struct follow_event *event)
{
    return event->change == FOLLOW_DELETED ? strmap_get(&namespaces->all, "", event->namespace)
                                           : get(namespaces, event->namespace);
}

static void look(struct space *space)
{
    if (space->doc)
        work_add(space->namespaces->work, &space->work);
}

static void on_account(void *arg, const struct follow_event *event)
{
    struct space *space = place_of(arg, event);

    if (!space)
        return;
    space->has_account = event->change != FOLLOW_DELETED;
    if (!space->has_account)
        look(space);
}

static bool is_as_made(const struct namespaces *namespaces, yyjson_val *map)
{
    yyjson_val *data = value_at(map, "data");

    return yyjson_obj_size(data) == 1 && strcmp(kube_text(data, "ca.crt"), namespaces->authority) == 0;
}

static void on_map(void *arg, const struct follow_event *event)
{
    struct namespaces *namespaces = arg;
    struct space *space = place_of(namespaces, event);

    if (!space)
        return;
    space->has_map = event->change != FOLLOW_DELETED && is_as_made(namespaces, event->object);
    space->is_map_changed = event->change != FOLLOW_DELETED && !space->has_map;
    if (!space->has_map)
        look(space);
}

static void on_synced(void *arg, bool is_first)
{
    struct namespaces *namespaces = arg;

    (void)is_first;
    if (may_start(namespaces))
        service_set_ready(namespaces->service, true);
    work_pump(namespaces->work);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((const struct namespaces *)arg)->service, "objects", err, wait);
}

static void on_kind(void *arg, const struct kube_resource *resource)
{
    (void)arg;
    (void)resource;
}

static void on_kinds(void *arg)
{
    on_synced(arg, false);
}

static struct follower *follow(struct namespaces *namespaces, enum kube_known known, const char *fields,
                               bool is_metadata_only, follow_event_fn on_event)
{
    return follower_new(namespaces->service->client, &(struct follow_options){
                                                         .resource = kube_known(known),
                                                         .field_selector = fields,
                                                         .is_metadata_only = is_metadata_only,
                                                         .on_event = on_event,
                                                         .on_synced = on_synced,
                                                         .on_problem = on_problem,
                                                         .arg = namespaces,
                                                     });
}

/* The service. */

struct namespaces_flags {
    const char *authority_from;
};

static const struct flag flags[] = {
    {"authority-from", FLAG_STRING, FLAG_AT(struct namespaces_flags, authority_from), "",
     "kubeconfig with the certificate authority for kube-root-ca.crt (empty: that of --kubeconfig)", 0, 0},
};

static char *read_secret(const struct kube_secret *secret)
{
    char *text = NULL;
    size_t len = 0;

    if (secret->file && file_read(secret->file, KUBE_SECRET_BYTES_MAX, &text, &len, NULL) == 0)
        return text;
    return xstrdup(secret->text ? secret->text : "");
}

/* What clients of the API server trust. We may be one that needs no certificate, over a socket. */
static int read_authority(struct service *service, char **ret_authority, struct err *err)
{
    const struct namespaces_flags *given = service->values;
    struct kube_config *config = NULL;
    int r;

    if (!*given->authority_from) {
        *ret_authority = read_secret(&kube_client_config(service->client)->ca);
        return 0;
    }
    r = kube_config_load(given->authority_from, NULL, &config, err);
    if (r < 0)
        return r;
    *ret_authority = read_secret(&config->ca);
    kube_config_free(config);
    return 0;
}

static int open_namespaces(struct service *service, struct err *err)
{
    char *authority = NULL;
    int r = read_authority(service, &authority, err);

    if (r < 0)
        return r;
    struct namespaces *namespaces = xcalloc(1, sizeof *namespaces);

    service->state = namespaces;
    namespaces->service = service;
    namespaces->authority = authority;
    namespaces->work = work_new(&(struct work_options){
        .service = service,
        .controller = "namespace",
        .workers = WORKERS,
        .may_start = may_start,
        .start = start,
        .arg = namespaces,
    });
    namespaces->catalog = catalog_new(service->client, &(struct catalog_options){
                                                           .on_added = on_kind,
                                                           .on_complete = on_kinds,
                                                           .on_problem = on_problem,
                                                           .arg = namespaces,
                                                       });
    namespaces->accounts = follow(namespaces, KUBE_SERVICE_ACCOUNTS, "metadata.name=default", true, on_account);
    namespaces->maps = follow(namespaces, KUBE_CONFIG_MAPS, "metadata.name=" AUTHORITY_MAP, false, on_map);
    namespaces->follower = follow(namespaces, KUBE_NAMESPACES, NULL, false, on_namespace);
    return 0;
}

static void lead(struct service *service)
{
    work_pump(((struct namespaces *)service->state)->work);
}

static void stop(struct service *service)
{
    work_stop(((struct namespaces *)service->state)->work);
}

static void close_namespaces(struct service *service)
{
    struct namespaces *namespaces = service->state;
    struct space *space;

    follower_free(namespaces->follower);
    follower_free(namespaces->accounts);
    follower_free(namespaces->maps);
    for (size_t cursor = 0; (space = strmap_next(&namespaces->all, &cursor));)
        space_free(space);
    strmap_done(&namespaces->all);
    catalog_free(namespaces->catalog);
    work_free(namespaces->work);
    free(namespaces->authority);
    free(namespaces);
}

const struct service_kind namespaces_service = {
    .name = "namespaces",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct namespaces_flags),
    .has_api = true,
    .can_elect = true,
    .open = open_namespaces,
    .lead = lead,
    .stop = stop,
    .close = close_namespaces,
};
