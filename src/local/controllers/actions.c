/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/actions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "local/controllers/diff.h"
#include "text/json.h"

/* So many requests for one owner at a time; more follow in the next round. */
enum { CREATES_MAX = 500, MESSAGE_MAX = 1024 };

enum act { ACT_CREATE, ACT_CREATE_OTHER, ACT_DELETE, ACT_PATCH_CHILD, ACT_PATCH, ACT_DELETE_ITSELF, ACT_ASK };

struct owner_call {
    struct list_link in_owner;
    struct owner *owner;
    struct kube_call *call;
    enum act act;
    uint32_t kind;
    char *name;  // of the child
    char *uid;
    owner_item_fn on_item;  // of ACT_ASK
    owner_answer_fn on_answer;
};

static const struct kube_resource *child_resource(const struct owner *owner, uint32_t kind)
{
    return kube_known(owner->controller->kind->children[kind]);
}

static struct owner_call *call_new(struct owner *owner, enum act act, uint32_t kind, const char *name, const char *uid)
{
    struct owner_call *call = xcalloc(1, sizeof *call);

    call->owner = owner;
    call->act = act;
    call->kind = kind;
    call->name = xstrdup(name);
    call->uid = xstrdup(uid);
    list_push(&owner->calls, &call->in_owner);
    return call;
}

static void call_free(struct owner *owner, struct owner_call *call)
{
    list_remove(&owner->calls, &call->in_owner);
    free(call->name);
    free(call->uid);
    free(call);
}

/* The round is over when nothing is under way any more. */
static void look_at_end(struct owner *owner)
{
    struct err failure = owner->failure;

    if (owner->is_started || owner->calls.len > 0)
        return;
    vec_foreach (&owner->buried, at)
        free(*at);
    vec_clear(&owner->buried);
    if (failure.code < 0)
        log_warn(owner->controller->service->log, "an object could not be reconciled; trying again later",
                 log_str("namespace", owner->namespace), log_str("name", owner->name), log_error(&failure));
    owner->failure.code = 0;
    work_done(owner->controller->work, &owner->work, &failure);
}

static bool is_buried(const struct owner *owner, const char *uid)
{
    vec_foreach (&owner->buried, at) {
        if (strcmp(*at, uid) == 0)
            return true;
    }
    return false;
}

static void take_in(struct owner_call *call, const struct kube_answer *answer)
{
    struct owner *owner = call->owner;
    struct controller *controller = owner->controller;
    yyjson_val *object = NULL;
    struct kube_meta meta;

    if (call->act == ACT_CREATE_OTHER || call->act == ACT_DELETE_ITSELF || call->act == ACT_ASK ||
        kube_answer_object(answer, &object, NULL) < 0 || !kube_meta_read(object, &meta))
        return;
    if (call->act == ACT_PATCH)
        controller_put_owner(controller, object);
    else if (meta.uid[0] && !is_buried(owner, meta.uid))
        controller_put_child(controller, call->kind, object);
}

static void tell(const struct owner_call *call, const struct kube_answer *answer)
{
    const struct owner *owner = call->owner;
    char kind[64];

    if (call->act != ACT_CREATE && call->act != ACT_DELETE)
        return;
    (void)snprintf(kind, sizeof kind, "%s", child_resource(owner, call->kind)->kind);
    kind[0] = (char)(kind[0] | ' ');  // lower case
    if (answer->err.code == 0 && owner->controller->kind->tell)
        owner->controller->kind->tell(owner, call->kind, call->name, call->act == ACT_CREATE);
    else if (answer->err.code == 0)
        owner_event(owner, "Normal", call->act == ACT_CREATE ? "SuccessfulCreate" : "SuccessfulDelete", "%s %s: %s",
                    call->act == ACT_CREATE ? "Created" : "Deleted", kind, call->name);
    else
        owner_event(owner, "Warning", call->act == ACT_CREATE ? "FailedCreate" : "FailedDelete", "Error %s: %s",
                    call->act == ACT_CREATE ? "creating" : "deleting", answer->err.text);
}

