/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pure functions from objects to amounts. Init containers and overhead do not count, as in KAI. A fraction of several
 * devices is multiplied by their number both where it is asked for and where it was given.
 */
#include "services/podgroups/facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kube/client/meta.h"
#include "objects/fields.h"
#include "objects/keys.h"

#define RESOURCE_GPU "nvidia.com/gpu"
#define RESOURCE_GPU_MEMORY "run.ai/gpu.memory"
#define KEY_RECEIVED "received-resource-type"
#define KEY_AMD_MEMORY_PREFIX "beta.amd.com/gpu.vram"
#define KEY_SYNTHETIC_CLAIM "resource.kubernetes.io/extended-resource-claim"

/* More than any machine has, and few enough for products to fit. */
enum { DEVICES_MAX = 1 << 20, CLAIMS_MAX = 1024 };
#define MEMORY_MIB_MAX ((int64_t)1 << 40)
#define ANNOTATION_MAX (MEMORY_MIB_MAX * QUANTITY_NANO_PER_ONE)

static yyjson_val *member(yyjson_val *object, const char *key)
{
    return yyjson_is_obj(object) ? yyjson_obj_get(object, key) : NULL;
}

static const char *annotation(yyjson_val *object, const char *key)
{
    return yyjson_get_str(member(member(member(object, "metadata"), "annotations"), key));
}

/* The status of the condition PodScheduled; "" without one. */
static const char *scheduled(yyjson_val *status)
{
    yyjson_val *conditions = member(status, "conditions");
    size_t i, max;
    yyjson_val *condition;

    yyjson_arr_foreach(conditions, i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), "PodScheduled") == 0)
            return kube_text(condition, "status");
    }
    return "";
}

bool pod_is_on_its_way(yyjson_val *pod)
{
    yyjson_val *status = member(pod, "status");
    const char *phase = kube_text(status, "phase");

    return (!*phase || strcmp(phase, "Pending") == 0) && strcmp(scheduled(status), "False") != 0 &&
           !*kube_text(pod, "metadata", "deletionTimestamp");
}

static void add_containers(struct resource_lists *lists, struct resource_sum *sum, yyjson_val *pod,
                           const char **problem)
{
    yyjson_val *containers = member(member(pod, "spec"), "containers");
    size_t i, max;
    yyjson_val *container;

    yyjson_arr_foreach(containers, i, max, container)
    {
        const struct resource_list *list =
            resource_list_read(lists, member(member(container, "resources"), "requests"), problem);

        resource_sum_add(sum, list);
        resource_list_unref(lists, list);
    }
}

/* An annotation that is a quantity, times a number of devices. Whether it is there and good. */
static bool read_times(yyjson_val *pod, const char *key, int64_t devices, struct quantity *ret_amount,
                       const char **problem)
{
    const char *text = annotation(pod, key);

    if (!text)
        return false;
    if (quantity_parse_exact(text, ret_amount, NULL) < 0 || ret_amount->nano > ANNOTATION_MAX) {
        *problem = key;
        return false;
    }
    ret_amount->nano *= devices;
    return true;
}

void pod_facts_read(struct pod_facts *facts, struct resource_lists *lists, yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");
    const char *received = annotation(pod, KEY_RECEIVED);
    const char *count = annotation(pod, KEY_GPU_DEVICES);
    struct resource_sum asked = {0}, given = {0};
    struct quantity amount;
    int64_t devices = 1;

    *facts = (struct pod_facts){.node = kube_text(pod, "spec", "nodeName")};
    facts->is_allocated = strcmp(phase, "Running") == 0 ||
                          (strcmp(phase, "Pending") == 0 && strcmp(scheduled(member(pod, "status")), "True") == 0);
    facts->is_counted = facts->is_allocated || strcmp(phase, "Pending") == 0;
    if (!facts->is_counted)
        return;
    if (count && !int_parse(count, 1, DEVICES_MAX, &devices))
        facts->problem = KEY_GPU_DEVICES;
    add_containers(lists, &asked, pod, &facts->problem);
    resource_sum_add_all(&given, &asked);

    bool is_given = received && strcmp(received, "Fraction") == 0;
    bool has_fraction = read_times(pod, KEY_GPU_FRACTION, devices, &amount, &facts->problem);
    if (has_fraction)
        resource_sum_add_one(lists, &asked, RESOURCE_GPU, amount);
    if (has_fraction && is_given)
        resource_sum_add_one(lists, &given, RESOURCE_GPU, amount);
    if (read_times(pod, KEY_GPU_MEMORY, devices, &amount, &facts->problem)) {
        resource_sum_add_one(lists, &asked, RESOURCE_GPU_MEMORY, amount);
        if (is_given && !has_fraction)
            facts->memory_mib = (int64_t)(amount.nano / QUANTITY_NANO_PER_ONE);
    }
    facts->asked = resource_sum_list(lists, &asked);
    if (facts->is_allocated)
        facts->given = resource_sum_list(lists, &given);
    else
        facts->memory_mib = 0;
    resource_sum_done(&asked);
    resource_sum_done(&given);
}

