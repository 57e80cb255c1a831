/* SPDX-License-Identifier: Apache-2.0 */

/* How many pods the components of a workload stand for, and which of them a pod is one of. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/karta_internal.h"

int karta_is_pod_of(const struct karta *karta, const struct karta_component *component, struct err *err)
{
    bool is_presence;
    const char *expression = karta_selector(karta, component, &is_presence);
    size_t i, max;
    yyjson_val *results, *result;

    if (!expression)
        return 0;
    TRY(karta_results(karta, expression, OF_POD, &results, err));
    yyjson_arr_foreach(results, i, max, result)
    {
        if (is_presence ? !yyjson_is_null(result) : yyjson_is_true(result))
            return 1;
    }
    return 0;
}

int karta_instances(const struct karta *karta, const struct karta_component *component, yyjson_val **ret_ids,
                    struct err *err)
{
    const char *path = yyjson_get_str(yyjson_obj_get(component->val, "instanceIdPath"));
    size_t i, max;
    yyjson_val *id;

    *ret_ids = NULL;
    if (!path)
        return 0;
    TRY(karta_results(karta, path, OF_OWNER, ret_ids, err));
    yyjson_arr_foreach(*ret_ids, i, max, id)
    {
        if (!yyjson_is_str(id) || yyjson_equals_str(id, ""))
            return err_set(err, -EINVAL, "component %s: '%s' returns an ID that is empty or not text", component->name,
                           path);
    }
    return 0;
}

/* The results of one of the paths of a scale: NULL where there is no such path. */
static int replicas_at(const struct karta *karta, const struct karta_component *component, const char *key,
                       yyjson_val **ret_results, struct err *err)
{
    yyjson_val *scale = yyjson_obj_get(component->val, "scaleDefinition");
    const char *path = yyjson_get_str(yyjson_obj_get(scale, key));
    size_t i, max;
    yyjson_val *result;

    *ret_results = NULL;
    if (!path)
        return 0;
    TRY(karta_results(karta, path, OF_OWNER, ret_results, err));
    yyjson_arr_foreach(*ret_results, i, max, result)
    {
        int64_t value;

        if (!yyjson_is_null(result) &&
            json_int64(&(struct json_at){.val = result}, INT32_MIN, INT32_MAX, &value, NULL) < 0)
            return err_set(err, -EINVAL, "component %s: '%s' returns a value that is not a whole number",
                           component->name, path);
    }
    return 0;
}

static int64_t number_at(yyjson_val *results, size_t index)
{
    int64_t value = 0;

    if (json_int64(&(struct json_at){.val = yyjson_arr_get(results, index)}, 0, INT32_MAX, &value, NULL) < 0)
        return 0;
    return value;
}

/* Whether an ID is told again later: the last word on an instance counts. */
static bool is_told_again(yyjson_val *ids, size_t index)
{
    for (size_t i = index + 1; i < yyjson_arr_size(ids); i++) {
        if (yyjson_equals(yyjson_arr_get(ids, i), yyjson_arr_get(ids, index)))
            return true;
    }
    return false;
}

/* Pods of the component alone; 0 where it does not say. */
static int own_scale(const struct karta *karta, const struct karta_component *component, const char *instance,
                     int64_t *ret_scale, struct err *err)
{
    yyjson_val *ids, *replicas, *least, *most;
    bool is_found = false;

    *ret_scale = 0;
    if (!yyjson_is_obj(yyjson_obj_get(component->val, "scaleDefinition")))
        return instance ? err_set(err, -EINVAL, "component %s has no instance %s", component->name, instance) : 0;
    TRY(replicas_at(karta, component, "replicasPath", &replicas, err));
    TRY(replicas_at(karta, component, "minReplicasPath", &least, err));
    TRY(replicas_at(karta, component, "maxReplicasPath", &most, err));
    TRY(karta_instances(karta, component, &ids, err));
    size_t count = MAX(MAX(yyjson_arr_size(replicas), yyjson_arr_size(least)), yyjson_arr_size(most));
    size_t expected = ids ? yyjson_arr_size(ids) : 1;
    if (count != expected)
        return err_set(err, -EINVAL, "component %s: its scale has %zu numbers for %zu instances", component->name,
                       count, expected);
    for (size_t i = 0; i < count; i++) {
        int64_t min = number_at(least, i);

        if (is_told_again(ids, i) || (instance && !yyjson_equals_str(yyjson_arr_get(ids, i), instance)))
            continue;
        is_found = true;
        *ret_scale += min > 0 ? min : number_at(replicas, i);
    }
    if (instance && !is_found)
        return err_set(err, -EINVAL, "component %s has no instance %s", component->name, instance);
    return 0;
}

static int bounded(const struct karta_component *component, int64_t scale, int64_t *ret_scale, struct err *err)
{
    *ret_scale = scale;
    return scale <= INT32_MAX ? 0 : err_set(err, -ERANGE, "component %s: too many pods", component->name);
}

/* A component that repeats what is below it multiplies it; one without a number of its own only holds it together. */
static int scale_by_numbers(const struct karta *karta, int32_t index, const char *instance, int64_t *ret_scale,
                            struct err *err)
{
    const struct karta_component *component = &karta->components.items[index];
    int64_t own, below = 0;

    TRY(own_scale(karta, component, instance, &own, err));
    for (uint32_t i = 1; i < karta->components.len; i++) {
        int64_t scale;

        if (karta->components.items[i].parent != index)
            continue;
        TRY(scale_by_numbers(karta, (int32_t)i, NULL, &scale, err));
        TRY(bounded(component, below + scale, &below, err));
    }
    return bounded(component, own == 0 ? below : below == 0 ? own : own * below, ret_scale, err);
}

/* Where no number is given anywhere, every component that makes pods makes one for each of its instances. */
static int scale_by_leaves(const struct karta *karta, int32_t index, const char *instance, int64_t *ret_scale,
                           struct err *err)
{
    const struct karta_component *component = &karta->components.items[index];
    yyjson_val *ids;

    *ret_scale = 0;
    if (component->has_pods) {
        TRY(karta_instances(karta, component, &ids, err));
        *ret_scale = ids ? (int64_t)yyjson_arr_size(ids) : 1;
        if (!instance || !ids)
            return 0;
        *ret_scale = 1;
        for (size_t i = 0; i < yyjson_arr_size(ids); i++) {
            if (yyjson_equals_str(yyjson_arr_get(ids, i), instance))
                return 0;
        }
        return err_set(err, -EINVAL, "component %s has no instance %s", component->name, instance);
    }
    for (uint32_t i = 1; i < karta->components.len; i++) {
        int64_t scale;

        if (karta->components.items[i].parent != index)
            continue;
        TRY(scale_by_leaves(karta, (int32_t)i, NULL, &scale, err));
        TRY(bounded(component, *ret_scale + scale, ret_scale, err));
    }
    return 0;
}

int karta_scale(const struct karta *karta, int32_t component, const char *instance, int32_t *ret_scale, struct err *err)
{
    int64_t scale;

    if (karta->has_scale)
        TRY(scale_by_numbers(karta, component, instance, &scale, err));
    else
        TRY(scale_by_leaves(karta, component, instance, &scale, err));
    *ret_scale = (int32_t)scale;
    return 0;
}