static bool is_fine(const struct owner_call *call, const struct kube_answer *answer)
{
    if (answer->err.code == 0)
        return true;
    switch (call->act) {
    case ACT_CREATE:
        return false;
    case ACT_CREATE_OTHER:
        return answer->status == 409;
    default:
        /* Gone, or changed by somebody else: the watch shows what it is now. */
        return answer->status == 404 || answer->status == 409;
    }
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct owner_call *call = arg;
    struct owner *owner = call->owner;

    call->call = NULL;
    if (call->act == ACT_ASK)
        call->on_answer(owner, answer);
    else if (answer->err.code == 0)
        take_in(call, answer);
    else if (answer->status == 404 && (call->act == ACT_DELETE || call->act == ACT_PATCH_CHILD))
        controller_drop_child(owner->controller, call->uid);
    if (!is_fine(call, answer) && owner->failure.code == 0)
        owner->failure = answer->err;
    if (answer->err.code == 0 || !is_fine(call, answer))
        tell(call, answer);
    /* What comes next is decided by what is there now. After a conflict, the watch says so when that is known. */
    if (answer->err.code == 0)
        work_add(owner->controller->work, &owner->work);
    call_free(owner, call);
    look_at_end(owner);
}

static void send(struct owner_call *call, struct kube_request request, const yyjson_mut_doc *doc)
{
    request.on_done = on_done;
    request.arg = call;
    call->call = kube_send_doc(call->owner->controller->service->client, &request, doc);
}

void owner_create(struct owner *owner, uint32_t kind, yyjson_mut_doc *doc)
{
    const char *name = yyjson_mut_get_str(yyjson_mut_doc_ptr_get(doc, "/metadata/name"));

    send(call_new(owner, ACT_CREATE, kind, name ? name : "", ""),
         (struct kube_request){.verb = KUBE_CREATE,
                               .resource = child_resource(owner, kind),
                               .namespace = owner->namespace,
                               /* By its name it is made once at most. */
                               .is_repeatable = true},
         doc);
    yyjson_mut_doc_free(doc);
}

void owner_create_other(struct owner *owner, const struct kube_resource *resource, yyjson_mut_doc *doc)
{
    send(call_new(owner, ACT_CREATE_OTHER, 0, "", ""),
         (struct kube_request){
             .verb = KUBE_CREATE, .resource = resource, .namespace = owner->namespace, .is_repeatable = true},
         doc);
    yyjson_mut_doc_free(doc);
}

static int on_item(void *arg, const char *text, size_t len)
{
    struct owner_call *call = arg;

    return call->on_item(call->owner, text, len);
}

void owner_ask(struct owner *owner, const struct kube_request *request, owner_item_fn on_item_of_list,
               owner_answer_fn on_answer)
{
    struct owner_call *call = call_new(owner, ACT_ASK, 0, "", "");
    struct kube_request sent = *request;

    call->on_item = on_item_of_list;
    call->on_answer = on_answer;
    sent.on_item = on_item_of_list ? on_item : NULL;
    sent.on_done = on_done;
    sent.arg = call;
    call->call = kube_send(owner->controller->service->client, &sent);
}

static void send_delete(struct owner_call *call, const struct kube_resource *resource)
{
    call->call = kube_delete(call->owner->controller->service->client, &(struct kube_delete_request){
                                                                           .resource = resource,
                                                                           .namespace = call->owner->namespace,
                                                                           .name = call->name,
                                                                           .uid = call->uid,
                                                                           .propagation = "Background",
                                                                           .grace_s = -1,
                                                                           .on_done = on_done,
                                                                           .arg = call,
                                                                       });
}

void owner_delete(struct owner *owner, struct child *child)
{
    send_delete(call_new(owner, ACT_DELETE, child->kind, child->name, child->uid), child_resource(owner, child->kind));
}

