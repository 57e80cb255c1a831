/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/verbs.h"

#include <stdlib.h>

#include "base/mem.h"
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
    if (request->uid && request->uid[0])
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, to, "preconditions"), "uid", request->uid);
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
