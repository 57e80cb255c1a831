/* SPDX-License-Identifier: Apache-2.0 */

/* BindRequests, field by field as KAI writes them: the binder may be KAI's. */
#include "services/scheduler/carry/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/autoscalers.h"
#include "kube/client/meta.h"
#include "model/devices/numa.h"
#include "objects/reader.h"
#include "services/scheduler/carry/placements.h"
#include "text/json.h"

const char *request_resource_type(const struct state *state, pod_id pod)
{
    const struct request *request = state_request(state, pod);

    if (request_is_shared(request))
        return "Fraction";
    return request->kind == REQUEST_MIG ? "MigInstance" : "Regular";
}

/* How many devices, and how much of each. */
static void encode_gpu(yyjson_mut_doc *doc, yyjson_mut_val *spec, const struct pod *pod, const struct request *request)
{
    yyjson_mut_val *gpu = yyjson_mut_obj_add_obj(doc, spec, "receivedGPU");
    int64_t count = request->quota_gpus / GPU_ONE;
    double portion = count > 0 ? 1 : 0;
    char text[32];

    if (request_is_shared(request)) {
        count = MAX(request->devices, 1U);
        portion = request->kind == REQUEST_FRACTION ? request->portion
                                                    : (double)pod->accepted_gpu / (double)GPU_ONE / (double)count;
    }
    (void)snprintf(text, sizeof text, "%.2f", portion);
    (void)yyjson_mut_obj_add_int(doc, gpu, "count", count);
    (void)yyjson_mut_obj_add_strcpy(doc, gpu, "portion", text);
}

static void encode_meta(const struct state *state, const struct object_options *options, yyjson_mut_doc *doc,
                        yyjson_mut_val *root, const struct placement *placement, bool is_lasting)
{
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    const char *name = key_name(state, placement->key);

    (void)yyjson_mut_obj_add_str(doc, meta, "name", name);
    (void)yyjson_mut_obj_add_str(doc, meta, "namespace", key_namespace(state, placement->key));
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, meta, "labels");
    (void)yyjson_mut_obj_add_str(doc, labels, "selected-node", state_name(state, placement->node));
    if (options->has_partition && *options->partition)
        (void)yyjson_mut_obj_add_str(doc, labels, options->node_pool_label, options->partition);
    if (is_lasting)
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "annotations"), KEY_DO_NOT_DISRUPT, "true");
    yyjson_mut_val *owners = yyjson_mut_obj_add_arr(doc, meta, "ownerReferences");
    yyjson_mut_val *owner = yyjson_mut_arr_add_obj(doc, owners);
    (void)yyjson_mut_obj_add_str(doc, owner, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, owner, "kind", "Pod");
    (void)yyjson_mut_obj_add_str(doc, owner, "name", name);
    (void)yyjson_mut_obj_add_str(doc, owner, "uid", state_name(state, placement->pod_uid));
}

yyjson_mut_doc *request_encode(const struct state *state, const struct object_options *options,
                               const struct placement *placement, pod_id id, bool is_lasting)
{
    const struct pod *pod = &state->pods.items[id];
    const struct request *request = state_request(state, id);
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "scheduling.run.ai/v1alpha2");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "BindRequest");
    encode_meta(state, options, doc, root, placement, is_lasting);

    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    (void)yyjson_mut_obj_add_str(doc, spec, "podName", key_name(state, placement->key));
    (void)yyjson_mut_obj_add_str(doc, spec, "selectedNode", state_name(state, placement->node));
    (void)yyjson_mut_obj_add_str(doc, spec, "receivedResourceType", request_resource_type(state, id));
    encode_gpu(doc, spec, pod, request);
    if (placement->group_count > 0) {
        yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, spec, "selectedGPUGroups");
        for (uint32_t i = 0; i < placement->group_count; i++)
            (void)yyjson_mut_arr_add_str(doc, groups, state_name(state, placement->groups[i]));
    }
    if (placement->zones)
        (void)yyjson_mut_obj_add_val(doc, spec, "predictedNUMAZones", yyjson_mut_rawcpy(doc, placement->zones));
    return doc;
}

const char *request_pod_uid(yyjson_val *request)
{
    yyjson_val *owners = yyjson_obj_get(yyjson_obj_get(request, "metadata"), "ownerReferences");
    size_t i, count;
    yyjson_val *owner;

    yyjson_arr_foreach(owners, i, count, owner)
    {
        if (strcmp(kube_text(owner, "kind"), "Pod") == 0)
            return kube_text(owner, "uid");
    }
    return "";
}

bool request_has_failed(yyjson_val *request)
{
    yyjson_val *limit = yyjson_obj_get(yyjson_obj_get(request, "spec"), "backoffLimit");
    yyjson_val *attempts = yyjson_obj_get(yyjson_obj_get(request, "status"), "failedAttempts");

    return strcmp(kube_text(request, "status", "phase"), "Failed") == 0 &&
           (!yyjson_is_int(limit) || yyjson_get_sint(attempts) >= yyjson_get_sint(limit));
}
