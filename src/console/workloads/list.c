/* SPDX-License-Identifier: Apache-2.0 */

/* All workloads as one list, whatever their kind, and their pods. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/rest/handlers.h"
#include "console/rest/listing.h"
#include "console/workloads/follow.h"
#include "console/workloads/kinds.h"
#include "console/workloads/make/distributed.h"
#include "console/workloads/phase.h"
#include "console/workloads/spec.h"
#include "console/workloads/workloads.h"

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

/* --- one row --- */

static yyjson_mut_val *put_pair(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *request,
                                yyjson_val *limit)
{
    yyjson_mut_val *pair = yyjson_mut_obj_add_obj(doc, to, key);

    if (request)
        (void)yyjson_mut_obj_add_val(doc, pair, "request", yyjson_val_mut_copy(doc, request));
    if (limit)
        (void)yyjson_mut_obj_add_val(doc, pair, "limit", yyjson_val_mut_copy(doc, limit));
    return pair;
}

/* What one pod asks for. */
static void put_pod_ask(yyjson_mut_doc *doc, yyjson_mut_val *row, yyjson_val *compute, const struct gpu_ask *ask)
{
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, row, "podsRequestedResources");

    put_text(doc, to, "gpuRequestType", ask->memory > 0 ? "memory" : "portion");
    yyjson_mut_val *gpu = put_pair(doc, to, "gpu", NULL, NULL);
    (void)yyjson_mut_obj_add_real(doc, gpu, "request", gpu_ask_total(ask));
    if (ask->memory > 0)
        (void)put_pair(doc, to, "gpuMemory", yyjson_obj_get(compute, "gpuMemoryRequest"), NULL);
    (void)put_pair(doc, to, "cpu", yyjson_obj_get(compute, "cpuCoreRequest"), yyjson_obj_get(compute, "cpuCoreLimit"));
    (void)put_pair(doc, to, "cpuMemory", yyjson_obj_get(compute, "cpuMemoryRequest"),
                   yyjson_obj_get(compute, "cpuMemoryLimit"));
}

static double requested_gpus(yyjson_val *item, const struct gpu_ask *ask, int64_t pods)
{
    yyjson_val *master = yyjson_obj_get(item, "masterSpec");
    struct gpu_ask own = {0};

    if (!master)
        return gpu_ask_total(ask) * (double)pods;
    BUG_ON(spec_gpus(yyjson_obj_get(master, "compute"), &own, NULL) < 0);
    return gpu_ask_total(ask) * (double)(pods - 1) + gpu_ask_total(&own);
}

static void put_scale(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *scaling)
{
    static const char *const members[][2] = {{"minReplicas", "min"}, {"maxReplicas", "max"}};

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        yyjson_val *given = yyjson_obj_get(scaling, members[i][0]);

        if (given)
            (void)yyjson_mut_obj_add_sint(doc, to, members[i][1], yyjson_get_sint(given));
    }
}

static void put_pods(yyjson_mut_doc *doc, yyjson_mut_val *row, yyjson_val *item, const struct workload_facts *facts,
                     const struct gpu_ask *ask)
{
    yyjson_mut_val *requested = yyjson_mut_obj_add_obj(doc, row, "requestedPods");
    yyjson_val *spec = yyjson_obj_get(item, "spec");
    yyjson_val *parallelism = yyjson_obj_get(spec, "parallelism");
    yyjson_val *completions = yyjson_obj_get(spec, "completions");
    int64_t number = workload_pod_count(item);
    yyjson_mut_val *asked = yyjson_mut_obj_add_obj(doc, row, "workloadRequestedResources");
    yyjson_mut_val *allocated = yyjson_mut_obj_add_obj(doc, row, "allocatedResources");

    (void)yyjson_mut_obj_add_sint(doc, requested, "number", number);
    put_scale(doc, requested, yyjson_obj_get(spec, "autoscaling"));
    if (parallelism)
        (void)yyjson_mut_obj_add_sint(doc, requested, "parallelism", number);
    if (completions)
        (void)yyjson_mut_obj_add_sint(doc, requested, "completions", yyjson_get_sint(completions));
    (void)yyjson_mut_obj_add_real(doc, yyjson_mut_obj_add_obj(doc, asked, "gpu"), "request",
                                  requested_gpus(item, ask, number));
    (void)yyjson_mut_obj_add_real(doc, allocated, "gpu", facts->gpus);
    (void)yyjson_mut_obj_add_uint(doc, row, "runningPods", facts->running);
}

static void put_pools(yyjson_mut_doc *doc, yyjson_mut_val *row, const char *pool, bool is_there)
{
    yyjson_mut_val *requested = yyjson_mut_obj_add_arr(doc, row, "requestedNodePools");
    yyjson_mut_val *current = yyjson_mut_obj_add_arr(doc, row, "currentNodePools");
    const char *name = *pool ? pool : DEFAULT_POOL;

    (void)yyjson_mut_arr_add_strcpy(doc, requested, name);
    if (is_there)
        (void)yyjson_mut_arr_add_strcpy(doc, current, name);
}