/* The name of the claim that was made from a template for the pod; NULL: none yet. */
static const char *made_claim(yyjson_val *pod, const char *name)
{
    yyjson_val *made = member(member(pod, "status"), "resourceClaimStatuses");
    size_t i, max;
    yyjson_val *one;

    yyjson_arr_foreach(made, i, max, one)
    {
        if (strcmp(kube_text(one, "name"), name) == 0)
            return yyjson_get_str(member(one, "resourceClaimName"));
    }
    return NULL;
}

void pod_claim_names(yyjson_val *pod, struct claim_names *names)
{
    yyjson_val *claims = member(member(pod, "spec"), "resourceClaims");
    size_t i, max;
    yyjson_val *claim;

    yyjson_arr_foreach(claims, i, max, claim)
    {
        const char *name = yyjson_get_str(member(claim, "resourceClaimName"));

        if (!name)
            name = made_claim(pod, kube_text(claim, "name"));
        if (name && *name && names->len < CLAIMS_MAX)
            vec_push(names, name);
    }
}

static bool is_gpu_class(const char *name)
{
    for (; *name; name++) {
        if (tolower((unsigned char)name[0]) == 'g' && tolower((unsigned char)name[1]) == 'p' &&
            tolower((unsigned char)name[2]) == 'u')
            return true;
    }
    return false;
}

/* How many devices a request is counted as; all that there are, whose number nobody knows yet, as one. */
static int64_t request_devices(yyjson_val *request)
{
    const char *mode = kube_text(request, "allocationMode");
    yyjson_val *count = member(request, "count");

    if (strcmp(mode, "All") == 0)
        return 1;
    if (*mode && strcmp(mode, "ExactCount") != 0)
        return 0;
    return yyjson_is_uint(count) && yyjson_get_uint(count) > 0
               ? (int64_t)MIN(yyjson_get_uint(count), (uint64_t)INT64_MAX)
               : 1;
}

const struct resource_list *claim_devices(struct resource_lists *lists, yyjson_val *claim)
{
    yyjson_val *requests = member(member(member(claim, "spec"), "devices"), "requests");
    const char *synthetic = annotation(claim, KEY_SYNTHETIC_CLAIM);
    const char *class = NULL;
    struct resource_sum sum = {0};
    size_t i, max;
    yyjson_val *request;

    /* The GPUs of a claim that was made for an extended resource are in the requests of the containers already. */
    if (synthetic && strcmp(synthetic, "true") == 0)
        return NULL;
    yyjson_arr_foreach(requests, i, max, request)
    {
        yyjson_val *exactly = member(request, "exactly");
        yyjson_val *at = exactly ? exactly : request;
        int64_t devices = request_devices(at);

        if (!is_gpu_class(kube_text(at, "deviceClassName")) || devices == 0)
            continue;
        /* All of a claim counts under its first class of GPUs: quotas see it so. */
        class = class ? class : kube_text(at, "deviceClassName");
        resource_sum_add_one(lists, &sum, class, (struct quantity){.nano = devices * QUANTITY_NANO_PER_ONE});
    }
    const struct resource_list *list = resource_sum_list(lists, &sum);
    resource_sum_done(&sum);
    return list;
}

/* The number in a label such as "beta.amd.com/gpu.vram.16G", as MiB as KAI counts them: 10^6 bytes. */
static int64_t amd_memory(const char *key)
{
    const char *digits = strpbrk(key, "0123456789");
    int64_t bytes = 0;

    if (!digits || quantity_parse(digits, QUANTITY_ONE, &bytes, NULL) < 0)
        return 0;
    return bytes / 1000000;
}

int64_t node_gpu_memory(yyjson_val *node)
{
    yyjson_val *labels = member(member(node, "metadata"), "labels");
    const char *nvidia = yyjson_get_str(member(labels, KEY_NODE_GPU_MEMORY));
    int64_t mib = 0, amd_mib = 0;
    size_t i, max;
    yyjson_val *key, *value;

    if (nvidia && !int_parse(nvidia, 1, MEMORY_MIB_MAX, &mib))
        return 0;
    yyjson_obj_foreach(labels, i, max, key, value)
    {
        if (amd_mib == 0 && strncmp(yyjson_get_str(key), KEY_AMD_MEMORY_PREFIX, strlen(KEY_AMD_MEMORY_PREFIX)) == 0)
            amd_mib = amd_memory(yyjson_get_str(key));
    }
    return mib && amd_mib ? 0 : mib + amd_mib;
}

struct quantity memory_share(int64_t memory_mib, int64_t gpu_mib)
{
    return (struct quantity){.nano = (memory_mib * QUANTITY_NANO_PER_ONE + gpu_mib - 1) / gpu_mib};
}
