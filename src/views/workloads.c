/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Jobs come first, since they say most about themselves. A PodGroup belongs to the object that its owner reference names,
 * which makes a row of its own where it is no known Job. Pods follow their group.
 */
#include "views/workloads.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "views/workloads_internal.h"

struct joining {
    struct arena *arena;
    struct strmap by_uid;    // of the object that the user wrote
    struct strmap by_group;  // namespace and name of a PodGroup
    VEC(struct joined *) all;
};

nsec_t view_time(const char *text)
{
    nsec_t time = 0;

    return *text && time_parse(text, &time, NULL) == 0 ? time : 0;
}

static struct joined *add(struct joining *joining, const char *uid)
{
    struct joined *joined = ARENA_NEW(joining->arena, struct joined);

    joined->row.uid = uid;
    vec_push(&joining->all, joined);
    if (*uid)
        (void)strmap_put(&joining->by_uid, "", uid, joined);
    return joined;
}

static yyjson_val *controller_of(yyjson_val *object)
{
    yyjson_val *references = yyjson_obj_get(yyjson_obj_get(object, "metadata"), "ownerReferences");
    yyjson_val *reference;
    size_t i, count;

    yyjson_arr_foreach(references, i, count, reference)
    {
        if (yyjson_is_true(yyjson_obj_get(reference, "controller")))
            return reference;
    }
    return NULL;
}

/* The Jobs of a CronJob are workloads by themselves; those of other owners are parts of one. */
static bool is_workload(yyjson_val *job)
{
    yyjson_val *above = controller_of(job);
    bool is_ours = strcmp(kube_text(job, "spec", "template", "spec", "schedulerName"), KEY_SCHEDULER_NAME) == 0;

    return is_ours && (!above || strcmp(kube_text(above, "kind"), "CronJob") == 0);
}

static int64_t job_pods(yyjson_val *job)
{
    yyjson_val *spec = yyjson_obj_get(job, "spec");
    yyjson_val *at_once = yyjson_obj_get(spec, "parallelism");
    int64_t count = yyjson_is_int(at_once) ? yyjson_get_sint(at_once) : 1;
    yyjson_val *in_all = yyjson_obj_get(spec, "completions");

    if (yyjson_is_int(in_all))
        count = MIN(count, yyjson_get_sint(in_all));
    return CLAMP(count, (int64_t)0, (int64_t)1 << 20);
}

static void read_labels(struct workload_row *row, yyjson_val *object)
{
    row->user = kube_text(object, "metadata", "labels", KEY_SUBMIT_USER);
    if (!*row->user)
        row->user = kube_text(object, "metadata", "labels", KEY_USER);
    row->job_id = kube_text(object, "metadata", "labels", KEY_JOB_ID);
    row->array_id = kube_text(object, "metadata", "labels", KEY_ARRAY_ID);
    row->array_index = kube_text(object, "metadata", "labels", KEY_ARRAY_INDEX);
    row->job_name = kube_text(object, "metadata", "annotations", KEY_SUBMIT_NAME);
    if (!*row->job_name)
        row->job_name = row->name;
}

static void add_job(struct joining *joining, yyjson_val *job)
{
    struct joined *joined = add(joining, kube_text(job, "metadata", "uid"));
    struct workload_row *row = &joined->row;
    yyjson_val *template = yyjson_obj_get(yyjson_obj_get(job, "spec"), "template");
    struct asked each = asked_read(template);

    row->job = job;
    row->kind = "Job";
    row->api_version = "batch/v1";
    row->namespace = kube_text(job, "metadata", "namespace");
    row->name = kube_text(job, "metadata", "name");
    row->queue = kube_text(job, "metadata", "labels", KEY_QUEUE);
    if (!*row->queue)
        row->queue = kube_text(template, "metadata", "labels", KEY_QUEUE);
    row->priority_class = kube_text(job, "metadata", "labels", KEY_PRIORITY_CLASS);
    if (!*row->priority_class)
        row->priority_class = kube_text(template, "spec", "priorityClassName");
    row->created = view_time(kube_text(job, "metadata", "creationTimestamp"));
    row->pods = job_pods(job);
    asked_add(&row->asked, &each, row->pods);
    read_labels(row, job);
}

/* The row of the owner of a PodGroup, or of the PodGroup; NULL: there is nothing to show. */
static struct joined *add_owner(struct joining *joining, yyjson_val *group)
{
    yyjson_val *references = yyjson_obj_get(yyjson_obj_get(group, "metadata"), "ownerReferences");
    yyjson_val *owner = yyjson_arr_get_first(references);
    struct joined *joined = NULL;

