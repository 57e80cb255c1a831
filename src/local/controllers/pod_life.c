/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/pod_life.h"

#include <stdlib.h>

#include "base/macros.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"

static void read_containers(yyjson_val *statuses, struct pod_life *facts)
{
    size_t i, max;
    yyjson_val *status;

    yyjson_arr_foreach(statuses, i, max, status)
    {
        facts->restarts += (int32_t)number_at(status, 0, "restartCount");
        facts->finished = MAX(facts->finished, time_at(status, "state", "terminated", "finishedAt"));
    }
}

void pod_life_read(yyjson_val *pod, struct pod_life *ret_facts)
{
    const char *phase = kube_text(pod, "status", "phase");
    yyjson_val *ready = condition_of(pod, "Ready");

    *ret_facts = (struct pod_life){
        .is_pending = phase[0] == '\0' || phase[0] == 'P',
        .is_succeeded = phase[0] == 'S',
        .is_failed = phase[0] == 'F',
        .is_ready = yyjson_equals_str(yyjson_obj_get(ready, "status"), "True"),
        .has_node = kube_text(pod, "spec", "nodeName")[0],
        .is_tracked = array_has(value_at(pod, "metadata", "finalizers"), JOB_FINALIZER),
        .deletion_cost = (int32_t)strtol(
            kube_text(pod, "metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"), NULL, 10),
    };
    if (ret_facts->is_ready)
        ret_facts->ready_since = time_at(ready, "lastTransitionTime");
    read_containers(value_at(pod, "status", "initContainerStatuses"), ret_facts);
    read_containers(value_at(pod, "status", "containerStatuses"), ret_facts);
}

bool pod_is_available(const struct pod_life *facts, nsec_t min_ready, nsec_t now, nsec_t *ret_due)
{
    *ret_due = facts->is_ready ? facts->ready_since + min_ready : 0;
    return facts->is_ready && (min_ready == 0 || *ret_due <= now);
}