static void put_phase(struct request *request, yyjson_mut_val *row, yyjson_val *item)
{
    yyjson_mut_doc *doc = request->doc;
    const char *id = text_at(item, "/id");
    const char *phase = text_at(item, "/status/phase");
    const char *message = text_at(item, "/status/message");
    yyjson_val *conditions = workload_conditions(request->console->workloads, id);

    put_text(doc, row, "phase", phase);
    put_text(doc, row, "phaseUpdatedAt", text_at(item, "/status/phaseUpdatedAt"));
    put_text(doc, row, "k8sPhase", phase);
    put_text(doc, row, "k8sPhaseUpdatedAt", text_at(item, "/status/phaseUpdatedAt"));
    if (!*message && !phase_is_end(phase))
        message = workload_wait_reason(request->console->workloads, id);
    if (*message)
        put_text(doc, row, "phaseMessage", message);
    if (*text_at(item, "/status/completedAt"))
        put_text(doc, row, "completedAt", text_at(item, "/status/completedAt"));
    (void)yyjson_mut_obj_add_val(doc, row, "conditions",
                                 conditions ? yyjson_val_mut_copy(doc, conditions) : yyjson_mut_arr(doc));
}

static void put_command(yyjson_mut_doc *doc, yyjson_mut_val *row, yyjson_val *spec)
{
    yyjson_mut_val *images = yyjson_mut_obj_add_arr(doc, row, "images");
    yyjson_mut_val *variables = yyjson_mut_obj_add_obj(doc, row, "environmentVariables");
    yyjson_val *variable;
    yyjson_arr_iter iter;

    (void)yyjson_mut_arr_add_strcpy(doc, images, text_at(spec, "/image"));
    if (*text_at(spec, "/command"))
        put_text(doc, row, "command", text_at(spec, "/command"));
    if (*text_at(spec, "/args"))
        put_text(doc, row, "arguments", text_at(spec, "/args"));
    yyjson_arr_iter_init(yyjson_obj_get(spec, "environmentVariables"), &iter);
    while ((variable = yyjson_arr_iter_next(&iter))) {
        if (yyjson_obj_get(variable, "value"))
            (void)yyjson_mut_obj_put(variables, yyjson_mut_strcpy(doc, text_at(variable, "/name")),
                                     yyjson_mut_strcpy(doc, text_at(variable, "/value")));
    }
}

static yyjson_mut_val *render(struct request *request, yyjson_val *item)
{
    static const char *const members[] = {"id",        "name",        "priority",     "priorityClassName",
                                          "projectId", "projectName", "departmentId", "departmentName",
                                          "namespace", "createdAt",   "updatedAt",    "category"};
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *row = yyjson_mut_obj(doc);
    yyjson_val *spec = yyjson_obj_get(item, "spec");
    struct workload_facts facts = workload_facts(request->console->workloads, text_at(item, "/id"));
    bool has_ended = phase_is_end(text_at(item, "/status/phase"));
    const struct workload_kind *kind = workload_kind_find(text_at(item, "/type"));
    struct gpu_ask ask = {0};

    BUG_ON(spec_gpus(yyjson_obj_get(spec, "compute"), &ask, NULL) < 0);
    put_text(doc, row, "type", kind->title);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        (void)yyjson_mut_obj_add_val(doc, row, members[i], copy_item(doc, yyjson_obj_get(item, members[i])));
    if (*text_at(spec, "/distributedFramework"))
        put_text(doc, row, "distributedFramework", text_at(spec, "/distributedFramework"));
    put_text(doc, row, "source", "Control-plane");
    put_text(doc, row, "submittedBy", text_at(item, "/createdBy"));
    put_text(doc, row, "clusterId", request->console->cluster_id);
    (void)yyjson_mut_obj_add_int(doc, row, "tenantId", TENANT_ID);
    (void)yyjson_mut_obj_add_null(doc, row, "deletedAt");
    (void)yyjson_mut_obj_add_bool(doc, row, "preemptible", yyjson_get_bool(yyjson_obj_get(item, "preemptible")));
    put_phase(request, row, item);
    put_pods(doc, row, item, &facts, &ask);
    put_pod_ask(doc, row, yyjson_obj_get(spec, "compute"), &ask);
    put_pools(doc, row, text_at(item, "/nodePool"), facts.scheduled > 0);
    put_command(doc, row, spec);
    yyjson_mut_val *actions = yyjson_mut_obj_add_obj(doc, row, "actionsSupport");
    (void)yyjson_mut_obj_add_bool(doc, actions, "delete", true);
    (void)yyjson_mut_obj_add_bool(doc, actions, "suspend", !has_ended && !kind->is_server);
    return row;
}

/* --- all workloads --- */

