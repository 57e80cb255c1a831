/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/documents/claim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "kube/client/meta.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/names.h"
#include "text/json.h"

/* As many as the API takes. */
enum { RESERVED_MAX = 256 };

int claim_name(yyjson_val *pod, yyjson_val *entry, const char **ret_name, struct err *err)
{
    const char *wanted = kube_text(entry, "name");
    const char *own = kube_text(entry, "resourceClaimName");
    yyjson_val *statuses = yyjson_obj_get(yyjson_obj_get(pod, "status"), "resourceClaimStatuses");
    yyjson_val *status;
    size_t i, max;

    if (own[0]) {
        *ret_name = own;
        return 0;
    }
    yyjson_arr_foreach(statuses, i, max, status)
    {
        const char *made = kube_text(status, "resourceClaimName");

        if (strcmp(kube_text(status, "name"), wanted) != 0)
            continue;
        *ret_name = made[0] ? made : NULL;
        return 0;
    }
    return err_set(err, -EAGAIN, "resource claim '%s' has not been created from its template yet", wanted);
}

yyjson_mut_val *claim_allocation(yyjson_mut_val *allocations, const char *entry)
{
    yyjson_mut_val *one;
    size_t i, max;

    yyjson_mut_arr_foreach(allocations, i, max, one)
    {
        if (strcmp(document_text(one, "name"), entry) == 0)
            return yyjson_mut_obj_get(one, "allocation");
    }
    return NULL;
}

/* The place of our finalizer in the list; its length when it is not there. */
static size_t finalizer_at(yyjson_mut_val *list)
{
    yyjson_mut_val *one;
    size_t i, max;

    yyjson_mut_arr_foreach(list, i, max, one)
    {
        if (yyjson_mut_equals_str(one, FINALIZER_CLAIM))
            return i;
    }
    return yyjson_mut_arr_size(list);
}

static yyjson_mut_val *finalizers_of(yyjson_mut_doc *claim)
{
    return document_list(claim, document_member(claim, yyjson_mut_doc_get_root(claim), "metadata"), "finalizers");
}

bool claim_protect(yyjson_mut_doc *claim)
{
    yyjson_mut_val *list = finalizers_of(claim);

    if (finalizer_at(list) < yyjson_mut_arr_size(list))
        return false;
    (void)yyjson_mut_arr_add_str(claim, list, FINALIZER_CLAIM);
    return true;
}

bool claim_unprotect(yyjson_mut_doc *claim)
{
    yyjson_mut_val *list = finalizers_of(claim);
    size_t at = finalizer_at(list);

    if (at == yyjson_mut_arr_size(list))
        return false;
    (void)yyjson_mut_arr_remove(list, at);
    return true;
}

/* The place of the pod's entry in reservedFor; its length when it is not there. */
static size_t reserved_at(yyjson_mut_val *list, const char *uid)
{
    yyjson_mut_val *one;
    size_t i, max;

    yyjson_mut_arr_foreach(list, i, max, one)
    {
        if (strcmp(document_text(one, "uid"), uid) == 0)
            return i;
    }
    return yyjson_mut_arr_size(list);
}

int claim_reserve(yyjson_mut_doc *claim, const char *pod, const char *uid, yyjson_mut_val *allocation,
                  bool *ret_is_allocated, struct err *err)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(claim);
    yyjson_mut_val *meta = document_member(claim, root, "metadata");
    yyjson_mut_val *status = document_member(claim, root, "status");
    yyjson_mut_val *list = document_list(claim, status, "reservedFor");
    const char *name = document_text(meta, "name");
    bool has_changed = false;

    if (document_text(meta, "deletionTimestamp")[0])
        return err_set(err, -ESTALE, "resource claim %s is being deleted", name);
    if (!yyjson_mut_is_obj(yyjson_mut_obj_get(status, "allocation"))) {
        if (!allocation)
            return err_set(err, -EINVAL, "resource claim %s has no devices, and the request names none for it", name);
        document_set_value(claim, status, "allocation", yyjson_mut_val_mut_copy(claim, allocation));
        *ret_is_allocated = has_changed = true;
    }
    if (reserved_at(list, uid) < yyjson_mut_arr_size(list))
        return has_changed;
    if (yyjson_mut_arr_size(list) >= RESERVED_MAX)
        return err_set(err, -ENOSPC, "resource claim %s is already used by %d pods, the maximum", name, RESERVED_MAX);
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(claim, list);

    document_set(claim, entry, "resource", "pods");
    document_set(claim, entry, "name", pod);
    document_set(claim, entry, "uid", uid);
    return 1;
}

/* What the driver says of the device in a result; NULL while it says nothing. */
static yyjson_val *device_of(yyjson_val *claim, yyjson_val *result)
{
    static const char *const keys[] = {"driver", "pool", "device"};
    yyjson_val *devices = yyjson_obj_get(yyjson_obj_get(claim, "status"), "devices");
    yyjson_val *device;
    size_t i, max;

    yyjson_arr_foreach(devices, i, max, device)
    {
        bool is_same = true;

        for (size_t at = 0; at < ARRAY_LEN(keys); at++)
            is_same = is_same && strcmp(kube_text(device, keys[at]), kube_text(result, keys[at])) == 0;
        if (is_same)
            return device;
    }
    return NULL;
}

