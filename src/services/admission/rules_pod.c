/* SPDX-License-Identifier: Apache-2.0 */

/* Which pods are admitted: requests for parts of GPUs that make sense, and no devices of one's own choice. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "kube/client/meta.h"
#include "kube/sharing.h"
#include "objects/keys.h"
#include "services/admission/pod_facts.h"
#include "services/admission/rules.h"
#include "text/quantity.h"

#define KEY_MPS "mps"
#define AT_ANNOTATION(key) "metadata.annotations[\"" key "\"]"

/* What a pod asks for in its annotations; NULL where it does not. */
struct gpu_words {
    const char *fraction;
    const char *memory;
    const char *devices;
    bool wants_mps;
};

/* Where a list of containers limits whole GPUs: the index of the first container, or -1. */
static int64_t find_limit(yyjson_val *pod, const char *list)
{
    yyjson_val *container;
    size_t i, max;

    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(pod, "spec"), list), i, max, container)
    {
        yyjson_val *limits = yyjson_obj_get(yyjson_obj_get(container, "resources"), "limits");

        if (yyjson_obj_get(limits, "nvidia.com/gpu"))
            return (int64_t)i;
    }
    return -1;
}

/* Denies a part of a GPU beside whole ones. Returns whether it did. */
static bool check_limits(yyjson_val *pod, const struct gpu_words *words, struct admission_verdict *verdict)
{
    for (size_t i = POD_LISTS; i > 0; i--) {
        const char *list = pod_lists[i - 1];
        int64_t index = find_limit(pod, list);

        if (index < 0)
            continue;
        if (words->fraction)
            admission_deny(verdict,
                           "cannot have both GPU fraction request and whole GPU resource request/limit: "
                           "spec.%s[%lld].resources.limits[\"nvidia.com/gpu\"] and " AT_ANNOTATION(
                               KEY_GPU_FRACTION) " are both set. Keep one of them: the annotation for a part of a GPU, "
                                                 "the limit for whole GPUs",
                           list, (long long)index);
        else if (words->memory)
            admission_deny(verdict,
                           "cannot request both GPU and GPU memory: "
                           "spec.%s[%lld].resources.limits[\"nvidia.com/gpu\"] and " AT_ANNOTATION(
                               KEY_GPU_MEMORY) " are both set. Keep one of them: the annotation for a part of a GPU, "
                                               "the limit for whole GPUs",
                           list, (long long)index);
        return verdict->is_denied;
    }
    return false;
}

/* Denies annotations that contradict each other. Returns whether it did. */
static bool check_combination(yyjson_val *pod, const struct gpu_words *words, struct admission_verdict *verdict)
{
    bool is_shared = words->fraction || words->memory;

    if (!is_shared && words->wants_mps)
        admission_deny(verdict, "MPS is only supported with GPU fraction request: " AT_ANNOTATION(
                                    KEY_MPS) " is \"true\" on a pod that asks for no part of a GPU. Add the annotation "
                                             "gpu-fraction, for example \"0.5\", or remove mps");
    else if (check_limits(pod, words, verdict))
        return true;
    else if (words->fraction && words->memory)
        admission_deny(verdict,
                       "cannot request both GPU and GPU memory: " AT_ANNOTATION(KEY_GPU_FRACTION) " and " AT_ANNOTATION(
                           KEY_GPU_MEMORY) " are both set. Keep one of "
                                           "them");
    else if (words->devices && !is_shared)
        admission_deny(verdict, "cannot request multiple fractional devices without specifying fraction portion or "
                                "gpu-memory: " AT_ANNOTATION(
                                    KEY_GPU_DEVICES) " says on how many GPUs, nothing says how much of each. Add the "
                                                     "annotation gpu-fraction, "
                                                     "for example \"0.5\", or gpu-memory in MiB, or remove it");
    return verdict->is_denied;
}

