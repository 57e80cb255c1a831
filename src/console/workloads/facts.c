/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/facts.h"

#include <string.h>

#include "kube/client/meta.h"

static bool has_condition(yyjson_val *object, const char *type, const char *status)
{
    yyjson_val *condition;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_ptr_get(object, "/status/conditions"), &iter);
    while ((condition = yyjson_arr_iter_next(&iter))) {
        if (strcmp(kube_text(condition, "type"), type) == 0 && strcmp(kube_text(condition, "status"), status) == 0)
            return true;
    }
    return false;
}

void facts_of_job(yyjson_val *job, struct workload_facts *ret_facts)
{
    *ret_facts = (struct workload_facts){
        .has_object = true,
        .is_suspended = yyjson_get_bool(yyjson_ptr_get(job, "/spec/suspend")),
        .has_completed = has_condition(job, "Complete", "True"),
        .has_failed = has_condition(job, "Failed", "True"),
    };
}

static int64_t count_at(yyjson_val *object, const char *pointer)
{
    return yyjson_get_sint(yyjson_ptr_get(object, pointer));
}

/* Until its controller has seen a new spec, the counts are those of the old one. */
void facts_of_deployment(yyjson_val *deployment, struct workload_facts *ret_facts)
{
    int64_t pods = count_at(deployment, "/status/replicas");
    bool is_seen = count_at(deployment, "/status/observedGeneration") >= count_at(deployment, "/metadata/generation");

    *ret_facts = (struct workload_facts){
        .has_object = true,
        .is_updating = pods > 0 && (!is_seen || pods > count_at(deployment, "/status/updatedReplicas")),
        .is_degraded = is_seen && has_condition(deployment, "Progressing", "False"),
    };
}

/* All have to be stopped, or to have completed, where there is no head; one that fails is enough. */
void facts_add(struct workload_facts *facts, const struct workload_facts *more, bool is_head)
{
    bool is_first = !facts->has_object;

    facts->is_suspended = more->is_suspended && (is_first || facts->is_suspended);
    facts->has_completed = is_head || facts->has_head ? (is_head ? more->has_completed : facts->has_completed)
                                                      : more->has_completed && (is_first || facts->has_completed);
    facts->has_object = true;
    facts->has_head = facts->has_head || is_head;
    facts->is_updating = facts->is_updating || more->is_updating;
    facts->is_degraded = facts->is_degraded || more->is_degraded;
    facts->has_failed = facts->has_failed || more->has_failed;
}
