/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A bind may be done although its answer got lost. Asking once more does no harm: the server refuses a pod that has a
 * node. Then the pod itself says which node that is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "text/json.h"

struct kube_bind {
    struct kube_client *client;
    char *namespace;
    char *pod;
    char *uid;
    char *node;
    kube_done_fn on_done;
    void *arg;
    struct kube_call *call;
};

static void bind_free(struct kube_bind *bind)
{
    free(bind->namespace);
    free(bind->pod);
    free(bind->uid);
    free(bind->node);
    free(bind);
}

static void finish(struct kube_bind *bind, const struct kube_answer *answer)
{
    bind->on_done(bind->arg, answer);
    bind_free(bind);
}

static void judge(const struct kube_bind *bind, yyjson_val *pod, struct kube_answer *answer)
{
    const char *node = kube_text(pod, "spec", "nodeName");

    if (bind->uid[0] && strcmp(kube_text(pod, "metadata", "uid"), bind->uid) != 0)
        (void)err_set(&answer->err, -ENOENT, "bind pods %s/%s: there is another pod of that name now", bind->namespace,
                      bind->pod);
    else if (!node[0])
        (void)err_set(&answer->err, -EAGAIN, "bind pods %s/%s: the server refused, and the pod has no node",
                      bind->namespace, bind->pod);
    else if (strcmp(node, bind->node) != 0)
        (void)err_set(&answer->err, -EEXIST, "bind pods %s/%s: is on node %s already", bind->namespace, bind->pod,
                      node);
}

static void on_pod(void *arg, const struct kube_answer *answer)
{
    struct kube_bind *bind = arg;
    struct kube_answer verdict = *answer;
    yyjson_val *pod = NULL;

    bind->call = NULL;
    if (answer->err.code == 0 && kube_answer_object(answer, &pod, &verdict.err) == 0)
        judge(bind, pod, &verdict);
    finish(bind, &verdict);
}

static void on_bound(void *arg, const struct kube_answer *answer)
{
    struct kube_bind *bind = arg;
    /* Refused because it has a node, or nobody knows. */
    bool is_unclear =
        kube_answer_is_conflict(answer) || (answer->err.code < 0 && !answer->is_unsent && answer->status / 100 != 4);

    bind->call = NULL;
    if (!is_unclear) {
        finish(bind, answer);
        return;
    }
    bind->call = kube_send(bind->client, &(struct kube_request){
                                             .verb = KUBE_GET,
                                             .resource = kube_known(KUBE_PODS),
                                             .namespace = bind->namespace,
                                             .name = bind->pod,
                                             .on_done = on_pod,
                                             .arg = bind,
                                         });
}

static yyjson_mut_doc *binding_of(const struct kube_bind *bind, const char *const *annotations)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Binding");
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");

    (void)yyjson_mut_obj_add_str(doc, meta, "name", bind->pod);
    (void)yyjson_mut_obj_add_str(doc, meta, "namespace", bind->namespace);
    if (bind->uid[0])
        (void)yyjson_mut_obj_add_str(doc, meta, "uid", bind->uid);
    if (annotations && annotations[0]) {
        yyjson_mut_val *added = yyjson_mut_obj_add_obj(doc, meta, "annotations");

        for (; annotations[0]; annotations += 2)
            (void)yyjson_mut_obj_add_str(doc, added, annotations[0], annotations[1]);
    }
    yyjson_mut_val *target = yyjson_mut_obj_add_obj(doc, root, "target");

    (void)yyjson_mut_obj_add_str(doc, target, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, target, "kind", "Node");
    (void)yyjson_mut_obj_add_str(doc, target, "name", bind->node);
    return doc;
}

struct kube_bind *kube_bind_start(struct kube_client *client, const struct kube_bind_request *request)
{
    struct kube_bind *bind = xcalloc(1, sizeof *bind);

    *bind = (struct kube_bind){
        .client = client,
        .namespace = xstrdup(request->namespace),
        .pod = xstrdup(request->pod),
        .uid = xstrdup(request->uid ? request->uid : ""),
        .node = xstrdup(request->node),
        .on_done = request->on_done,
        .arg = request->arg,
    };
    yyjson_mut_doc *doc = binding_of(bind, request->annotations);

    bind->call = kube_send_doc(client,
                               &(struct kube_request){
                                   .verb = KUBE_CREATE,
                                   .resource = kube_known(KUBE_PODS),
                                   .namespace = request->namespace,
                                   .name = request->pod,
                                   .subresource = "binding",
                                   .is_repeatable = true,
                                   .on_done = on_bound,
                                   .arg = bind,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
    return bind;
}

void kube_bind_cancel(struct kube_bind *bind)
{
    if (!bind)
        return;
    kube_cancel(bind->call);
    bind_free(bind);
}
