/* SPDX-License-Identifier: Apache-2.0 */

/* Which pod has which GPUs. What a pod has is in its plan, so that the next agent knows it as well. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/node_internal.h"
#include "local/server/files.h"
#include "local/shim/shim.h"
#include "objects/keys.h"
#include "text/json.h"
#include "text/quantity.h"

enum { PLAN_BYTES_MAX = 32 << 20, GPUS_MAX = 1024 };

static int64_t count_of(yyjson_val *container)
{
    int64_t count = 0;

    if (quantity_parse(kube_text(container, "resources", "limits", "nvidia.com/gpu"), QUANTITY_ONE, &count, NULL) < 0)
        return 0;
    return MIN(count, GPUS_MAX);
}

int64_t gpus_wanted(yyjson_val *pod)
{
    int64_t sum = 0, most = 0;
    size_t i, max;
    yyjson_val *container;

    yyjson_arr_foreach(value_at(pod, "spec", "containers"), i, max, container)
    {
        sum += count_of(container);
    }
    yyjson_arr_foreach(value_at(pod, "spec", "initContainers"), i, max, container)
    {
        most = MAX(most, count_of(container));
    }
    return MAX(sum, most);
}

static bool is_taken(const struct node *node, const char *uuid)
{
    const struct node_pod *pod;

    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor));) {
        vec_foreach (&pod->gpus, gpu) {
            if (strcmp(*gpu, uuid) == 0)
                return true;
        }
    }
    return false;
}

int gpus_take(struct node_pod *pod, int64_t count, struct err *err)
{
    vec_foreach (&pod->node->machine.gpus, gpu) {
        if ((int64_t)pod->gpus.len >= count)
            break;
        if (!is_taken(pod->node, gpu->uuid))
            vec_push(&pod->gpus, xstrdup(gpu->uuid));
    }
    if ((int64_t)pod->gpus.len >= count)
        return 0;
    uint32_t found = pod->gpus.len;
    gpus_release(pod);
    return err_set(err, -EBUSY, "%lld GPUs are needed and %u are free", (long long)count, found);
}

void gpus_restore(struct node_pod *pod)
{
    _cleanup_(freep) char *path = file_path(pod->folder, POD_PLAN);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *reserved = kube_text(yyjson_doc_get_root(pod->object), "metadata", "annotations", KEY_RESERVED_GPU);
    size_t i, max;
    yyjson_val *gpu;

    if (pod->is_reservation && *reserved && pod->gpus.len == 0)
        vec_push(&pod->gpus, xstrdup(reserved));
    if (pod->is_reservation || json_read_file(path, PLAN_BYTES_MAX, &doc, NULL) < 0)
        return;
    yyjson_arr_foreach(value_at(yyjson_doc_get_root(doc), "gpus"), i, max, gpu)
    {
        if (yyjson_is_str(gpu))
            vec_push(&pod->gpus, xstrdup(yyjson_get_str(gpu)));
    }
}

void gpus_release(struct node_pod *pod)
{
    vec_foreach (&pod->gpus, gpu)
        free(*gpu);
    vec_done(&pod->gpus);
}
