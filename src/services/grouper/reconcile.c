/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One pod: from its text over its owners and the rules of their kind to a PodGroup that is written and a pod that knows
 * it. Here is where that begins and ends, and the way from the pod up to its top owner.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/follow/list.h"
#include "objects/keys.h"
#include "services/grouper/reconcile_internal.h"
#include "text/json.h"

uint64_t reconcile_writes(const struct reconcile *work)
{
    return work->group_key;
}

const struct pod_record *reconcile_pod(const struct reconcile *work)
{
    return work->pod;
}

const struct object *reconcile_object(const struct reconcile *work)
{
    return work->object;
}

char *reconcile_take_text(struct reconcile *work)
{
    return TAKE_PTR(work->text);
}

static void reconcile_free(struct reconcile *work)
{
    loop_task_cancel(&work->finisher);
    getter_cancel(work->get);
    values_cancel(work->values);
    yyjson_doc_free(work->answers);
    group_live_done(&work->live);
    if (work->list)
        kube_list_cancel(work->list);
    kube_cancel(work->call);
    for (size_t i = 0; i < work->owner_count; i++)
        got_unref(work->owners[i].got);
    vec_foreach (&work->others, got)
        got_unref(*got);
    vec_done(&work->others);
    vec_foreach (&work->pods, doc)
        yyjson_doc_free(*doc);
    vec_done(&work->pods);
    object_set_done(&work->set);
    yyjson_doc_free(work->doc);
    free(work->text);
    free(work);
}

void reconcile_cancel(struct reconcile *work)
{
    reconcile_free(work);
}

/* Ends it from the loop, so that no caller is left with freed memory. */
static void on_finish(void *arg)
{
    struct reconcile *work = arg;
    struct grouper *grouper = work->grouper;
    struct err err = work->err;

    grouper_done(grouper, work, work->pod, work->digest, err.code < 0 ? &err : NULL);
    reconcile_free(work);
    grouper_unpark(grouper);
}

void reconcile_finish(struct reconcile *work)
{
    work->err.code = 0;
    loop_task_queue(&work->finisher);
}

void reconcile_fail(struct reconcile *work, const struct err *err)
{
    work->err = *err;
    if (work->err.code >= 0)
        work->err.code = -EIO;
    loop_task_queue(&work->finisher);
}

static void walk_up(struct reconcile *work, yyjson_val *from);

/* Whether errors matter to anybody: a pod that leaves takes its owners with it. */
static bool is_leaving(const struct reconcile *work)
{
    return *kube_text(work->object->root.val, "metadata", "deletionTimestamp");
}

static void walk_failed(struct reconcile *work, const struct err *err)
{
    if (is_leaving(work))
        reconcile_finish(work);
    else
        reconcile_fail(work, err);
}

static void on_owner(void *arg, struct got *got, int status, const struct err *err)
{
    struct reconcile *work = arg;
    struct owner *owner = &work->owners[work->owner_count];
    yyjson_val *references;
    struct err wrong;

    work->get = NULL;
    /* What we may not see is not there for us: the last one that we could read is the top. While watches are cut, a server
     * that is starting may refuse what it grants a moment later. */
    if (status == 403 && follow_is_current(work->grouper)) {
        reconcile_go_on(work);
        return;
    }
    if (!got) {
        walk_failed(work, err);
        return;
    }
    owner->got = got;
    owner->object = group_add_owner(&work->set, owner->api_version, owner->kind, got_object(got), true);
    work->owner_count++;
    references = yyjson_obj_get(yyjson_obj_get(got_object(got), "metadata"), "ownerReferences");
    const char *wanted_uid = owner->object->uid;
    yyjson_val *below =
        work->owner_count > 1 ? got_object(work->owners[work->owner_count - 2].got) : work->object->root.val;
    yyjson_val *reference = yyjson_arr_get_first(yyjson_obj_get(yyjson_obj_get(below, "metadata"), "ownerReferences"));
    if (strcmp(kube_text(reference, "uid"), wanted_uid) != 0) {
        (void)err_set(&wrong, -ESTALE, "%s %s was replaced by another object of the same name", owner->kind,
                      owner->object->name);
        walk_failed(work, &wrong);
    } else if (yyjson_arr_size(references) > 1) {
        (void)err_set(&wrong, -EINVAL, "%s %s has more than one owner", owner->kind, owner->object->name);
        walk_failed(work, &wrong);
    } else if (yyjson_arr_size(references) == 1) {
        walk_up(work, got_object(got));
    } else {
        reconcile_go_on(work);
    }
}

/* Reads the first owner of an object. */
static void walk_up(struct reconcile *work, yyjson_val *from)
{
    yyjson_val *reference = yyjson_arr_get_first(yyjson_obj_get(yyjson_obj_get(from, "metadata"), "ownerReferences"));
    struct owner *owner = &work->owners[work->owner_count];

    if (work->owner_count == OWNERS_MAX) {
        reconcile_fail(work, &(struct err){-ELOOP, "the pod has too many levels of owners"});
        return;
    }
    owner->api_version = kube_text(reference, "apiVersion");
    owner->kind = kube_text(reference, "kind");
    work->get = getter_get(work->grouper->getter,
                           &(struct get_request){
                               .api_version = owner->api_version,
                               .kind = owner->kind,
                               .namespace = work->object->namespace,
                               .name = kube_text(reference, "name"),
                               .is_metadata_only = true,
                           },
                           on_owner, work);
}

bool grouper_has_lost_group(const struct grouper *grouper, yyjson_val *pod)
{
    const char *group =
        yyjson_get_str(yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "annotations"), KEY_POD_GROUP));
    const char *name = kube_text(pod, "metadata", "name");
    size_t len = strlen(name);

    return group && strncmp(group, "pg-", 3) == 0 && strncmp(group + 3, name, len) == 0 && group[3 + len] == '-' &&
           strcmp(group + 4 + len, kube_text(pod, "metadata", "uid")) == 0 &&
           !known_group(&grouper->known, kube_text(pod, "metadata", "namespace"), group);
}

void reconcile_start(struct grouper *grouper, struct pod_record *pod)
{
    struct reconcile *work = xcalloc(1, sizeof *work);
    struct err err = {0};
    bool has_owner = pod->stand.has_owner;

    work->grouper = grouper;
    work->pod = pod;
    work->digest = pod->digest;
    work->text = TAKE_PTR(pod->text);
    pod->work = work;
    vec_push(&grouper->running, work);
    loop_task_init(&work->finisher, grouper->service->loop, on_finish, work);
    object_set_init(&work->set, NULL);
    work->live = (struct group_live){
        .has_priority_class = known_has_priority_class,
        .find_group = known_find_group,
        .find_defaults = known_defaults_of,
        .arg = &grouper->known,
        .searches_legacy = grouper->flags->searches_legacy,
        .gangs_knative = grouper->flags->gangs_knative,
        .uses_kartas = grouper->flags->uses_kartas,
    };
    if (json_parse(work->text, pod->text_len, "pod", &work->doc, &err) < 0 ||
        object_set_add(&work->set, yyjson_doc_get_root(work->doc), NULL, &err) < 0) {
        reconcile_fail(work, &err);
        return;
    }
    work->object = work->set.objects.items[0];
    bool has_group = !has_owner && object_annotation(work->object, KEY_POD_GROUP) &&
                     !grouper_has_lost_group(grouper, work->object->root.val);
    if (group_is_to_skip(work->object, NULL, 0) || has_group)
        reconcile_finish(work);
    else if (has_owner)
        walk_up(work, work->object->root.val);
    else
        reconcile_go_on(work);
}
