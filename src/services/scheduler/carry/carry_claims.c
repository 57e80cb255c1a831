/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Devices that the engine chose for a pod's claims, into its BindRequest. The state knows which devices a claim gets; how
 * the pod calls its claims, and the claims their requests, is read from the server when it is needed.
 */
#include "services/scheduler/carry/carry_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kube/client/meta.h"

/* The claim behind an entry of the pod's spec: named there, or made from a template and named in the status. */
static const char *claim_name(yyjson_val *pod, yyjson_val *entry)
{
    const char *direct = kube_text(entry, "resourceClaimName");
    yyjson_val *statuses = yyjson_obj_get(yyjson_obj_get(pod, "status"), "resourceClaimStatuses");
    size_t i, count;
    yyjson_val *status;

    if (*direct)
        return direct;
    yyjson_arr_foreach(statuses, i, count, status)
    {
        if (strcmp(kube_text(status, "name"), kube_text(entry, "name")) == 0)
            return kube_text(status, "resourceClaimName");
    }
    return "";
}

static const struct claim *find_claim(const struct carry *carry, const char *namespace, const char *name)
{
    uint64_t id = 0;
    name_id in, called;

    if (!intern_find(&carry->state->names, namespace, strlen(namespace), &in) ||
        !intern_find(&carry->state->names, name, strlen(name), &called) ||
        !map64_get(&carry->state->claim_by_name, key_of(in, called), &id))
        return NULL;
    return carry->state->claims.items[id].is_present ? &carry->state->claims.items[id] : NULL;
}

/* The request that the device with this index is for: each takes as many as it asks for. */
static const char *request_of_device(const void *claim, uint32_t device)
{
    yyjson_val *spec = yyjson_obj_get(yyjson_obj_get((yyjson_val *)(uintptr_t)claim, "spec"), "devices");
    yyjson_val *requests = yyjson_obj_get(spec, "requests");
    const char *last = "";
    size_t i, count;
    yyjson_val *request;

    yyjson_arr_foreach(requests, i, count, request)
    {
        yyjson_val *exactly = yyjson_obj_get(request, "exactly");
        yyjson_val *wanted = yyjson_obj_get(exactly ? exactly : request, "count");
        uint64_t takes = yyjson_is_uint(wanted) ? yyjson_get_uint(wanted) : 1;

        last = kube_text(request, "name");
        if (device < takes)
            break;
        device -= (uint32_t)takes;
    }
    return last;
}

static void encode_claim(struct carrying *carrying, yyjson_val *object)
{
    const struct carry *carry = carrying->carry;
    yyjson_mut_doc *doc = carrying->doc;
    yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec");
    yyjson_mut_val *list = yyjson_mut_obj_get(spec, "resourceClaimAllocations");
    const struct claim *claim =
        find_claim(carry, key_namespace(carry->state, carrying->key), kube_text(object, "metadata", "name"));

    if (!list)
        list = yyjson_mut_obj_add_arr(doc, spec, "resourceClaimAllocations");
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
    (void)yyjson_mut_obj_add_strcpy(doc, entry, "name", carrying->claims.items[carrying->next_claim].name);
    yyjson_mut_val *allocation = yyjson_mut_obj_add_obj(doc, entry, "allocation");
    yyjson_val *written = yyjson_obj_get(yyjson_obj_get(object, "status"), "allocation");
    if (yyjson_is_obj(written)) {
        (void)yyjson_mut_obj_put(entry, yyjson_mut_str(doc, "allocation"), yyjson_val_mut_copy(doc, written));
        return;
    }
    carry_allocation(carrying, allocation, claim, request_of_device, object);
}

static void read_next(struct carrying *carrying);

static void on_claim(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;
    struct err err = answer->err;
    yyjson_val *object = NULL;

    carrying->call = NULL;
    if (err.code < 0 || kube_answer_object(answer, &object, &err) < 0) {
        carrying->on_claims(carrying, &err);
        return;
    }
    encode_claim(carrying, object);
    carrying->next_claim++;
    read_next(carrying);
}

static void read_next(struct carrying *carrying)
{
    struct carry *carry = carrying->carry;

    if (carrying->next_claim == carrying->claims.len) {
        carrying->on_claims(carrying, NULL);
        return;
    }
    carrying->call =
        kube_send(carry->client, &(struct kube_request){
                                     .verb = KUBE_GET,
                                     .resource = kube_known_of(KUBE_RESOURCE_CLAIMS, *carry->device_version),
                                     .namespace = key_namespace(carry->state, carrying->key),
                                     .name = carrying->claims.items[carrying->next_claim].claim,
                                     .on_done = on_claim,
                                     .arg = carrying,
                                 });
}

static void on_pod(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;
    struct err err = answer->err;
    yyjson_val *pod = NULL;
    size_t i, count;
    yyjson_val *entry;

    carrying->call = NULL;
    if (err.code < 0 || kube_answer_object(answer, &pod, &err) < 0 || carry_extended(carrying, pod, &err) < 0) {
        carrying->on_claims(carrying, &err);
        return;
    }
    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(pod, "spec"), "resourceClaims"), i, count, entry)
    {
        const char *claim = claim_name(pod, entry);

        if (*claim)
            vec_push(&carrying->claims, (struct pod_claim_name){xstrdup(kube_text(entry, "name")), xstrdup(claim)});
    }
    read_next(carrying);
}

void carry_claims(struct carrying *carrying)
{
    struct carry *carry = carrying->carry;

    carrying->call = kube_send(carry->client, &(struct kube_request){
                                                  .verb = KUBE_GET,
                                                  .resource = kube_known(KUBE_PODS),
                                                  .namespace = key_namespace(carry->state, carrying->key),
                                                  .name = key_name(carry->state, carrying->key),
                                                  .on_done = on_pod,
                                                  .arg = carrying,
                                              });
}
