/* SPDX-License-Identifier: Apache-2.0 */

/* The PodGroup, made or changed, and the patch by which its pod knows it. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/client/client.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "services/grouper/merge.h"
#include "services/grouper/reconcile_internal.h"
#include "text/json.h"

/* The pod's patch: the last step. */

static void send_patch(struct reconcile *work);

static void on_patched(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;
    yyjson_val *pod = NULL;

    work->call = NULL;
    if (answer->status == 404) {
        reconcile_finish(work);
        return;
    }
    if (answer->status == 409 && ++work->conflicts < CONFLICTS_MAX) {
        send_patch(work);
        return;
    }
    if (answer->err.code < 0) {
        reconcile_fail(work, &answer->err);
        return;
    }
    meter_add(work->grouper->patched, 1);
    /* What comes back over the watch is what we have just done: nothing new. */
    if (kube_answer_object(answer, &pod, NULL) == 0)
        work->digest = pod_digest_of(pod);
    reconcile_finish(work);
}

static bool says(const char *found, const char *wanted)
{
    return !wanted || (found && strcmp(found, wanted) == 0);
}

static void patch_pod(struct reconcile *work)
{
    const struct group_outcome *outcome = &work->outcome;

    work->group_key = 0;
    meter_add(work->grouper->grouped, 1);
    if (says(object_annotation(work->object, KEY_POD_GROUP), outcome->name) &&
        says(object_label(work->object, KEY_SUBGROUP), outcome->subgroup))
        reconcile_finish(work);
    else
        send_patch(work);
}

static void send_patch(struct reconcile *work)
{
    const struct group_outcome *outcome = &work->outcome;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *meta;

    meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    /* Another pod of that name is not ours to change. */
    (void)yyjson_mut_obj_add_str(doc, meta, "uid", work->object->uid);
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "annotations"), KEY_POD_GROUP, outcome->name);
    if (outcome->subgroup)
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "labels"), KEY_SUBGROUP, outcome->subgroup);
    work->call = kube_send_doc(work->grouper->service->client,
                               &(struct kube_request){
                                   .verb = KUBE_PATCH_MERGE,
                                   .resource = kube_known(KUBE_PODS),
                                   .namespace = work->object->namespace,
                                   .name = work->object->name,
                                   .is_repeatable = true,
                                   .on_done = on_patched,
                                   .arg = work,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
}

/* The group. */

static void group_is_written(struct reconcile *work, const struct kube_answer *answer)
{
    yyjson_val *object = NULL;

    if (kube_answer_object(answer, &object, NULL) == 0)
        known_check_group(&work->grouper->known, work->object->namespace, work->outcome.name, object, work->wanted);
    patch_pod(work);
}

static void read_group(struct reconcile *work);

/* What is wrong with the group is wrong with what it was made of: that is what somebody can change. */
static void refused(struct reconcile *work, const struct kube_answer *answer)
{
    const struct object *top = work->owner_count ? work->owners[work->owner_count - 1].object : work->object;
    struct err err = answer->err;

    if (answer->status == 422)
        (void)err_wrap(&err, err.code, "the PodGroup of %s %s was rejected", top->kind->kind, top->name);
    reconcile_fail(work, &err);
}

static void on_updated(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;

    work->call = NULL;
    if (answer->status == 409 && ++work->conflicts < CONFLICTS_MAX) {
        read_group(work);
        return;
    }
    if (answer->err.code < 0) {
        refused(work, answer);
        return;
    }
    meter_add(work->grouper->updated, 1);
    group_is_written(work, answer);
}

static void on_read(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;
    struct merge_keys keys = {work->grouper->options.queue_label, work->grouper->options.node_pool_label};
    yyjson_val *object = NULL;
    yyjson_mut_doc *doc;

    work->call = NULL;
    if (answer->status == 404) {
        /* Gone since we saw it: it is made anew. */
        known_drop_group(&work->grouper->known, work->object->namespace, work->outcome.name);
        work->group_key = 0;
        if (++work->conflicts < CONFLICTS_MAX)
            reconcile_go_on(work);
        else
            reconcile_fail(work, &answer->err);
        return;
    }
    if (answer->err.code < 0 || kube_answer_object(answer, &object, &work->err) < 0) {
        reconcile_fail(work, answer->err.code < 0 ? &answer->err : &work->err);
        return;
    }
    doc = kube_copy(object);
    if (!doc || !merge_group(doc, yyjson_mut_doc_get_root(doc), work->outcome.pod_group, &keys)) {
        yyjson_mut_doc_free(doc);
        group_is_written(work, answer);
        return;
    }
    work->call = kube_send_doc(work->grouper->service->client,
                               &(struct kube_request){
                                   .verb = KUBE_UPDATE,
                                   .resource = kube_known(KUBE_POD_GROUPS),
                                   .namespace = work->object->namespace,
                                   .name = work->outcome.name,
                                   .on_done = on_updated,
                                   .arg = work,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
}

static void read_group(struct reconcile *work)
{
    work->call = kube_send(work->grouper->service->client, &(struct kube_request){
                                                               .verb = KUBE_GET,
                                                               .resource = kube_known(KUBE_POD_GROUPS),
                                                               .namespace = work->object->namespace,
                                                               .name = work->outcome.name,
                                                               .on_done = on_read,
                                                               .arg = work,
                                                           });
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;

    work->call = NULL;
    if (answer->status == 409) {
        read_group(work);
        return;
    }
    if (answer->err.code < 0) {
        refused(work, answer);
        return;
    }
    meter_add(work->grouper->created, 1);
    group_is_written(work, answer);
}

static void create_group(struct reconcile *work)
{
    size_t len = 0;
    char *text = yyjson_val_write(work->outcome.pod_group, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    work->call = kube_send(work->grouper->service->client, &(struct kube_request){
                                                               .verb = KUBE_CREATE,
                                                               .resource = kube_known(KUBE_POD_GROUPS),
                                                               .namespace = work->object->namespace,
                                                               .body = text,
                                                               .body_len = len,
                                                               .is_repeatable = true,
                                                               .on_done = on_created,
                                                               .arg = work,
                                                           });
    free(text);
}

void reconcile_write_group(struct reconcile *work)
{
    struct grouper *grouper = work->grouper;
    const char *namespace = work->object->namespace;
    size_t len = 0;
    char *text = yyjson_val_write(work->outcome.pod_group, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    work->wanted = hash_bytes(text, len, 0) | 1;
    free(text);
    if (known_is_checked(&grouper->known, namespace, work->outcome.name, work->wanted)) {
        patch_pod(work);
        return;
    }
    uint64_t key = known_key(namespace, work->outcome.name);
    if (grouper_is_writing(grouper, work, key)) {
        vec_push(&grouper->parked, work);
        return;
    }
    work->group_key = key;
    if (known_group(&grouper->known, namespace, work->outcome.name))
        read_group(work);
    else
        create_group(work);
}

void reconcile_resume(struct reconcile *work)
{
    reconcile_write_group(work);
}
