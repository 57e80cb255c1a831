/* SPDX-License-Identifier: Apache-2.0 */

/* pods/binding: puts a pod on a node. */
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "local/api/meta.h"
#include "local/api/owner_keys.h"
#include "local/api/problems.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/subresources/subresources_internal.h"
#include "local/verbs/body.h"
#include "local/verbs/write.h"

static const char *text_at(yyjson_mut_doc *doc, const char *part, const char *name)
{
    const char *text =
        yyjson_mut_get_str(yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), part), name));

    return text ? text : "";
}

static yyjson_mut_val *object_in(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *name)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(parent, name);

    if (!yyjson_mut_is_obj(value)) {
        value = yyjson_mut_obj(doc);
        (void)yyjson_mut_obj_put(parent, yyjson_mut_str(doc, name), value);
    }
    return value;
}

/* Annotations and labels of the Binding become the pod's. */
static void copy_notes(yyjson_mut_doc *pod, yyjson_mut_doc *binding, const char *which)
{
    yyjson_mut_val *meta = yyjson_mut_obj_get(yyjson_mut_doc_get_root(binding), "metadata");
    yyjson_mut_val *notes = yyjson_mut_obj_get(meta, which);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(notes);

    if (yyjson_mut_obj_size(notes) == 0)
        return;
    yyjson_mut_val *to = object_in(pod, object_in(pod, yyjson_mut_doc_get_root(pod), "metadata"), which);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        /* A bind does not change whose pod it is. */
        if (yyjson_mut_equals_str(key, KEY_SUBMITTED_BY) || yyjson_mut_equals_str(key, KEY_SUBMITTER_NAME))
            continue;
        (void)yyjson_mut_obj_put(to, yyjson_mut_val_mut_copy(pod, key),
                                 yyjson_mut_val_mut_copy(pod, yyjson_mut_obj_iter_get_val(key)));
    }
}

static void set_scheduled(yyjson_mut_doc *pod)
{
    yyjson_mut_val *status = object_in(pod, yyjson_mut_doc_get_root(pod), "status");
    yyjson_mut_val *conditions = yyjson_mut_obj_get(status, "conditions");
    yyjson_mut_val *condition = yyjson_mut_obj(pod);
    char now[TIME_TEXT_MAX];
    nsec_t time = nsec_now_wall();

    if (!yyjson_mut_is_arr(conditions))
        conditions = yyjson_mut_obj_add_arr(pod, status, "conditions");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(conditions);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(item, "type"), "PodScheduled"))
            (void)yyjson_mut_arr_iter_remove(&iter);
    }
    (void)yyjson_mut_obj_add_str(pod, condition, "type", "PodScheduled");
    (void)yyjson_mut_obj_add_str(pod, condition, "status", "True");
    (void)yyjson_mut_obj_add_null(pod, condition, "lastProbeTime");
    (void)yyjson_mut_obj_add_strcpy(pod, condition, "lastTransitionTime", time_format(time - time % NSEC_PER_SEC, now));
    (void)yyjson_mut_arr_append(conditions, condition);
}

static void bind_pod(struct request *request, yyjson_mut_doc *binding, yyjson_mut_doc *pod)
{
    const char *node = text_at(binding, "target", "name");

    if (meta_has(pod, "deletionTimestamp")) {
        fail_conflict(request, "pod %s is being deleted, cannot be assigned to a host", request->name);
        return;
    }
    if (*text_at(pod, "spec", "nodeName")) {
        fail_conflict(request, "pod %s is already assigned to node \"%s\"", request->name,
                      text_at(pod, "spec", "nodeName"));
        return;
    }
    yyjson_mut_val *spec = object_in(pod, yyjson_mut_doc_get_root(pod), "spec");

    (void)yyjson_mut_obj_put(spec, yyjson_mut_str(pod, "nodeName"), yyjson_mut_strcpy(pod, node));
    copy_notes(pod, binding, "annotations");
    copy_notes(pod, binding, "labels");
    set_scheduled(pod);
    if (request->is_dry_run)
        subresource_written(request, 0, NULL, NULL);
    else
        write_doc(request->server,
                  &(struct write){.kind = request->number, .namespace = request->namespace, .name = request->name}, pod,
                  subresource_written, request);
}

/* Which pod a Binding is for is in its path; a uid and a version in it must be the pod's. */
static bool check_binding(struct request *request, yyjson_mut_doc *binding, yyjson_mut_doc *pod)
{
    const struct field target = field_member(NULL, "target");
    const char *uid = meta_text(binding, "uid");
    const char *version = meta_text(binding, "resourceVersion");

    if (!*text_at(binding, "target", "name")) {
        struct problems problems = {0};
        problem_required(&problems, FIELD(&target, "name"), "");
        fail_invalid_type(request, "", "Binding", request->name, &problems);
        problems_done(&problems);
        return false;
    }
    if (*uid && strcmp(uid, meta_text(pod, "uid")) != 0) {
        fail_conflict(request, "Precondition failed: UID in precondition: %s, UID in object meta: %s", uid,
                      meta_text(pod, "uid"));
        return false;
    }
    if (*version && strcmp(version, meta_text(pod, "resourceVersion")) != 0) {
        fail_modified(request);
        return false;
    }
    return true;
}

void serve_binding(struct request *request)
{
    const struct store_object *latest = write_latest(request);
    yyjson_mut_doc *binding = NULL;

    if (request->verb != VERB_CREATE) {
        fail_method(request);
        return;
    }
    if (!body_read(request, &binding))
        return;
    if (strcmp(meta_text(binding, "name"), request->name) != 0) {
        fail_bad(request, "name in URL does not match name in Binding object");
    } else if (!latest) {
        fail_not_found(request);
    } else {
        yyjson_mut_doc *pod = object_doc(latest);
        if (check_binding(request, binding, pod))
            bind_pod(request, binding, pod);
        yyjson_mut_doc_free(pod);
    }
    yyjson_mut_doc_free(binding);
}
