/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a workload is in the cluster: a Job in the namespace of its project, or a Deployment where it answers requests
 * (inference.c). A Job starts a pod again that was lost, is suspended without being lost itself, and says when it has ended;
 * workspaces are Jobs of one pod as well.
 */
#include <errno.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/sync.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "console/workloads/distributed.h"
#include "console/workloads/follow.h"
#include "console/workloads/inference.h"
#include "console/workloads/kinds.h"
#include "console/workloads/phase.h"
#include "console/workloads/template.h"
#include "console/workloads/workloads.h"

enum { BACKOFF_LIMIT = 6 };

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

static bool is_distributed(yyjson_val *item)
{
    return strcmp(text_at(item, "/type"), WORKLOAD_DISTRIBUTED) == 0;
}

static bool is_inference(yyjson_val *item)
{
    return strcmp(text_at(item, "/type"), WORKLOAD_INFERENCE) == 0;
}

/* The class belongs to the cluster: it is made where it is missing, and nobody's item. */
static void want_priority(struct console *console, yyjson_val *item, struct wants *wants)
{
    static const char kind[] = "priority-class";
    const char *name = text_at(item, "/priorityClassName");
    const struct workload_priority *priority = workload_priority_find(name);
    struct want *want = wants_add(wants, KUBE_PRIORITY_CLASSES, WANT_MADE, NULL, name);

    BUG_ON(!priority);
    yyjson_mut_val *object = want_begin(want, &(struct sync_item){kind, console->cluster_id, NULL}, kind);
    (void)yyjson_mut_obj_add_int(want->doc, object, "value", priority->value);
}

static void put_count(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *spec, int64_t otherwise)
{
    yyjson_val *given = yyjson_obj_get(spec, key);

    (void)yyjson_mut_obj_add_sint(doc, to, key, given ? yyjson_get_sint(given) : otherwise);
}

/* A pod that was evicted is no failure. The API allows this for pods that are never started again in their place. */
static void put_failure_policy(yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
    yyjson_mut_val *rules = yyjson_mut_obj_add_arr(doc, yyjson_mut_obj_add_obj(doc, spec, "podFailurePolicy"), "rules");
    yyjson_mut_val *rule = yyjson_mut_arr_add_obj(doc, rules);

    put_text(doc, rule, "action", "Ignore");
    yyjson_mut_val *pattern = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, rule, "onPodConditions"));
    put_text(doc, pattern, "type", "DisruptionTarget");
    put_text(doc, pattern, "status", "True");
}

/* All but these parts of a Job cannot be changed. */
static yyjson_mut_doc *encode_kept(yyjson_mut_val *job)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    static const char *const members[] = {"suspend", "parallelism"};

    (void)yyjson_mut_obj_add_val(doc, metadata, "labels",
                                 yyjson_mut_val_mut_copy(doc, yyjson_mut_ptr_get(job, "/metadata/labels")));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        (void)yyjson_mut_obj_add_val(
            doc, spec, members[i],
            yyjson_mut_val_mut_copy(doc, yyjson_mut_obj_get(yyjson_mut_obj_get(job, "spec"), members[i])));
    return doc;
}

static int want_job(const struct sync_item *item, yyjson_val *root, struct wants *wants, struct err *err)
{
    yyjson_val *given = yyjson_obj_get(root, "spec");
    bool is_stopped = strcmp(text_at(root, "/desired"), DESIRED_STOPPED) == 0;
    bool restarts = strcmp(text_at(given, "/restartPolicy"), "OnFailure") == 0;
    struct want *want = wants_add(wants, KUBE_JOBS, WANT_SAME, text_at(root, "/namespace"), text_at(root, "/name"));
    yyjson_mut_val *job = want_begin(want, item, ITEM_WORKLOAD);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, job, "spec");

    template_labels(want->doc, root, yyjson_mut_ptr_get(job, "/metadata/labels"));
    put_count(want->doc, spec, "completions", given, workload_pod_count(root));
    put_count(want->doc, spec, "parallelism", given, workload_pod_count(root));
    put_count(want->doc, spec, "backoffLimit", given, BACKOFF_LIMIT);
    (void)yyjson_mut_obj_add_bool(want->doc, spec, "suspend", is_stopped);
    if (!restarts)
        put_failure_policy(want->doc, spec);
    want->kept = encode_kept(job);
    int r = template_encode(want->doc, root, yyjson_mut_obj_add_obj(want->doc, spec, "template"), err);
    if (r == 0 && is_distributed(root))
        distributed_encode_job(want->doc, root, job);
    return r;
}

static int workload_wants(struct console *console, const struct sync_item *item, struct wants *wants, struct err *err)
{
    static const enum kube_known others[] = {KUBE_DEPLOYMENTS, KUBE_SERVICES, _KUBE_KNOWN_MAX};
    yyjson_val *root = yyjson_doc_get_root(item->doc);
    const char *namespace = text_at(root, "/namespace");

    /* Nobody knows its name any more. */
    if (!root) {
        wants->is_listing = true;
        wants->resource = KUBE_JOBS;
        wants->others = others;
        return 0;
    }
    if (strcmp(text_at(root, "/desired"), DESIRED_DELETED) == 0) {
        (void)wants_add(wants, is_inference(root) ? KUBE_DEPLOYMENTS : KUBE_JOBS, WANT_GONE, namespace,
                        text_at(root, "/name"));
        if (is_distributed(root) || is_inference(root))
            (void)wants_add(wants, KUBE_SERVICES, WANT_GONE, namespace, text_at(root, "/name"));
        return 0;
    }
    /* What has ended does not run again, also when somebody has deleted its Job. */
    if (phase_is_end(text_at(root, "/status/phase")))
        return 0;
    if (!sync_has_namespace(console->sync, namespace, text_at(root, "/projectId")))
        return err_set(err, -EAGAIN, "the namespace '%s' of the project does not exist in the cluster yet", namespace);
    wants->is_ordered = true;
    want_priority(console, root, wants);
    if (is_inference(root))
        return inference_want(item, wants, err);
    if (is_distributed(root))
        distributed_want_service(item, wants);
    return want_job(item, root, wants, err);
}

static int workload_end(struct console *console, const struct sync_item *item, const struct wants *wants,
                        const char *problem, struct err *err)
{
    int r;

    (void)wants;
    if (!item->doc)
        return 0;
    if (strcmp(text_at(yyjson_doc_get_root(item->doc), "/desired"), DESIRED_DELETED) != 0 || *problem)
        return workload_note(console, item->id, problem, err);
    r = item_delete(console->db, ITEM_WORKLOAD, item->id, err);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return workload_note_change(console, yyjson_doc_get_root(item->doc), "delete", err);
}

const struct sync_kind workload_sync_kind = {.fill = workload_wants, .end = workload_end};