/* A whole number above 0 that fits into 64 bits, of digits alone. */
static bool is_positive(const char *text)
{
    char *end;

    if (!*text || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    return strtoull(text, &end, 10) > 0 && errno == 0;
}

static void check_fraction(const char *fraction, struct admission_verdict *verdict)
{
    char shown[ADMISSION_TEXT_MAX];
    char *end = NULL;
    int64_t amount;
    bool is_spaced = strchr(" \t\n\v\f\r", *fraction);
    double portion = is_spaced ? 0 : strtod(fraction, &end);

    if (is_spaced || *end || portion <= 0 || portion >= 1)
        admission_deny(
            verdict,
            "gpu-fraction annotation value must be a positive number smaller than 1.0: " AT_ANNOTATION(
                KEY_GPU_FRACTION) " is \"%s\". Write for example \"0.5\" for a half; for whole GPUs, remove the "
                                  "annotation and set the resource limit nvidia.com/gpu",
            admission_text(fraction, shown));
    else if (quantity_parse(fraction, QUANTITY_MILLI, &amount, NULL) < 0)
        admission_deny(verdict,
                       "gpu-fraction annotation value must be a float written with a decimal point or a scientific "
                       "notation .given value: %s. Write for example \"0.5\" in " AT_ANNOTATION(KEY_GPU_FRACTION),
                       admission_text(fraction, shown));
}

static void check_values(const struct gpu_words *words, struct admission_verdict *verdict)
{
    char shown[ADMISSION_TEXT_MAX];

    if (words->memory && !is_positive(words->memory))
        admission_deny(
            verdict,
            "gpu-memory annotation value must be a positive integer greater than 0: " AT_ANNOTATION(
                KEY_GPU_MEMORY) " is \"%s\". Write the number of MiB without a unit, for example \"4096\" for "
                                "4 GiB",
            admission_text(words->memory, shown));
    else if (words->fraction)
        check_fraction(words->fraction, verdict);
    if (verdict->is_denied)
        return;
    if (words->devices && !is_positive(words->devices))
        admission_deny(
            verdict,
            "fraction count annotation value must be a positive integer greater than 0: " AT_ANNOTATION(
                KEY_GPU_DEVICES) " is \"%s\". Write the number of GPUs, for example \"2\", or remove it for one",
            admission_text(words->devices, shown));
}

static void check_sharing(const struct admission_rules *rules, const struct admission_request *request,
                          struct admission_verdict *verdict)
{
    yyjson_val *pod = request->object;
    const char *mps = pod_annotation(pod, KEY_MPS);
    const char *name = kube_text(pod, "metadata", "name");
    char namespace[ADMISSION_TEXT_MAX];
    char shown[ADMISSION_TEXT_MAX];
    const struct gpu_words words = {
        .fraction = pod_annotation(pod, KEY_GPU_FRACTION),
        .memory = pod_annotation(pod, KEY_GPU_MEMORY),
        .devices = pod_annotation(pod, KEY_GPU_DEVICES),
        .wants_mps = mps && strcmp(mps, "true") == 0,
    };

    if (!*name)
        name = kube_text(pod, "metadata", "generateName");
    if (!rules->shares_gpus && pod_shares_gpu(pod))
        admission_deny(verdict,
                       "attempting to create a pod %s/%s with gpu sharing request, while GPU sharing is disabled: "
                       "metadata.annotations[\"%s\"] asks for a part of a GPU. Remove it and set the resource limit "
                       "nvidia.com/gpu, or have GPU sharing enabled (chart value global.gpuSharing)",
                       admission_text(request->namespace, namespace), admission_text(name, shown),
                       words.fraction ? KEY_GPU_FRACTION : KEY_GPU_MEMORY);
    else if (!check_combination(pod, &words, verdict))
        check_values(&words, verdict);
}

/* The container that the part of a GPU is for has to be there. */
static void check_container(yyjson_val *pod, struct admission_verdict *verdict)
{
    struct sharing_container container;

    if (pod_shares_gpu(pod) && yyjson_arr_size(yyjson_obj_get(yyjson_obj_get(pod, "spec"), "containers")) > 0 &&
        sharing_container(pod, &container, NULL) < 0)
        deny_container(pod, verdict);
}

static void check_visible_devices(yyjson_val *env, const char *container, const char *list, size_t index,
                                  struct admission_verdict *verdict)
{
    const char *value = kube_text(env, "value");
    char name[ADMISSION_TEXT_MAX];
    char shown[ADMISSION_TEXT_MAX];

    (void)admission_text(container, name);
    if (*value && strcmp(value, "void") != 0 && strcmp(value, "none") != 0)
        admission_deny(verdict,
                       "container %s has an environment variable NVIDIA_VISIBLE_DEVICES defined with a value of %s. "
                       "This is forbidden "
                       "due to conflicts with Nvidia's device plugin. The only values that are allowed are 'void' or "
                       "'none': remove "
                       "the variable from spec.%s[%zu].env, and ask for GPUs by the resource limit nvidia.com/gpu or "
                       "the annotation "
                       "gpu-fraction",
                       name, admission_text(value, shown), list, index);
    else if (!*value && yyjson_is_obj(yyjson_obj_get(env, "valueFrom")))
        admission_deny(verdict,
                       "container %s has an environment variable NVIDIA_VISIBLE_DEVICES defined with a valueFrom "
                       "reference. This is forbidden due to possible conflicts with Nvidia's device plugin: remove the "
                       "variable from spec.%s[%zu].env, and ask for GPUs by the resource limit nvidia.com/gpu or the "
                       "annotation gpu-fraction",
                       name, list, index);
}

/* The first container that chooses its devices is told of. */
static void check_devices_in(yyjson_val *pod, const char *list, const struct sharing_container *sharer,
                             struct admission_verdict *verdict)
{
    yyjson_val *container, *env;
    size_t i, max, j, env_max;

    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(pod, "spec"), list), i, max, container)
    {
        if (container == sharer->container)
            continue;
        yyjson_arr_foreach(yyjson_obj_get(container, "env"), j, env_max, env)
        {
            if (strcmp(kube_text(env, "name"), ENV_VISIBLE_DEVICES) == 0)
                check_visible_devices(env, kube_text(container, "name"), list, i, verdict);
            if (verdict->is_denied)
                return;
        }
    }
}