static const struct listing_field fields[] = {
    {"type", "/type"},
    {"name", "/name"},
    {"clusterId", "/clusterId"},
    {"projectId", "/projectId"},
    {"projectName", "/projectName"},
    {"departmentId", "/departmentId"},
    {"departmentName", "/departmentName"},
    {"createdAt", "/createdAt"},
    {"submittedBy", "/submittedBy"},
    {"phase", "/phase"},
    {"completedAt", "/completedAt"},
    {"nodepool", "/requestedNodePools/0"},
    {"allocatedGPU", "/allocatedResources/gpu"},
    {"phaseUpdatedAt", "/phaseUpdatedAt"},
    {"category", "/category"},
    {"priority", "/priority"},
    {"priorityClassName", "/priorityClassName"},
    {NULL, NULL},
};
static const struct listing_kind workload_listing = {fields, "/name", 50, 500};

struct row_walk {
    struct request *request;
    struct listing_rows *rows;
};

static int add_row(void *arg, yyjson_val *item)
{
    struct row_walk *walk = arg;

    if (workload_is_listed(&walk->request->caller->access, item))
        vec_push(walk->rows, render(walk->request, item));
    return 0;
}

/* Answers with a list, or with how many there are. */
static int answer_rows(struct request *request, const struct listing_kind *kind, struct listing_rows *rows,
                       const char *name, struct err *err)
{
    int64_t total = 0;
    int64_t next = -1;
    int r = listing_apply(request->exchange, kind, rows, &total, &next, err);

    if (r < 0)
        return r;
    if (!name) {
        answer_count(request, total);
        return 0;
    }
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, name, rows_array(request, rows));
    if (next >= 0)
        (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "next", next);
    return 0;
}

static int answer_workloads(struct request *request, const char *name, struct err *err)
{
    struct listing_rows rows = {0};
    struct row_walk walk = {request, &rows};
    int r = items_each(request->console->db, ITEM_WORKLOAD, NULL, add_row, &walk, err);

    if (r == 0)
        r = answer_rows(request, &workload_listing, &rows, name, err);
    vec_done(&rows);
    return r;
}

static int list_workloads(struct request *request, struct err *err)
{
    return answer_workloads(request, "workloads", err);
}
READS(handle_list_workloads, list_workloads)

static int count_workloads(struct request *request, struct err *err)
{
    return answer_workloads(request, NULL, err);
}
READS(handle_count_workloads, count_workloads)

static int get_workload(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = workload_take(request, ACTION_READ, &doc, err);

    if (r == 0)
        request->answer = render(request, yyjson_doc_get_root(doc));
    return r;
}
READS(handle_get_workload, get_workload)

/* --- pods --- */

static const struct listing_field pod_fields[] = {
    {"clusterId", "/clusterId"},
    {"workloadId", "/workloadId"},
    {"nodeName", "/nodeName"},
    {"currentNodepool", "/currentNodePool"},
    {"createdAt", "/createdAt"},
    {"completedAt", "/completedAt"},
    {NULL, NULL},
};
static const struct listing_kind pod_listing = {pod_fields, "/name", 50, 500};

struct pod_walk {
    struct request *request;
    struct listing_rows *rows;
    yyjson_val *item;
};

static void add_pod(void *arg, yyjson_val *pod)
{
    struct pod_walk *walk = arg;
    yyjson_mut_doc *doc = walk->request->doc;
    yyjson_mut_val *row = copy_item(doc, pod);

    put_text(doc, row, "projectId", text_at(walk->item, "/projectId"));
    put_text(doc, row, "projectName", text_at(walk->item, "/projectName"));
    put_text(doc, row, "workloadName", text_at(walk->item, "/name"));
    vec_push(walk->rows, row);
}

static int add_pods(void *arg, yyjson_val *item)
{
    struct pod_walk *walk = arg;

    walk->item = item;
    if (workload_is_listed(&walk->request->caller->access, item))
        workload_each_pod(walk->request->console->workloads, text_at(item, "/id"), add_pod, walk);
    return 0;
}

static int answer_pods(struct request *request, const char *name, struct err *err)
{
    struct listing_rows rows = {0};
    struct pod_walk walk = {.request = request, .rows = &rows};
    int r = items_each(request->console->db, ITEM_WORKLOAD, NULL, add_pods, &walk, err);

    if (r == 0)
        r = answer_rows(request, &pod_listing, &rows, name, err);
    vec_done(&rows);
    return r;
}

static int list_pods(struct request *request, struct err *err)
{
    return answer_pods(request, "pods", err);
}
READS(handle_list_pods, list_pods)

static int count_pods(struct request *request, struct err *err)
{
    return answer_pods(request, NULL, err);
}
READS(handle_count_pods, count_pods)

static int list_workload_pods(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct listing_rows rows = {0};
    struct pod_walk walk = {.request = request, .rows = &rows};
    int r = workload_take(request, ACTION_READ, &doc, err);

    if (r < 0)
        return r;
    walk.item = yyjson_doc_get_root(doc);
    workload_each_pod(request->console->workloads, request->id, add_pod, &walk);
    r = answer_rows(request, &pod_listing, &rows, "pods", err);
    vec_done(&rows);
    return r;
}
READS(handle_list_workload_pods, list_workload_pods)
