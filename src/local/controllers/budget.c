/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/budget.h"

#include "base/macros.h"
#include "local/controllers/values.h"

const struct kube_resource *budget_scaled_find(yyjson_val *owner_reference)
{
    static const enum kube_known scaled[] = {KUBE_REPLICA_SETS, KUBE_DEPLOYMENTS, KUBE_STATEFUL_SETS,
                                             KUBE_REPLICATION_CONTROLLERS};

    for (size_t i = 0; i < ARRAY_LEN(scaled); i++) {
        if (yyjson_equals_str(yyjson_obj_get(owner_reference, "kind"), kube_known(scaled[i])->kind))
            return kube_known(scaled[i]);
    }
    return NULL;
}

yyjson_val *budget_controller_of(yyjson_val *object)
{
    yyjson_val *owner;
    size_t i, max;

    yyjson_arr_foreach(value_at(object, "metadata", "ownerReferences"), i, max, owner)
    {
        if (bool_at(owner, "controller"))
            return owner;
    }
    return NULL;
}

bool budget_pod_is_ready(yyjson_val *pod)
{
    return condition_is_true(pod, "Ready");
}

void budget_add_pod(struct budget_sums *sums, yyjson_val *pod)
{
    sums->pods++;
    sums->healthy += budget_pod_is_ready(pod) && !value_at(pod, "metadata", "deletionTimestamp");
}

bool budget_needs_replicas(yyjson_val *budget)
{
    return value_at(budget, "spec", "maxUnavailable") || yyjson_is_str(value_at(budget, "spec", "minAvailable"));
}

struct budget_verdict budget_judge(yyjson_val *budget, const struct budget_sums *sums)
{
    yyjson_val *most = value_at(budget, "spec", "maxUnavailable");
    yyjson_val *least = value_at(budget, "spec", "minAvailable");
    struct budget_verdict verdict = {0};

    if (budget_needs_replicas(budget)) {
        verdict.expected = sums->replicas;
        verdict.desired = most ? MAX(sums->replicas - scaled_of(most, 0, sums->replicas, true), 0)
                               : scaled_of(least, 0, sums->replicas, true);
    } else if (least) {
        verdict.expected = sums->pods;
        verdict.desired = number_of(least, 0);
    }
    if (verdict.expected > 0 && !(budget_needs_replicas(budget) && sums->is_unscalable))
        verdict.allowed = MAX(sums->healthy - verdict.desired, 0);
    return verdict;
}
