/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/job_policy.h"

#include <stdio.h>
#include <string.h>

#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/workloads/job_indexes.h"

/* How a container ended, as far as a rule asks for it. */
struct ending {
    const char *container;
    int64_t code;
};

static bool has_number(yyjson_val *array, int64_t number)
{
    size_t i, max;
    yyjson_val *item;

    yyjson_arr_foreach(array, i, max, item)
    {
        if (yyjson_get_sint(item) == number)
            return true;
    }
    return false;
}

static bool code_matches(yyjson_val *statuses, yyjson_val *rule, struct ending *ret_ending)
{
    const char *container = kube_text(rule, "containerName");
    bool is_in = strcmp(kube_text(rule, "operator"), "In") == 0;
    size_t i, max;
    yyjson_val *status;

    yyjson_arr_foreach(statuses, i, max, status)
    {
        int64_t code = number_at(status, 0, "state", "terminated", "exitCode");

        /* Success is never a failure that a rule is about. */
        if (code == 0 || (container[0] && strcmp(container, kube_text(status, "name")) != 0))
            continue;
        if (has_number(yyjson_obj_get(rule, "values"), code) == is_in) {
            *ret_ending = (struct ending){kube_text(status, "name"), code};
            return true;
        }
    }
    return false;
}

static const char *condition_matches(yyjson_val *pod, yyjson_val *patterns)
{
    size_t i, max;
    yyjson_val *pattern;

    yyjson_arr_foreach(patterns, i, max, pattern)
    {
        const char *type = kube_text(pattern, "type"), *wanted = kube_text(pattern, "status");
        yyjson_val *condition = condition_of(pod, type);

        if (condition && strcmp(kube_text(condition, "status"), wanted[0] ? wanted : "True") == 0)
            return type;
    }
    return NULL;
}

static enum job_verdict verdict_of(const char *action)
{
    if (strcmp(action, "FailJob") == 0)
        return JOB_FAIL;
    if (strcmp(action, "FailIndex") == 0)
        return JOB_FAIL_INDEX;
    return strcmp(action, "Ignore") == 0 ? JOB_IGNORE : JOB_COUNT;
}

enum job_verdict job_policy_judge(yyjson_val *job, yyjson_val *pod, char *reason, size_t reason_size)
{
    const char *namespace = kube_text(pod, "metadata", "namespace"), *name = kube_text(pod, "metadata", "name");
    size_t i, max;
    yyjson_val *rule;

    yyjson_arr_foreach(value_at(job, "spec", "podFailurePolicy", "rules"), i, max, rule)
    {
        const char *action = kube_text(rule, "action"), *type;
        yyjson_val *codes = yyjson_obj_get(rule, "onExitCodes");
        struct ending ending;

        if (codes && (code_matches(value_at(pod, "status", "containerStatuses"), codes, &ending) ||
                      code_matches(value_at(pod, "status", "initContainerStatuses"), codes, &ending))) {
            (void)snprintf(reason, reason_size,
                           "Container %s for pod %s/%s failed with exit code %lld matching %s rule at index %zu",
                           ending.container, namespace, name, (long long)ending.code, action, i);
            return verdict_of(action);
        }
        if ((type = condition_matches(pod, yyjson_obj_get(rule, "onPodConditions")))) {
            (void)snprintf(reason, reason_size, "Pod %s/%s has condition %s matching %s rule at index %zu", namespace,
                           name, type, action, i);
            return verdict_of(action);
        }
    }
    return JOB_COUNT;
}

/* How many of the wanted indexes are in the set. */
static uint32_t count_common(const struct job_indexes *wanted, const struct job_indexes *set)
{
    uint32_t count = 0;

    vec_foreach (&wanted->ranges, range) {
        for (uint32_t i = range->first; i <= range->last; i++)
            count += job_indexes_has(set, i);
    }
    return count;
}

static bool rule_is_met(yyjson_val *rule, const struct job_indexes *completed, uint32_t completions)
{
    const char *text = kube_text(rule, "succeededIndexes");
    int64_t needed = number_at(rule, -1, "succeededCount");
    struct job_indexes wanted = {0};

    if (!*text)
        return needed >= 0 && job_indexes_len(completed) >= needed;
    job_indexes_parse(&wanted, text, completions);
    uint32_t found = count_common(&wanted, completed);
    bool is_met = needed >= 0 ? found >= needed : found == job_indexes_len(&wanted);
    job_indexes_done(&wanted);
    return is_met;
}

int job_policy_succeeds(yyjson_val *job, const struct job_indexes *completed, uint32_t completions)
{
    size_t i, max;
    yyjson_val *rule;

    yyjson_arr_foreach(value_at(job, "spec", "successPolicy", "rules"), i, max, rule)
    {
        if (rule_is_met(rule, completed, completions))
            return (int)i;
    }
    return -1;
}
