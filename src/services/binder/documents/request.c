/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/documents/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/autoscalers.h"
#include "kube/client/meta.h"
#include "services/binder/documents/document.h"
#include "text/json.h"

/* The wait before an attempt doubles up to here: an hour, roughly. */
enum { RETRY_DOUBLINGS_MAX = 12, GROUPS_MAX = 1024 };

static const char *const plan_members[] = {"resourceClaimAllocations", "extendedResourceClaimAllocation",
                                           "predictedNUMAZones"};

static const char *owner_uid(yyjson_val *object, const char *pod)
{
    yyjson_val *owners = yyjson_obj_get(yyjson_obj_get(object, "metadata"), "ownerReferences");
    yyjson_val *owner;
    size_t i, max;

    yyjson_arr_foreach(owners, i, max, owner)
    {
        if (strcmp(kube_text(owner, "kind"), "Pod") == 0 && strcmp(kube_text(owner, "name"), pod) == 0)
            return kube_text(owner, "uid");
    }
    return "";
}

static enum request_phase phase_of(yyjson_val *object)
{
    const char *phase = kube_text(object, "status", "phase");

    if (strcmp(phase, "Succeeded") == 0)
        return REQUEST_SUCCEEDED;
    return strcmp(phase, "Failed") == 0 ? REQUEST_FAILED : REQUEST_ACTIVE;
}

static void read_groups(struct request *request, yyjson_val *groups)
{
    yyjson_val *group;
    size_t i, max;

    yyjson_arr_foreach(groups, i, max, group)
    {
        const char *id = yyjson_get_str(group);

        if (id && id[0] && request->groups.len < GROUPS_MAX && !request_has_group(request, id))
            vec_push(&request->groups, xstrdup(id));
    }
}

static void read_plan(struct request *request, yyjson_val *spec)
{
    for (size_t i = 0; i < ARRAY_LEN(plan_members); i++) {
        yyjson_val *member = yyjson_obj_get(spec, plan_members[i]);

        if (!yyjson_is_ctn(member) || unsafe_yyjson_get_len(member) == 0)
            continue;
        if (!request->plan)
            request->plan = json_new_object(NULL);
        document_set_value(request->plan, yyjson_mut_doc_get_root(request->plan), plan_members[i],
                           yyjson_val_mut_copy(request->plan, member));
    }
}

struct request *request_new(yyjson_val *object)
{
    struct kube_meta meta;
    yyjson_val *spec = yyjson_obj_get(object, "spec");
    yyjson_val *limit = yyjson_obj_get(spec, "backoffLimit");
    yyjson_val *attempts = yyjson_obj_get(yyjson_obj_get(object, "status"), "failedAttempts");

    if (!kube_meta_read(object, &meta))
        return NULL;
    struct request *request = xcalloc(1, sizeof *request);
    const char *pod = kube_text(spec, "podName");

    *request = (struct request){
        .namespace = xstrdup(meta.namespace),
        .name = xstrdup(meta.name),
        .uid = xstrdup(meta.uid),
        .pod = xstrdup(pod),
        .pod_uid = xstrdup(owner_uid(object, pod)),
        .node = xstrdup(kube_text(spec, "selectedNode")),
        .type = xstrdup(kube_text(spec, "receivedResourceType")),
        .portion = xstrdup(kube_text(spec, "receivedGPU", "portion")),
        .backoff_limit = yyjson_is_int(limit) ? yyjson_get_sint(limit) : -1,
        .failed_attempts = yyjson_is_int(attempts) ? yyjson_get_sint(attempts) : 0,
        .phase = phase_of(object),
        .is_lasting = strcmp(kube_text(object, "metadata", "annotations", KEY_DO_NOT_DISRUPT), "true") == 0,
        .version = strtoull(meta.resource_version, NULL, 10),
    };
    read_groups(request, yyjson_obj_get(spec, "selectedGPUGroups"));
    /* One that is done is kept for its groups alone. */
    if (request->phase != REQUEST_SUCCEEDED)
        read_plan(request, spec);
    return request;
}

void request_free(struct request *request)
{
    if (!request)
        return;
    vec_foreach (&request->groups, group)
        free(*group);
    vec_done(&request->groups);
    yyjson_mut_doc_free(request->plan);
    free(request->namespace);
    free(request->name);
    free(request->uid);
    free(request->pod);
    free(request->pod_uid);
    free(request->node);
    free(request->type);
    free(request->portion);
    free(request);
}

bool request_is_fraction(const struct request *request)
{
    return strcmp(request->type, "Fraction") == 0;
}

bool request_is_corrupt(const struct request *request)
{
    return request_is_fraction(request) && request->groups.len == 0;
}

bool request_has_group(const struct request *request, const char *group)
{
    vec_foreach (&request->groups, one)
        if (strcmp(*one, group) == 0)
            return true;
    return false;
}

yyjson_mut_val *request_plan(const struct request *request, const char *key)
{
    return request->plan ? yyjson_mut_obj_get(yyjson_mut_doc_get_root(request->plan), key) : NULL;
}

static nsec_t wait_of(int64_t attempts)
{
    return (INT64_C(1) << CLAMP(attempts, 0, RETRY_DOUBLINGS_MAX)) * NSEC_PER_SEC;
}

struct request_outcome request_outcome_of(bool has_failed, int64_t backoff_limit, int64_t failed_attempts)
{
    if (!has_failed)
        return (struct request_outcome){.phase = REQUEST_SUCCEEDED, .failed_attempts = failed_attempts};
    if (backoff_limit <= failed_attempts)
        return (struct request_outcome){.phase = REQUEST_FAILED, .failed_attempts = failed_attempts};
    return (struct request_outcome){
        .phase = REQUEST_FAILED, .failed_attempts = failed_attempts + 1, .retry_after = wait_of(failed_attempts + 1)};
}

nsec_t request_retry_after(const struct request *request)
{
    /* With all attempts counted, schedulers take it for lost. */
    bool is_due = request->phase == REQUEST_FAILED && request->failed_attempts < request->backoff_limit;

    return is_due ? wait_of(request->failed_attempts) : 0;
}
