/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a pod asks for as resources and gets as devices: which requests the claim that is made for them has, and which
 * container uses which (Kubernetes' KEP 5004; the names of requests are Kubernetes' own).
 *
 * Containers that run in the end have a request each. An init container that ends before them uses theirs, as far as
 * they start after it; what it needs beyond that is one request more, of which only the largest is kept, since such
 * containers run one after the other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "services/scheduler/carry/carry_internal.h"
#include "text/quantity.h"

enum { REQUEST_NAME_MAX = 64, CONTAINERS_MAX = 4096 };

struct container_request {
    char name[REQUEST_NAME_MAX];
    int64_t count;        // 0: it asks for none
    bool is_short_lived;  // an init container that ends
};

struct mapping {
    yyjson_val *container;
    uint32_t request;  // index of the container whose request it is
};

/* One of the resources. */
struct extended {
    const char *resource;
    const char *device_class;
    VEC(yyjson_val *) containers;  // init containers first
    VEC(struct container_request) requests;
    VEC(struct mapping) mappings;
    VEC(uint32_t) order;  // requests that are made, by name
};

static void extended_done(struct extended *e)
{
    vec_done(&e->containers);
    vec_done(&e->requests);
    vec_done(&e->mappings);
    vec_done(&e->order);
}

static void list_containers(struct extended *e, yyjson_val *list, bool are_init)
{
    size_t i, count;
    yyjson_val *container;

    yyjson_arr_foreach(list, i, count, container)
    {
        bool is_sidecar = strcmp(kube_text(container, "restartPolicy"), "Always") == 0;

        if (e->containers.len == CONTAINERS_MAX)
            return;
        vec_push(&e->containers, container);
        vec_push(&e->requests, (struct container_request){.is_short_lived = are_init && !is_sidecar});
    }
}

/* What the container asks for, and what its request is called: by its place, and the resource's among its sorted ones. */
static int read_request(struct extended *e, uint32_t at, struct err *err)
{
    struct container_request *request = &e->requests.items[at];
    yyjson_val *asked = yyjson_obj_get(yyjson_obj_get(e->containers.items[at], "resources"), "requests");
    const char *amount = yyjson_get_str(yyjson_obj_get(asked, e->resource));
    uint32_t place = 0;
    size_t i, count;
    yyjson_val *key, *value;

    if (!amount)
        return 0;
    int r = quantity_parse(amount, QUANTITY_ONE, &request->count, err);
    if (r < 0)
        return err_wrap(err, r, "container %s: %s", kube_text(e->containers.items[at], "name"), e->resource);
    yyjson_obj_foreach(asked, i, count, key, value) place += strcmp(yyjson_get_str(key), e->resource) < 0;
    (void)snprintf(request->name, sizeof request->name, "container-%u-request-%u", at, place);
    return 0;
}

/* An init container takes from those that run in the end and start after it. Its own request is what is left. */
static void reuse(struct extended *e, uint32_t at)
{
    struct container_request *request = &e->requests.items[at];

    for (uint32_t i = at; i < e->requests.len && request->count > 0; i++) {
        const struct container_request *other = &e->requests.items[i];

        if (other->is_short_lived || other->count == 0)
            continue;
        vec_push(&e->mappings, (struct mapping){e->containers.items[at], i});
        request->count -= MIN(request->count, other->count);
    }
}

/* One request is enough for all init containers that need more. */
static void share_largest(struct extended *e)
{
    uint32_t largest = NO_ID;

    for (uint32_t i = 0; i < e->requests.len; i++) {
        const struct container_request *request = &e->requests.items[i];

        if (request->is_short_lived && request->count > 0 &&
            (largest == NO_ID || e->requests.items[largest].count < request->count))
            largest = i;
    }
    for (uint32_t i = 0; i < e->requests.len; i++) {
        struct container_request *request = &e->requests.items[i];

        if (!request->is_short_lived || request->count == 0)
            continue;
        vec_push(&e->mappings, (struct mapping){e->containers.items[i], largest});
        if (i != largest)
            request->count = 0;
    }
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct extended *e = context;

    return strcmp(e->requests.items[*(const uint32_t *)a].name, e->requests.items[*(const uint32_t *)b].name);
}

static int work_out(struct extended *e, yyjson_val *pod, struct err *err)
{
    yyjson_val *spec = yyjson_obj_get(pod, "spec");

    list_containers(e, yyjson_obj_get(spec, "initContainers"), true);
    list_containers(e, yyjson_obj_get(spec, "containers"), false);
    for (uint32_t i = 0; i < e->requests.len; i++) {
        int r = read_request(e, i, err);

        if (r < 0)
            return r;
    }
    for (uint32_t i = 0; i < e->requests.len; i++) {
        if (!e->requests.items[i].is_short_lived && e->requests.items[i].count > 0)
            vec_push(&e->mappings, (struct mapping){e->containers.items[i], i});
    }
    for (uint32_t i = 0; i < e->requests.len; i++) {
        if (e->requests.items[i].is_short_lived)
            reuse(e, i);
    }
    share_largest(e);
    for (uint32_t i = 0; i < e->requests.len; i++) {
        if (e->requests.items[i].count > 0)
            vec_push(&e->order, i);
    }
    if (e->order.len > 0)
        qsort_r(e->order.items, e->order.len, sizeof *e->order.items, by_name, e);
    return 0;
}