static void check_devices(yyjson_val *pod, struct admission_verdict *verdict)
{
    struct sharing_container sharer = {0};

    if (pod_shares_gpu(pod) && sharing_container(pod, &sharer, NULL) < 0)
        sharer = (struct sharing_container){0};
    for (size_t i = 0; i < POD_LISTS && !verdict->is_denied; i++)
        check_devices_in(pod, pod_lists[i], &sharer, verdict);
}

static void check(const struct admission_rules *rules, const struct admission_request *request,
                  struct admission_verdict *verdict)
{
    if (!pod_is_ours(rules, request->object))
        return;
    check_sharing(rules, request, verdict);
    if (!verdict->is_denied)
        check_container(request->object, verdict);
    if (!verdict->is_denied && rules->blocks_devices)
        check_devices(request->object, verdict);
}

void admission_check_pod(const struct admission_rules *rules, const struct admission_request *request,
                         struct admission_verdict *verdict)
{
    struct admission_verdict before;

    check(rules, request, verdict);
    if (!verdict->is_denied || !request->old)
        return;
    const struct admission_request old = {.namespace = request->namespace, .object = request->old};
    admission_verdict_init(&before);
    check(rules, &old, &before);
    if (before.is_denied && strcmp(before.message.text, verdict->message.text) == 0) {
        strbuf_clear(&verdict->message);
        verdict->is_denied = false;
    }
    admission_verdict_done(&before);
}