void owner_delete_itself(struct owner *owner)
{
    send_delete(call_new(owner, ACT_DELETE_ITSELF, 0, owner->name, owner->uid),
                kube_known(owner->controller->kind->owner));
}

void owner_patch_child(struct owner *owner, const struct child *child, enum kube_verb verb, yyjson_mut_doc *patch,
                       const char *subresource)
{
    send(call_new(owner, ACT_PATCH_CHILD, child->kind, child->name, child->uid),
         (struct kube_request){.verb = verb,
                               .resource = child_resource(owner, child->kind),
                               .namespace = owner->namespace,
                               .name = child->name,
                               .subresource = subresource,
                               .is_repeatable = true},
         patch);
    yyjson_mut_doc_free(patch);
}

void owner_patch(struct owner *owner, yyjson_mut_doc *patch, const char *subresource)
{
    send(call_new(owner, ACT_PATCH, 0, owner->name, owner->uid),
         (struct kube_request){.verb = KUBE_PATCH_MERGE,
                               .resource = kube_known(owner->controller->kind->owner),
                               .namespace = owner->namespace,
                               .name = owner->name,
                               .subresource = subresource,
                               .is_repeatable = true},
         patch);
    yyjson_mut_doc_free(patch);
}

bool owner_set_status(struct owner *owner, yyjson_mut_doc *doc, yyjson_mut_val *status)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *patch = json_new_object(&root);
    yyjson_mut_val *changes = yyjson_mut_obj(patch);

    if (!diff_objects(patch, changes, yyjson_obj_get(owner->object, "status"), status)) {
        yyjson_mut_doc_free(patch);
        yyjson_mut_doc_free(doc);
        return false;
    }
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(patch, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(patch, metadata, "uid", owner->uid);
    (void)yyjson_mut_obj_add_strcpy(patch, metadata, "resourceVersion",
                                    kube_text(owner->object, "metadata", "resourceVersion"));
    (void)yyjson_mut_obj_add_val(patch, root, "status", changes);
    yyjson_mut_doc_free(doc);
    owner_patch(owner, patch, "status");
    return true;
}

void owner_look_again(struct owner *owner, nsec_t time)
{
    nsec_t after = MAX(time - nsec_now_wall(), 0);

    if (!loop_timer_is_running(&owner->again) || owner->due > time) {
        owner->due = time;
        loop_timer_start(&owner->again, after);
    }
}

bool owner_has_acted(const struct owner *owner)
{
    return owner->calls.len > 0;
}

uint32_t owner_create_max(const struct owner *owner)
{
    return owner->work.backoff.failures > 0 ? 1 : CREATES_MAX;
}

void owner_event(const struct owner *owner, const char *type, const char *reason, const char *format, ...)
{
    const struct kube_resource *resource = kube_known(owner->controller->kind->owner);
    char message[MESSAGE_MAX], version[320];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)snprintf(version, sizeof version, "%s%s%s", resource->group, resource->group[0] ? "/" : "",
                   resource->version);
    recorder_record(owner->controller->service->recorder, &(struct event){
                                                              .api_version = version,
                                                              .kind = resource->kind,
                                                              .namespace = owner->namespace,
                                                              .name = owner->name,
                                                              .uid = owner->uid,
                                                              .type = type,
                                                              .reason = reason,
                                                              .message = message,
                                                          });
}

void owner_start(struct owner *owner)
{
    owner->is_started = true;
    owner->controller->kind->sync(owner);
    owner->is_started = false;
    look_at_end(owner);
}

void owner_cancel(struct owner *owner)
{
    for (struct owner_call *call; (call = list_first(&owner->calls, struct owner_call, in_owner));) {
        if (call->call)
            kube_cancel(TAKE_PTR(call->call));
        call_free(owner, call);
    }
    vec_foreach (&owner->buried, at)
        free(*at);
    vec_done(&owner->buried);
}
