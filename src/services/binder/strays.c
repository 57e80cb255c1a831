/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pods that were put into a group and never bound: the binder was killed in between, and the request is gone since. They
 * would keep a GPU for nothing. Only looked for at the start; a binder that lives takes back what it does. Each pod is
 * read and written as one version, so that a bind that came meanwhile is not touched.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/client/modify.h"
#include "kube/client/resource.h"
#include "objects/keys.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/document.h"

struct stray {
    struct binder *binder;
    char *namespace;
    char *name;
    char *uid;
    struct kube_modify *modify;
    struct stray *next;
};

static void stray_free(struct stray *stray)
{
    struct stray **at = &stray->binder->strays;

    while (*at != stray)
        at = &(*at)->next;
    *at = stray->next;
    free(stray->namespace);
    free(stray->name);
    free(stray->uid);
    free(stray);
}

void binder_strays_drop(struct binder *binder)
{
    while (binder->strays) {
        kube_modify_cancel(binder->strays->modify);
        stray_free(binder->strays);
    }
}

/* Takes the pod, if it is that one and has no node, out of its groups. Returns whether it has changed. */
static bool unlabel(yyjson_mut_val *pod, const char *uid)
{
    yyjson_mut_val *meta = yyjson_mut_obj_get(pod, "metadata");
    yyjson_mut_obj_iter iter;
    bool has_changed = false;

    if (document_text(yyjson_mut_obj_get(pod, "spec"), "nodeName")[0] || strcmp(document_text(meta, "uid"), uid) != 0 ||
        !yyjson_mut_obj_iter_init(yyjson_mut_obj_get(meta, "labels"), &iter))
        return false;
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        if (!sharing_is_group_label(yyjson_mut_get_str(key)))
            continue;
        (void)yyjson_mut_obj_iter_remove(&iter);
        has_changed = true;
    }
    return has_changed;
}

static int change(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    const struct stray *stray = arg;

    (void)doc;
    (void)err;
    return unlabel(object, stray->uid);
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct stray *stray = arg;
    struct binder *binder = stray->binder;
    yyjson_val *pod = NULL;

    stray->modify = NULL;
    if (answer->err.code == 0 && kube_answer_object(answer, &pod, NULL) == 0)
        binder_pod_seen(binder, pod);
    else if (answer->status != 404)
        log_warn(binder->log, "the GPU group labels of the pod could not be removed",
                 log_str("namespace", stray->namespace), log_str("pod", stray->name), log_error(&answer->err));
    stray_free(stray);
}

static void stray_add(struct binder *binder, const struct roster_pod *pod)
{
    for (const struct stray *stray = binder->strays; stray; stray = stray->next)
        if (strcmp(stray->uid, pod->uid) == 0)
            return;
    struct stray *stray = xcalloc(1, sizeof *stray);

    *stray = (struct stray){
        .binder = binder,
        .namespace = xstrdup(pod->namespace),
        .name = xstrdup(pod->name),
        .uid = xstrdup(pod->uid),
        .next = binder->strays,
    };
    binder->strays = stray;
    log_info(binder->log, "pod has a GPU group label but was never bound", log_str("namespace", pod->namespace),
             log_str("pod", pod->name));
    stray->modify = kube_modify_start(binder->client, &(struct kube_modify_request){
                                                          .resource = kube_known(KUBE_PODS),
                                                          .namespace = stray->namespace,
                                                          .name = stray->name,
                                                          .change = change,
                                                          .on_done = on_done,
                                                          .arg = stray,
                                                      });
}

void binder_free_strays(struct binder *binder)
{
    struct roster_group *group;

    for (size_t cursor = 0; (group = roster_next_group(&binder->roster, &cursor));) {
        if (binder_wants_group(binder, group->id))
            continue;
        vec_foreach (&group->pods, pod)
            if (!(*pod)->is_reservation && (*pod)->is_ours && !(*pod)->node[0])
                stray_add(binder, *pod);
    }
}
