/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/refusals.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "console/org/wants.h"
#include "objects/keys.h"

/* --- without effect --- */

static bool is_there(yyjson_val *value)
{
    return value && !(yyjson_is_arr(value) && yyjson_arr_size(value) == 0);
}

static bool is_true(yyjson_val *value)
{
    return yyjson_get_bool(value);
}

static bool is_not_true(yyjson_val *value)
{
    return !yyjson_get_bool(value);
}

static bool is_several(yyjson_val *value)
{
    return yyjson_arr_size(value) > 1;
}

static bool is_all(yyjson_val *value)
{
    return yyjson_equals_str(value, "All");
}

static bool is_always(yyjson_val *value)
{
    return yyjson_equals_str(value, "Always");
}

static bool is_from_token(yyjson_val *value)
{
    return yyjson_equals_str(value, "fromIdpToken");
}

static bool is_localhost(yyjson_val *value)
{
    return yyjson_equals_str(value, "Localhost");
}

/* A pointer, or a pointer to a list and a member of its items. */
static const struct {
    const char *pointer;
    const char *member;
    bool (*is_unsupported)(yyjson_val *value);
    const char *instead;
} unsupported[] = {
    {"/exposedUrls", NULL, is_there, ""},
    {"/ports", NULL, is_there, ""},
    {"/createHomeDir", NULL, is_true, ""},
    {"/terminateAfterPreemption", NULL, is_true, ""},
    {"/restartPolicy", NULL, is_always, ": with 'Always' it never ends; use OnFailure"},
    {"/cleanPodPolicy", NULL, is_all, " with All: pods that have ended are there until the workload is deleted"},
    {"/nodePools", NULL, is_several, " with more than one pool"},
    {"/compute/gpuPortionLimit", NULL, is_there, ": the request is also the limit"},
    {"/compute/gpuMemoryLimit", NULL, is_there, ": the request is also the limit"},
    {"/security/uidGidSource", NULL, is_from_token, " with fromIdpToken"},
    {"/security/seccompProfileType", NULL, is_localhost, " with Localhost"},
    {"/storage/git", NULL, is_there, ""},
    {"/storage/s3", NULL, is_there, ""},
    {"/storage/pvc", "existingPvc", is_not_true, ": create the claim as a data source, and name it with existingPvc"},
    {"/storage/pvc", "ephemeral", is_true, ""},
    {"/environmentVariables", "userCredential", is_there, ""},
    {"/imagePullSecrets", "userCredential", is_true, ""},
};

static int refuse(const char *pointer, const char *member, const char *instead, struct err *err)
{
    char path[128];
    size_t len = 0;

    for (pointer++; *pointer && len < sizeof path - 1; pointer++)
        path[len++] = (char)(*pointer == '/' ? '.' : *pointer);
    path[len] = '\0';
    return err_set(err, -ENOSYS, "spec.%s%s%s is not supported yet%s", path, member ? "." : "", member ? member : "",
                   instead);
}

int refuse_unsupported(yyjson_val *spec, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(unsupported); i++) {
        yyjson_val *value = yyjson_ptr_get(spec, unsupported[i].pointer);
        yyjson_val *item;
        yyjson_arr_iter iter;
        bool is_wrong = !unsupported[i].member && unsupported[i].is_unsupported(value);

        yyjson_arr_iter_init(value, &iter);
        while (unsupported[i].member && (item = yyjson_arr_iter_next(&iter)))
            is_wrong = is_wrong || unsupported[i].is_unsupported(yyjson_obj_get(item, unsupported[i].member));
        if (is_wrong)
            return refuse(unsupported[i].pointer, unsupported[i].member, unsupported[i].instead, err);
    }
    return 0;
}

/* --- incomplete --- */

static const struct {
    const char *pointer;
    const char *members[4];
} required[] = {
    {"/annotations", {"name"}},
    {"/labels", {"name"}},
    {"/environmentVariables", {"name"}},
    {"/imagePullSecrets", {"name"}},
    {"/compute/extendedResources", {"resource", "quantity"}},
    {"/storage/pvc", {"claimName", "path"}},
    {"/storage/nfs", {"server", "path", "mountPath"}},
    {"/storage/hostPath", {"path", "mountPath"}},
    {"/storage/configMapVolume", {"configMap", "mountPath"}},
    {"/storage/secretVolume", {"secret", "mountPath"}},
    {"/storage/emptyDirVolume", {"path"}},
};

int refuse_incomplete(yyjson_val *spec, struct err *err)
{
    yyjson_val *item;
    yyjson_arr_iter iter;

    for (size_t i = 0; i < ARRAY_LEN(required); i++) {
        yyjson_arr_iter_init(yyjson_ptr_get(spec, required[i].pointer), &iter);
        while ((item = yyjson_arr_iter_next(&iter))) {
            for (size_t m = 0; m < ARRAY_LEN(required[i].members) && required[i].members[m]; m++) {
                if (!yyjson_obj_get(item, required[i].members[m]))
                    return err_set(err, -EINVAL, "spec%s: each item needs the member %s", required[i].pointer,
                                   required[i].members[m]);
            }
        }
    }
    return 0;
}

/* --- reserved --- */

/* The project, its Queue and node pool, and the amounts of GPUs are the console's to say. */
static bool is_reserved(const char *key)
{
    static const char *const names[] = {KEY_PROJECT, KEY_PRIORITY_CLASS, KEY_POD_GROUP};
    static const char *const prefixes[] = {"kai.scheduler/", "runai",      "run.ai/",     "console.muster/",
                                           "gpu-fraction",   "gpu-memory", "nvidia.com/", "batch.kubernetes.io/"};
    static const char *const open[] = {KEY_TOPOLOGY, "kai.scheduler/segment-"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(key, names[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(open); i++) {
        if (strncmp(key, open[i], strlen(open[i])) == 0)
            return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

/* They have members of their own, for which policies have rules. */
static int refuse_own_resources(yyjson_val *list, struct err *err)
{
    static const char *const names[] = {"nvidia.com/gpu", "cpu", "memory"};
    yyjson_val *item;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(list, &iter);
    while ((item = yyjson_arr_iter_next(&iter))) {
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            if (yyjson_equals_str(yyjson_obj_get(item, "resource"), names[i]))
                return err_set(err, -EINVAL,
                               "spec.compute.extendedResources: '%s' is requested by other members of compute",
                               names[i]);
        }
    }
    return 0;
}

int refuse_reserved(yyjson_val *spec, struct err *err)
{
    static const char *const lists[] = {"labels", "annotations"};
    yyjson_val *item;
    yyjson_arr_iter iter;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        yyjson_arr_iter_init(yyjson_obj_get(spec, lists[i]), &iter);
        while ((item = yyjson_arr_iter_next(&iter))) {
            const char *name = yyjson_get_str(yyjson_obj_get(item, "name"));

            if (is_reserved(name))
                return err_set(err, -EINVAL, "spec.%s: '%.63s' is set by the console", lists[i], name);
        }
    }
    return refuse_own_resources(yyjson_ptr_get(spec, "/compute/extendedResources"), err);
}