    if (owner)
        joined = strmap_get(&joining->by_uid, "", kube_text(owner, "uid"));
    /* The group of a Job that has been deleted lives a moment longer. */
    if (joined || (owner && strcmp(kube_text(owner, "apiVersion"), "batch/v1") == 0 &&
                   strcmp(kube_text(owner, "kind"), "Job") == 0))
        return joined;
    joined = add(joining, owner ? kube_text(owner, "uid") : kube_text(group, "metadata", "uid"));
    joined->row.kind = owner ? kube_text(owner, "kind") : "PodGroup";
    joined->row.api_version = owner ? kube_text(owner, "apiVersion") : kube_text(group, "apiVersion");
    joined->row.namespace = kube_text(group, "metadata", "namespace");
    joined->row.name = owner ? kube_text(owner, "name") : kube_text(group, "metadata", "name");
    joined->row.queue = "";
    joined->row.priority_class = "";
    joined->row.created = view_time(kube_text(group, "metadata", "creationTimestamp"));
    read_labels(&joined->row, group);
    return joined;
}

static void add_group(struct joining *joining, yyjson_val *group)
{
    const char *namespace = kube_text(group, "metadata", "namespace");
    const char *name = kube_text(group, "metadata", "name");

    if (strcmp(namespace, KEY_RESERVATION_NAMESPACE) == 0)
        return;
    struct joined *joined = add_owner(joining, group);
    if (!joined)
        return;
    (void)strmap_put(&joining->by_group, namespace, name, joined);
    if (!joined->group) {
        joined->group = group;
        joined->row.pod_group = name;
    }
    if (!*joined->row.queue)
        joined->row.queue = kube_text(group, "spec", "queue");
    if (!*joined->row.priority_class)
        joined->row.priority_class = kube_text(group, "spec", "priorityClassName");
}

static struct joined *workload_of(struct joining *joining, yyjson_val *pod)
{
    const char *group = kube_text(pod, "metadata", "annotations", KEY_POD_GROUP);
    yyjson_val *owner = controller_of(pod);
    struct joined *found = NULL;

    if (*group)
        found = strmap_get(&joining->by_group, kube_text(pod, "metadata", "namespace"), group);
    return found || !owner ? found : strmap_get(&joining->by_uid, "", kube_text(owner, "uid"));
}

static int by_age(const void *a, const void *b)
{
    const struct workload_row *one = &(*(struct joined *const *)a)->row;
    const struct workload_row *other = &(*(struct joined *const *)b)->row;
    int order = (one->created > other->created) - (one->created < other->created);

    if (order == 0)
        order = strcmp(one->namespace, other->namespace);
    return order ? order : strcmp(one->name, other->name);
}

/* Kinds other than Jobs say by their pods how large they are. */
static void finish(struct joining *joining, struct joined *joined)
{
    struct workload_row *row = &joined->row;

    if (!row->job) {
        row->pods = joined->pod_count;
        row->asked = joined->of_pods;
    }
    if (!row->pod_group)
        row->pod_group = "";
    row->node_count = joined->nodes.len;
    row->nodes = arena_calloc(joining->arena, joined->nodes.len + 1, sizeof *row->nodes);
    for (uint32_t i = 0; i < joined->nodes.len; i++)
        row->nodes[i] = joined->nodes.items[i];
    vec_done(&joined->nodes);
    joined_judge(joined, joining->arena);
}

void workload_rows_make(const struct view_objects *objects, struct arena *arena, struct workload_rows *ret)
{
    struct joining joining = {.arena = arena};

    vec_foreach (&objects->of[VIEW_JOBS], job) {
        if (is_workload(*job))
            add_job(&joining, *job);
    }
    vec_foreach (&objects->of[VIEW_POD_GROUPS], group)
        add_group(&joining, *group);
    vec_foreach (&objects->of[VIEW_PODS], pod) {
        struct joined *joined = workload_of(&joining, *pod);

        if (joined)
            joined_add_pod(joined, *pod);
    }
    if (joining.all.len > 0)
        qsort(joining.all.items, joining.all.len, sizeof *joining.all.items, by_age);
    vec_foreach (&joining.all, joined) {
        finish(&joining, *joined);
        vec_push(ret, (*joined)->row);
    }
    vec_done(&joining.all);
    strmap_done(&joining.by_uid);
    strmap_done(&joining.by_group);
}
