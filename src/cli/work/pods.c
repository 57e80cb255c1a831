/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/pods.h"

#include <string.h>

#include "kube/client/meta.h"
#include "objects/keys.h"

static bool is_pod_of(yyjson_val *pod, const struct workload_row *row)
{
    yyjson_val *references = yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "ownerReferences");
    const char *group = kube_text(pod, "metadata", "annotations", KEY_POD_GROUP);

    return strcmp(kube_text(pod, "metadata", "namespace"), row->namespace) == 0 &&
           ((*group && strcmp(group, row->pod_group) == 0) ||
            (*row->uid && strcmp(kube_text(yyjson_arr_get_first(references), "uid"), row->uid) == 0));
}

void workload_pods(const struct workload_set *set, const struct workload_row *row, struct view_list *ret)
{
    vec_foreach (&set->view.objects.of[VIEW_PODS], pod) {
        if (is_pod_of(*pod, row))
            vec_push(ret, *pod);
    }
}