static bool is_true(yyjson_val *device, const char *type)
{
    yyjson_val *conditions = yyjson_obj_get(device, "conditions");
    yyjson_val *condition;
    size_t i, max;

    yyjson_arr_foreach(conditions, i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), type) == 0)
            return strcmp(kube_text(condition, "status"), "True") == 0;
    }
    return false;
}

/* How many of the conditions in a list are true. */
static size_t count_true(yyjson_val *device, yyjson_val *types)
{
    yyjson_val *type;
    size_t i, max, count = 0;

    yyjson_arr_foreach(types, i, max, type)
    {
        count += yyjson_is_str(type) && is_true(device, yyjson_get_str(type));
    }
    return count;
}

enum claim_state claim_state_of(yyjson_val *claim)
{
    yyjson_val *allocation = yyjson_obj_get(yyjson_obj_get(claim, "status"), "allocation");
    yyjson_val *results = yyjson_obj_get(yyjson_obj_get(allocation, "devices"), "results");
    enum claim_state state = CLAIM_READY;
    yyjson_val *result;
    size_t i, max;

    yyjson_arr_foreach(results, i, max, result)
    {
        yyjson_val *device = device_of(claim, result);
        yyjson_val *wanted = yyjson_obj_get(result, "bindingConditions");

        if (count_true(device, yyjson_obj_get(result, "bindingFailureConditions")) > 0)
            return CLAIM_BROKEN;
        if (count_true(device, wanted) < yyjson_arr_size(wanted))
            state = CLAIM_WAITS;
    }
    return state;
}

bool claim_release(yyjson_mut_doc *claim, const char *uid, bool is_ours)
{
    yyjson_mut_val *status = document_member(claim, yyjson_mut_doc_get_root(claim), "status");
    yyjson_mut_val *list = document_list(claim, status, "reservedFor");
    size_t at = reserved_at(list, uid);
    bool has_changed = at < yyjson_mut_arr_size(list);

    if (has_changed)
        (void)yyjson_mut_arr_remove(list, at);
    if (is_ours && yyjson_mut_arr_size(list) == 0 && yyjson_mut_obj_remove_key(status, "allocation"))
        has_changed = true;
    return has_changed;
}

/* v1beta1 has the fields of an exact request in the request itself. */
static void flatten_requests(yyjson_mut_doc *doc, yyjson_mut_val *requests)
{
    size_t i, max, j, members;
    yyjson_mut_val *request, *key, *val;

    yyjson_mut_arr_foreach(requests, i, max, request)
    {
        yyjson_mut_val *exactly = yyjson_mut_obj_remove_key(request, "exactly");

        yyjson_mut_obj_foreach(exactly, j, members, key, val)
        {
            (void)yyjson_mut_obj_add(request, yyjson_mut_val_mut_copy(doc, key), yyjson_mut_val_mut_copy(doc, val));
        }
    }
}

yyjson_mut_doc *claim_new_extended(const char *version, const char *namespace, const char *pod, const char *uid,
                                   yyjson_mut_val *requests)
{
    char name[EXTENDED_NAME_MAX];
    char api_version[64];
    (void)snprintf(api_version, sizeof api_version, "resource.k8s.io/%s", version);
    yyjson_mut_doc *doc = document_object(api_version, "ResourceClaim", namespace, extended_claim_name(pod, uid, name));
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *devices = document_member(doc, document_member(doc, root, "spec"), "devices");
    yyjson_mut_val *meta = document_member(doc, root, "metadata");

    document_own(doc, pod, uid, true);
    (void)claim_protect(doc);
    document_set(doc, document_member(doc, meta, "annotations"), KEY_EXTENDED_CLAIM, "true");
    if (requests)
        document_set_value(doc, devices, "requests", yyjson_mut_val_mut_copy(doc, requests));
    if (strcmp(version, "v1beta1") == 0)
        flatten_requests(doc, yyjson_mut_obj_get(devices, "requests"));
    return doc;
}

yyjson_mut_doc *claim_pod_status(const char *uid, const char *claim, yyjson_mut_val *mappings)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *status = document_member(doc, root, "status");

    document_set(doc, document_member(doc, root, "metadata"), "uid", uid);
    if (!claim) {
        document_set(doc, status, "extendedResourceClaimStatus", NULL);
        return doc;
    }
    yyjson_mut_val *named = document_member(doc, status, "extendedResourceClaimStatus");

    document_set(doc, named, "resourceClaimName", claim);
    if (mappings)
        document_set_value(doc, named, "requestMappings", yyjson_mut_val_mut_copy(doc, mappings));
    return doc;
}
