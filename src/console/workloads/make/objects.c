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
#include "console/workloads/expiry.h"
#include "console/workloads/follow.h"
#include "console/workloads/kinds.h"
#include "console/workloads/make/distributed.h"
#include "console/workloads/make/gang.h"
#include "console/workloads/make/inference.h"
#include "console/workloads/make/job.h"
#include "console/workloads/phase.h"
#include "console/workloads/workloads.h"

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

static int want_job(const struct sync_item *item, yyjson_val *root, struct wants *wants, struct err *err)
{
    const struct job_ask ask = {root, text_at(root, "/name"), workload_pod_count(root)};
    yyjson_mut_doc *doc = NULL;
    int r = job_want(item, &ask, wants, &doc, err);

    if (r == 0 && is_distributed(root))
        distributed_encode_job(doc, root, yyjson_mut_doc_get_root(doc));
    return r;
}

static int workload_wants(struct console *console, const struct sync_item *item, struct wants *wants, struct err *err)
{
    static const enum kube_known others[] = {KUBE_DEPLOYMENTS, KUBE_POD_GROUPS, KUBE_CONFIG_MAPS,
                                             KUBE_SECRETS,     KUBE_SERVICES,   _KUBE_KNOWN_MAX};
    yyjson_val *root = yyjson_doc_get_root(item->doc);
    const char *namespace = text_at(root, "/namespace");

    bool is_deleted = strcmp(text_at(root, "/desired"), DESIRED_DELETED) == 0;
    bool is_gang = is_distributed(root) && gang_is_of(root);

    /* Nobody knows its name any more, or how many objects it has. */
    if (!root || (is_deleted && is_gang)) {
        wants->is_listing = true;
        wants->resource = KUBE_JOBS;
        wants->others = others;
        return 0;
    }
    if (is_deleted) {
        (void)wants_add(wants, is_inference(root) ? KUBE_DEPLOYMENTS : KUBE_JOBS, WANT_GONE, namespace,
                        text_at(root, "/name"));
        if (is_distributed(root) || is_inference(root))
            (void)wants_add(wants, KUBE_SERVICES, WANT_GONE, namespace, text_at(root, "/name"));
        return 0;
    }
    /* What has ended does not run again, also when somebody has deleted its Job. */
    if (phase_is_end(text_at(root, "/status/phase"))) {
        expiry_note(console->expiry, root);
        if (is_gang && workload_facts(console->workloads, item->id).pods > 0)
            gang_want_end(root, wants);
        return 0;
    }
    if (!sync_has_namespace(console->sync, namespace, text_at(root, "/projectId")))
        return err_set(err, -EAGAIN, "the namespace '%s' of the project does not exist in the cluster yet", namespace);
    wants->is_ordered = true;
    want_priority(console, root, wants);
    if (is_inference(root))
        return inference_want(item, wants, err);
    if (is_distributed(root))
        distributed_want_service(item, wants);
    if (is_gang)
        return gang_want(item, wants, err);
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
