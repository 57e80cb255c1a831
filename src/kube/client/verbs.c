/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/certain.h"
#include "kube/client/meta.h"
#include "text/json.h"

struct kube_call *kube_send_doc(struct kube_client *client, const struct kube_request *request,
                                const yyjson_mut_doc *doc)
{
    struct kube_request with_body = *request;
    /* A text that was cut within a character is for the server to judge, and no reason to stop. */
    _cleanup_(freep) char *body = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &with_body.body_len);

    BUG_ON(!body);
    with_body.body = body;
    return kube_send(client, &with_body);
}

static yyjson_mut_doc *new_doc(yyjson_mut_val **ret_root, const char *api_version, const char *kind)
{
    yyjson_mut_doc *doc = json_new_object(ret_root);

    (void)yyjson_mut_obj_add_str(doc, *ret_root, "apiVersion", api_version);
    (void)yyjson_mut_obj_add_str(doc, *ret_root, "kind", kind);
    return doc;
}

static void add_delete_options(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct kube_delete_request *request)
{
    if (request->grace_s >= 0)
        (void)yyjson_mut_obj_add_int(doc, to, "gracePeriodSeconds", request->grace_s);
    if (request->propagation)
        (void)yyjson_mut_obj_add_str(doc, to, "propagationPolicy", request->propagation);
    if ((request->uid && request->uid[0]) || request->version) {
        yyjson_mut_val *conditions = yyjson_mut_obj_add_obj(doc, to, "preconditions");

        if (request->uid && request->uid[0])
            (void)yyjson_mut_obj_add_str(doc, conditions, "uid", request->uid);
        if (request->version)
            (void)yyjson_mut_obj_add_str(doc, conditions, "resourceVersion", request->version);
    }
}

struct kube_call *kube_delete(struct kube_client *client, const struct kube_delete_request *request)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = new_doc(&root, "v1", "DeleteOptions");

    add_delete_options(doc, root, request);
    struct kube_call *call = kube_send_doc(client,
                                           &(struct kube_request){
                                               .verb = KUBE_DELETE,
                                               .resource = request->resource,
                                               .namespace = request->namespace,
                                               .name = request->name,
                                               /* With the UID it cannot hit another one the second time. */
                                               .is_repeatable = request->uid && request->uid[0],
                                               .on_done = request->on_done,
                                               .arg = request->arg,
                                           },
                                           doc);
    yyjson_mut_doc_free(doc);
    return call;
}

struct kube_removal {
    char *uid;
    kube_repeat_fn may_repeat;
    void (*on_unknown)(void *arg, const struct err *err);
    kube_done_fn on_done;
    void *arg;
    struct kube_certain *certain;
};

static void removal_free(struct kube_removal *removal)
{
    free(removal->uid);
    free(removal);
}

static enum kube_shown judge_removal(void *arg, yyjson_val *object, struct err *err)
{
    const struct kube_removal *removal = arg;
    bool is_there = object && strcmp(kube_text(object, "metadata", "uid"), removal->uid) == 0 &&
                    kube_text(object, "metadata", "deletionTimestamp")[0] == '\0';

    (void)err;
    return is_there ? KUBE_SHOWS_NOT_DONE : KUBE_SHOWS_DONE;
}

static enum kube_repeat may_repeat_removal(void *arg)
{
    const struct kube_removal *removal = arg;

    return removal->may_repeat(removal->arg);
}

static void on_removal_unknown(void *arg, const struct err *err)
{
    const struct kube_removal *removal = arg;

    if (removal->on_unknown)
        removal->on_unknown(removal->arg, err);
}

static void on_removed(void *arg, const struct kube_answer *answer)
{
    struct kube_removal *removal = arg;
    struct kube_answer verdict = *answer;

    if (answer->status == 404)
        verdict.err = (struct err){0};
    removal->on_done(removal->arg, &verdict);
    removal_free(removal);
}

struct kube_removal *kube_removal_start(struct kube_client *client, const struct kube_delete_request *request,
                                        void (*on_unknown)(void *arg, const struct err *err))
{
    struct kube_removal *removal = xcalloc(1, sizeof *removal);
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = new_doc(&root, "v1", "DeleteOptions");

    add_delete_options(doc, root, request);
    *removal = (struct kube_removal){
        .uid = xstrdup(request->uid),
        .may_repeat = request->may_repeat,
        .on_unknown = on_unknown,
        .on_done = request->on_done,
        .arg = request->arg,
    };
    removal->certain = kube_certain_start(client, &(struct kube_certain_request){
                                                      .write =
                                                          {
                                                              .verb = KUBE_DELETE,
                                                              .resource = request->resource,
                                                              .namespace = request->namespace,
                                                              .name = request->name,
                                                          },
                                                      .doc = doc,
                                                      .resource = request->resource,
                                                      .namespace = request->namespace,
                                                      .name = request->name,
                                                      .judge = judge_removal,
                                                      .may_repeat = request->may_repeat ? may_repeat_removal : NULL,
                                                      .on_unknown = on_removal_unknown,
                                                      .on_done = on_removed,
                                                      .arg = removal,
                                                  });
    yyjson_mut_doc_free(doc);
    return removal;
}

void kube_removal_cancel(struct kube_removal *removal)
{
    if (!removal)
        return;
    kube_certain_cancel(removal->certain);
    removal_free(removal);
}

bool kube_removal_is_unsent(const struct kube_removal *removal)
{
    return kube_certain_is_unsent(removal->certain);
}

struct kube_call *kube_evict(struct kube_client *client, const struct kube_delete_request *request)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = new_doc(&root, "policy/v1", "Eviction");
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");

    (void)yyjson_mut_obj_add_str(doc, meta, "name", request->name);
    (void)yyjson_mut_obj_add_str(doc, meta, "namespace", request->namespace);
    add_delete_options(doc, yyjson_mut_obj_add_obj(doc, root, "deleteOptions"), request);
    struct kube_call *call = kube_send_doc(client,
                                           &(struct kube_request){
                                               .verb = KUBE_CREATE,
                                               .resource = request->resource,
                                               .namespace = request->namespace,
                                               .name = request->name,
                                               .subresource = "eviction",
                                               /* A budget that says no will say no again in a moment. */
                                               .tries = 1,
                                               .on_done = request->on_done,
                                               .arg = request->arg,
                                           },
                                           doc);
    yyjson_mut_doc_free(doc);
    return call;
}
