/* SPDX-License-Identifier: Apache-2.0 */
#include "services/admission/pod_facts.h"

#include <string.h>

#include "kube/client/meta.h"
#include "objects/keys.h"
#include "services/admission/rules.h"
#include "text/quantity.h"

#define GPU_RESOURCE_NAME "nvidia.com/gpu"

const char *const pod_lists[POD_LISTS] = {"initContainers", "containers"};

bool pod_is_ours(const struct admission_rules *rules, yyjson_val *pod)
{
    return strcmp(kube_text(pod, "spec", "schedulerName"), rules->scheduler_name) == 0;
}

const char *pod_annotation(yyjson_val *pod, const char *key)
{
    yyjson_val *annotations = yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "annotations");

    return yyjson_get_str(yyjson_obj_get(annotations, key));
}

bool pod_shares_gpu(yyjson_val *pod)
{
    return pod_annotation(pod, KEY_GPU_FRACTION) || pod_annotation(pod, KEY_GPU_MEMORY);
}

/* Quantities are strings, or numbers where somebody has written them so. One that cannot be read is none: the API
 * server refuses it with a reason of its own. */
static bool is_some(yyjson_val *quantity)
{
    int64_t amount = 0;

    if (yyjson_is_num(quantity))
        return yyjson_get_num(quantity) > 0;
    return yyjson_is_str(quantity) && quantity_parse(yyjson_get_str(quantity), QUANTITY_MILLI, &amount, NULL) == 0 &&
           amount > 0;
}

static bool has_gpu_in(yyjson_val *container, const char *list)
{
    yyjson_val *amounts = yyjson_obj_get(yyjson_obj_get(container, "resources"), list);
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(amounts, i, max, key, value)
    {
        const char *name = yyjson_get_str(key);

        if ((strcmp(name, GPU_RESOURCE_NAME) == 0 || strncmp(name, KEY_MIG_PREFIX, strlen(KEY_MIG_PREFIX)) == 0) &&
            is_some(value))
            return true;
    }
    return false;
}

/* The API server fills in requests from limits; whoever calls without one has not done so. */
bool container_has_gpu(yyjson_val *container)
{
    return has_gpu_in(container, "requests") || has_gpu_in(container, "limits");
}

void deny_container(yyjson_val *pod, struct admission_verdict *verdict)
{
    char shown[ADMISSION_TEXT_MAX];

    admission_deny(
        verdict,
        "failed to get fraction container ref: container with name %s not found for fraction request: no entry "
        "of spec.containers or spec.initContainers has the name in metadata.annotations[\"" KEY_GPU_CONTAINER
        "\"]. Write the name of a container, or remove the annotation for the first one",
        admission_text(kube_text(pod, "metadata", "annotations", KEY_GPU_CONTAINER), shown));
}
