/* SPDX-License-Identifier: Apache-2.0 */

/* Binds. The server refuses a pod that has a node, and the pod itself says which node that is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/certain.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "text/json.h"

struct kube_bind {
    char *namespace;
    char *pod;
    char *uid;
    char *node;
    kube_repeat_fn may_repeat;
    void (*on_unknown)(void *arg, const struct err *err);
    kube_done_fn on_done;
    void *arg;
    struct kube_certain *certain;
};

static void bind_free(struct kube_bind *bind)
{
    free(bind->namespace);
    free(bind->pod);
    free(bind->uid);
    free(bind->node);
    free(bind);
}

static enum kube_shown judge(void *arg, yyjson_val *pod, struct err *err)
{
    const struct kube_bind *bind = arg;
    const char *node = pod ? kube_text(pod, "spec", "nodeName") : "";
    bool is_other = pod && bind->uid[0] && strcmp(kube_text(pod, "metadata", "uid"), bind->uid) != 0;

    if (!pod || is_other)
        (void)err_set(err, -ENOENT, "bind pods %s/%s: %s", bind->namespace, bind->pod,
                      pod ? "the pod was replaced by another pod of the same name" : "the pod no longer exists");
    else if (!node[0])
        return KUBE_SHOWS_NOT_DONE;
    else if (strcmp(node, bind->node) == 0)
        return KUBE_SHOWS_DONE;
    else
        (void)err_set(err, -EEXIST, "bind pods %s/%s: the pod is already on node %s", bind->namespace, bind->pod, node);
    return KUBE_SHOWS_IMPOSSIBLE;
}

static enum kube_repeat may_repeat(void *arg)
{
    const struct kube_bind *bind = arg;

    return bind->may_repeat(bind->arg);
}

static void on_unknown(void *arg, const struct err *err)
{
    const struct kube_bind *bind = arg;

    if (bind->on_unknown)
        bind->on_unknown(bind->arg, err);
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct kube_bind *bind = arg;

    bind->on_done(bind->arg, answer);
    bind_free(bind);
}

static void add_pairs(yyjson_mut_doc *doc, yyjson_mut_val *meta, const char *key, const char *const *pairs)
{
    if (!pairs || !pairs[0])
        return;
    yyjson_mut_val *added = yyjson_mut_obj_add_obj(doc, meta, key);

    for (; pairs[0]; pairs += 2)
        (void)yyjson_mut_obj_add_str(doc, added, pairs[0], pairs[1]);
}

static yyjson_mut_doc *binding_of(const struct kube_bind *bind, const struct kube_bind_request *request)
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
    add_pairs(doc, meta, "annotations", request->annotations);
    add_pairs(doc, meta, "labels", request->labels);
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
        .namespace = xstrdup(request->namespace),
        .pod = xstrdup(request->pod),
        .uid = xstrdup(request->uid ? request->uid : ""),
        .node = xstrdup(request->node),
        .may_repeat = request->may_repeat,
        .on_unknown = request->on_unknown,
        .on_done = request->on_done,
        .arg = request->arg,
    };
    yyjson_mut_doc *doc = binding_of(bind, request);
    bind->certain = kube_certain_start(client, &(struct kube_certain_request){
                                                   .write =
                                                       {
                                                           .verb = KUBE_CREATE,
                                                           .resource = kube_known(KUBE_PODS),
                                                           .namespace = bind->namespace,
                                                           .name = bind->pod,
                                                           .subresource = "binding",
                                                       },
                                                   .doc = doc,
                                                   .resource = kube_known(KUBE_PODS),
                                                   .namespace = bind->namespace,
                                                   .name = bind->pod,
                                                   .judge = judge,
                                                   .may_repeat = request->may_repeat ? may_repeat : NULL,
                                                   .on_unknown = on_unknown,
                                                   .on_done = on_done,
                                                   .arg = bind,
                                               });
    yyjson_mut_doc_free(doc);
    return bind;
}

void kube_bind_cancel(struct kube_bind *bind)
{
    if (!bind)
        return;
    kube_certain_cancel(bind->certain);
    bind_free(bind);
}

bool kube_bind_is_unsent(const struct kube_bind *bind)
{
    return kube_certain_is_unsent(bind->certain);
}
