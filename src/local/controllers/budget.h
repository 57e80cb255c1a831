/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "kube/client/resource.h"

/*
 * What a PodDisruptionBudget allows: the arithmetic that evictions and the status of budgets have in common. Whoever uses it
 * counts the pods that the budget selects, and, where the budget depends on them, the replicas that their controllers want.
 */
struct budget_sums {
    int64_t pods;        // that it selects
    int64_t healthy;     // of these: ready, and not going away
    int64_t replicas;    // that the controllers of the pods want
    bool is_unscalable;  // a controller of the pods has no replicas, as that of a Job
};

void budget_add_pod(struct budget_sums *sums, yyjson_val *pod);
bool budget_pod_is_ready(yyjson_val *pod);

/* Whether the budget depends on `replicas`. */
bool budget_needs_replicas(yyjson_val *budget);

/* The owner reference of an object's controller; NULL when it has none. */
yyjson_val *budget_controller_of(yyjson_val *object);

/* The kind that an owner reference names; NULL when it has no replicas. */
const struct kube_resource *budget_scaled_find(yyjson_val *owner_reference);

struct budget_verdict {
    int64_t expected, desired;  // pods that there should be; healthy ones that there have to be
    int64_t allowed;            // evictions at present
};
struct budget_verdict budget_judge(yyjson_val *budget, const struct budget_sums *sums);
