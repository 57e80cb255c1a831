/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/pod_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/org/pools.h"
#include "console/rest/context.h"
#include "kube/client/meta.h"
#include "objects/keys.h"

yyjson_doc *json_copy(yyjson_val *value)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, value));
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!copy);
    yyjson_mut_doc_free(doc);
    return copy;
}

/* When a container has started last, and when it has ended. */
static const char *container_time(yyjson_val *pod, const char *name, const char *member)
{
    yyjson_val *status;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_ptr_get(pod, "/status/containerStatuses"), &iter);
    while ((status = yyjson_arr_iter_next(&iter))) {
        if (strcmp(kube_text(status, "name"), name) != 0)
            continue;
        const char *running = kube_text(status, "state", "running", member);
        return *running ? running : kube_text(status, "state", "terminated", member);
    }
    return "";
}

static void put_containers(yyjson_mut_doc *doc, yyjson_val *pod, yyjson_mut_val *row)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, row, "containers");
    const char *finished = "";
    yyjson_val *container;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_ptr_get(pod, "/spec/containers"), &iter);
    while ((container = yyjson_arr_iter_next(&iter))) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        const char *name = kube_text(container, "name");
        const char *started = container_time(pod, name, "startedAt");

        put_text(doc, one, "name", name);
        put_text(doc, one, "image", kube_text(container, "image"));
        if (*started)
            put_text(doc, one, "startedAt", started);
        finished = container_time(pod, name, "finishedAt");
    }
    if (*finished)
        put_text(doc, row, "completedAt", finished);
}

static const char *wait_reason(yyjson_val *pod)
{
    yyjson_val *condition;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_ptr_get(pod, "/status/conditions"), &iter);
    while ((condition = yyjson_arr_iter_next(&iter))) {
        if (strcmp(kube_text(condition, "type"), "PodScheduled") == 0 &&
            strcmp(kube_text(condition, "status"), "False") == 0 && *kube_text(condition, "message"))
            return kube_text(condition, "message");
    }
    return NULL;
}

static void put_given(yyjson_mut_doc *doc, yyjson_mut_val *row, const char *key, const char *text)
{
    if (*text)
        put_text(doc, row, key, text);
}

static yyjson_doc *make_row(const struct pod_state *before, const char *cluster, const char *workload, yyjson_val *pod)
{
    yyjson_mut_val *row;
    yyjson_mut_doc *doc = json_new_object(&row);
    const char *phase = *kube_text(pod, "status", "phase") ? kube_text(pod, "status", "phase") : "Pending";
    const char *pool = kube_text(pod, "metadata", "labels", POOL_LABEL);
    bool is_same = before->row && strcmp(kube_text(yyjson_doc_get_root(before->row), "k8sPhase"), phase) == 0;

    put_text(doc, row, "id", kube_text(pod, "metadata", "uid"));
    put_text(doc, row, "name", kube_text(pod, "metadata", "name"));
    put_text(doc, row, "workloadId", workload);
    put_text(doc, row, "clusterId", cluster);
    put_text(doc, row, "priorityClassName", kube_text(pod, "metadata", "labels", KEY_PRIORITY_CLASS));
    put_text(doc, row, "createdAt", kube_text(pod, "metadata", "creationTimestamp"));
    put_given(doc, row, "nodeName", kube_text(pod, "spec", "nodeName"));
    put_given(doc, row, "ip", kube_text(pod, "status", "podIP"));
    put_text(doc, row, "currentNodePool", *pool ? pool : DEFAULT_POOL);
    put_containers(doc, pod, row);
    put_text(doc, row, "k8sPhase", phase);
    if (is_same)
        put_text(doc, row, "k8sPhaseUpdatedAt", kube_text(yyjson_doc_get_root(before->row), "k8sPhaseUpdatedAt"));
    else
        put_now(doc, row, "k8sPhaseUpdatedAt");
    put_now(doc, row, "updatedAt");
    (void)yyjson_mut_obj_add_int(doc, row, "tenantId", TENANT_ID);
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!copy);
    yyjson_mut_doc_free(doc);
    return copy;
}

/* As its template asks for them: whole ones, or a part of each of several. */
static double gpus_of(yyjson_val *pod)
{
    const char *part = kube_text(pod, "metadata", "annotations", KEY_GPU_FRACTION);
    const char *devices = kube_text(pod, "metadata", "annotations", KEY_GPU_DEVICES);
    double gpus = strtod(part, NULL) * (*devices ? strtod(devices, NULL) : 1);
    yyjson_val *container;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_ptr_get(pod, "/spec/containers"), &iter);
    while ((container = yyjson_arr_iter_next(&iter)))
        gpus += strtod(kube_text(container, "resources", "limits", "nvidia.com/gpu"), NULL);
    return gpus;
}

void pod_state_read(struct pod_state *state, const char *cluster, const char *workload, yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");
    const char *reason = wait_reason(pod);
    struct pod_state now = {
        .has_ended = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0,
        .is_scheduled = *kube_text(pod, "spec", "nodeName") != '\0',
        .is_running = strcmp(phase, "Running") == 0 && !*kube_text(pod, "metadata", "deletionTimestamp"),
        .gpus = gpus_of(pod),
        .reason = reason ? xstrdup(reason) : NULL,
        .row = make_row(state, cluster, workload, pod),
    };

    pod_state_done(state);
    *state = now;
}

void pod_state_done(struct pod_state *state)
{
    free(state->reason);
    yyjson_doc_free(state->row);
    *state = (struct pod_state){0};
}