/* All resources that the pod has devices for. */
struct plan {
    const struct state *state;
    const struct claim *claim;
    VEC(struct extended) resources;
};

static const char *resource_of(const struct plan *plan, uint32_t device)
{
    return state_name(plan->state, plan->claim->devices[device].request);
}

static uint32_t devices_before(const struct plan *plan, uint32_t end, const char *resource)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < end; i++)
        count += strcmp(resource_of(plan, i), resource) == 0;
    return count;
}

/* Devices of a resource go to its requests in order. "" when there are more of them. */
static const char *request_of_device(const void *arg, uint32_t device)
{
    const struct plan *plan = arg;
    const char *resource = resource_of(plan, device);
    int64_t left = devices_before(plan, device, resource);

    vec_foreach (&plan->resources, e) {
        if (strcmp(e->resource, resource) != 0)
            continue;
        vec_foreach (&e->order, at) {
            if (left < e->requests.items[*at].count)
                return e->requests.items[*at].name;
            left -= e->requests.items[*at].count;
        }
    }
    return "";
}

static int add_resource(struct plan *plan, const struct device_ask *ask, yyjson_val *pod, struct err *err)
{
    struct extended e = {.resource = ask->full_name, .device_class = ask->device_class};
    uint32_t count = devices_before(plan, plan->claim->device_count, e.resource);
    int64_t asked = 0;

    if (count == 0)
        return 0;
    int r = work_out(&e, pod, err);
    vec_foreach (&e.order, at)
        asked += e.requests.items[*at].count;
    if (r >= 0 && asked < count)
        r = err_set(err, -EINVAL, "its containers request fewer of %s than the %u devices that were selected",
                    e.resource, count);
    vec_push(&plan->resources, e);
    return r;
}

static int by_request_name(const void *a, const void *b)
{
    const char *l = yyjson_mut_get_str(yyjson_mut_obj_get(*(yyjson_mut_val *const *)a, "name"));
    const char *r = yyjson_mut_get_str(yyjson_mut_obj_get(*(yyjson_mut_val *const *)b, "name"));

    return strcmp(l, r);
}

static void encode_requests(yyjson_mut_doc *doc, const struct plan *plan, yyjson_mut_val *list)
{
    VEC(yyjson_mut_val *) requests = {0};

    vec_foreach (&plan->resources, e)
        vec_foreach (&e->order, at) {
            yyjson_mut_val *request = yyjson_mut_obj(doc);

            (void)yyjson_mut_obj_add_strcpy(doc, request, "name", e->requests.items[*at].name);
            yyjson_mut_val *exactly = yyjson_mut_obj_add_obj(doc, request, "exactly");
            (void)yyjson_mut_obj_add_str(doc, exactly, "deviceClassName", e->device_class);
            (void)yyjson_mut_obj_add_str(doc, exactly, "allocationMode", "ExactCount");
            (void)yyjson_mut_obj_add_int(doc, exactly, "count", e->requests.items[*at].count);
            vec_push(&requests, request);
        }
    if (requests.len > 1)
        qsort(requests.items, requests.len, sizeof *requests.items, by_request_name);
    vec_foreach (&requests, request)
        (void)yyjson_mut_arr_append(list, *request);
    vec_done(&requests);
}

static void encode(struct carrying *carrying, const struct plan *plan)
{
    yyjson_mut_doc *doc = carrying->doc;
    yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec");
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, spec, "extendedResourceClaimAllocation");
    yyjson_mut_val *allocation = yyjson_mut_obj_add_obj(doc, object, "allocation");
    yyjson_mut_val *requests = yyjson_mut_obj_add_arr(doc, object, "deviceRequests");
    yyjson_mut_val *mappings = yyjson_mut_obj_add_arr(doc, object, "containerMappings");

    carry_allocation(carrying, allocation, plan->claim, request_of_device, plan);
    encode_requests(doc, plan, requests);
    vec_foreach (&plan->resources, e)
        vec_foreach (&e->mappings, mapping) {
            yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, mappings);

            (void)yyjson_mut_obj_add_strcpy(doc, entry, "containerName", kube_text(mapping->container, "name"));
            (void)yyjson_mut_obj_add_strcpy(doc, entry, "resourceName", e->resource);
            (void)yyjson_mut_obj_add_strcpy(doc, entry, "requestName", e->requests.items[mapping->request].name);
        }
}

int carry_extended(struct carrying *carrying, yyjson_val *object, struct err *err)
{
    const struct state *state = carrying->carry->state;
    pod_id id = key_pod(state, carrying->key);
    const struct pod *pod = id == NO_ID ? NULL : &state->pods.items[id];
    const struct pod_claim *link = pod && pod->claim_count > 0 ? &pod->claims[pod->claim_count - 1] : NULL;
    int r = 0;

    if (!link || !link->is_extended || !state->claims.items[link->slot].is_allocated)
        return 0;
    struct plan plan = {.state = state, .claim = &state->claims.items[link->slot]};
    for (size_t i = 0; r >= 0 && i < plan.claim->ask.request_count; i++)
        r = add_resource(&plan, plan.claim->ask.requests[i].asks, object, err);
    if (r >= 0)
        encode(carrying, &plan);
    vec_foreach (&plan.resources, e)
        extended_done(e);
    vec_done(&plan.resources);
    return r;
}
