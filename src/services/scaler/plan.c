/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scaler/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "objects/resource_list.h"
#include "text/json.h"

#define KEY_FOR_NAME "shared-gpu-pod-name"
#define KEY_FOR_NAMESPACE "shared-gpu-pod-namespace"
#define RESOURCE_GPU "nvidia.com/gpu"

enum { DEVICES_MAX = 1 << 20, LABEL_MAX = 63 };

void plan_init(struct plan *plan, const struct plan_options *options)
{
    *plan = (struct plan){.options = options};
}

static void sharer_free(struct sharer *sharer)
{
    if (!sharer)
        return;
    free(sharer->namespace);
    free(sharer->name);
    free(sharer->body);
    free(sharer);
}

static void scaling_free(struct scaling_pod *pod)
{
    if (!pod)
        return;
    free(pod->name);
    free(pod->uid);
    free(pod->for_namespace);
    free(pod->for_name);
    free(pod);
}

void plan_done(struct plan *plan)
{
    struct sharer *sharer;
    struct scaling_pod *pod;

    for (size_t cursor = 0; (sharer = strmap_next(&plan->sharers, &cursor));)
        sharer_free(sharer);
    for (size_t cursor = 0; (pod = strmap_next(&plan->pods, &cursor));)
        scaling_free(pod);
    strmap_done(&plan->sharers);
    strmap_done(&plan->pods);
}

void scaling_name(const char *namespace, const char *name, char text[static SCALING_NAME_MAX + 1])
{
    uint64_t hash = hash_str(name, hash_str(namespace, 0));

    (void)snprintf(text, SCALING_NAME_MAX + 1, "%.63s-%.170s-%016" PRIx64, namespace, name, hash);
}

/* Pods that ask for a part of a GPU. */

static const char *annotation(yyjson_val *pod, const char *key)
{
    return kube_text(pod, "metadata", "annotations", key);
}

/* How much of each GPU, in hundredths; 0: none, or what is written cannot be read. */
static int64_t hundredths_of(const struct plan *plan, yyjson_val *pod)
{
    const char *fraction = annotation(pod, KEY_GPU_FRACTION);
    const char *memory = annotation(pod, KEY_GPU_MEMORY);
    struct quantity amount;
    int64_t mib;

    if (*fraction)
        return quantity_parse_exact(fraction, &amount, NULL) == 0 && amount.nano <= QUANTITY_NANO_PER_ONE
                   ? (int64_t)((amount.nano + 5000000) / 10000000)
                   : 0;
    return int_parse(memory, 1, INT64_MAX, &mib) ? (int64_t)round(plan->options->memory_ratio * 100) : 0;
}

static enum sharer_state state_of(yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");
    yyjson_val *conditions = yyjson_ptr_get(pod, "/status/conditions");
    size_t i, max;
    yyjson_val *condition;

    if (*kube_text(pod, "spec", "nodeName") || strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0 ||
        *kube_text(pod, "metadata", "deletionTimestamp"))
        return SHARER_SETTLED;
    yyjson_arr_foreach(conditions, i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), "PodScheduled") != 0)
            continue;
        return strcmp(kube_text(condition, "status"), "False") == 0 &&
                       strcmp(kube_text(condition, "reason"), "Unschedulable") == 0
                   ? SHARER_UNSCHEDULABLE
                   : SHARER_SETTLED;
    }
    return SHARER_UNKNOWN;
}

/* CPU and memory of all containers together, and the GPUs. */
static void add_requests(yyjson_mut_doc *doc, yyjson_mut_val *requests, yyjson_val *pod)
{
    static const char *const names[] = {"cpu", "memory"};
    yyjson_val *containers = yyjson_ptr_get(pod, "/spec/containers");
    struct resource_lists lists;
    struct resource_sum sum = {0};
    size_t i, max;
    yyjson_val *container;

    resource_lists_init(&lists);
    yyjson_arr_foreach(containers, i, max, container)
    {
        const struct resource_list *list =
            resource_list_read(&lists, yyjson_ptr_get(container, "/resources/requests"), NULL);

        resource_sum_add(&sum, list);
        resource_list_unref(&lists, list);
    }
    const struct resource_list *total = resource_sum_list(&lists, &sum);
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        char text[QUANTITY_EXACT_TEXT_MAX];
        struct quantity amount;

        if (resource_list_get(&lists, total, names[n], &amount))
            (void)yyjson_mut_obj_add_strcpy(doc, requests, names[n], quantity_format_exact(&amount, text));
    }
    resource_list_unref(&lists, total);
    resource_sum_done(&sum);
    resource_lists_done(&lists);
}

static void add_metadata(const struct plan *plan, yyjson_mut_doc *doc, yyjson_mut_val *root,
                         const struct sharer *sharer)
{
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, metadata, "labels");
    yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(doc, metadata, "annotations");
    char name[SCALING_NAME_MAX + 1];

    scaling_name(sharer->namespace, sharer->name, name);
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "name", name);
    (void)yyjson_mut_obj_add_str(doc, metadata, "namespace", plan->options->namespace);
    (void)yyjson_mut_obj_add_str(doc, labels, KEY_APP, plan->options->app);
    (void)yyjson_mut_obj_add_str(doc, labels, KEY_FOR_NAMESPACE, sharer->namespace);
    /* A name may be longer than the value of a label. */
    if (strlen(sharer->name) <= LABEL_MAX)
        (void)yyjson_mut_obj_add_str(doc, labels, KEY_FOR_NAME, sharer->name);
    (void)yyjson_mut_obj_add_str(doc, annotations, KEY_FOR_NAMESPACE, sharer->namespace);
    (void)yyjson_mut_obj_add_str(doc, annotations, KEY_FOR_NAME, sharer->name);
}

static void add_copy(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_val *pod, const char *key)
{
    yyjson_val *value = yyjson_obj_get(yyjson_obj_get(pod, "spec"), key);

    if (value)
        (void)yyjson_mut_obj_add_val(doc, spec, key, yyjson_val_mut_copy(doc, value));
}

/* The scaling pod, which ends at once should it ever run: the image's program tells its version. */
static char *body_of(const struct plan *plan, const struct sharer *sharer, yyjson_val *pod)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    char devices[32];

    (void)snprintf(devices, sizeof devices, "%" PRId64, sharer->devices);
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Pod");
    add_metadata(plan, doc, root, sharer);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    add_copy(doc, spec, pod, "affinity");
    add_copy(doc, spec, pod, "tolerations");
    add_copy(doc, spec, pod, "nodeSelector");
    (void)yyjson_mut_obj_add_str(doc, spec, "restartPolicy", "OnFailure");
    (void)yyjson_mut_obj_add_str(doc, spec, "serviceAccountName", plan->options->service_account);
    yyjson_mut_val *container = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, spec, "containers"));
    (void)yyjson_mut_obj_add_str(doc, container, "name", "scaling-pod");
    (void)yyjson_mut_obj_add_str(doc, container, "image", plan->options->image);
    (void)yyjson_mut_obj_add_str(doc, container, "imagePullPolicy", "IfNotPresent");
    (void)yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, container, "args"), "version");
    yyjson_mut_val *resources = yyjson_mut_obj_add_obj(doc, container, "resources");
    yyjson_mut_val *requests = yyjson_mut_obj_add_obj(doc, resources, "requests");
    (void)yyjson_mut_obj_add_strcpy(doc, requests, RESOURCE_GPU, devices);
    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, resources, "limits"), RESOURCE_GPU, devices);
    add_requests(doc, requests, pod);
    char *text = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    return text;
}

void plan_drop_pod(struct plan *plan, const char *namespace, const char *name)
{
    sharer_free(strmap_remove(&plan->sharers, namespace, name));
}

void plan_put_pod(struct plan *plan, yyjson_val *pod)
{
    struct kube_meta meta;
    int64_t hundredths = hundredths_of(plan, pod), devices = 1;
    const char *count = annotation(pod, KEY_GPU_DEVICES);

    if (!kube_meta_read(pod, &meta))
        return;
    if (hundredths <= 0 || (*count && !int_parse(count, 1, DEVICES_MAX, &devices))) {
        plan_drop_pod(plan, meta.namespace, meta.name);
        return;
    }
    struct sharer *sharer = xcalloc(1, sizeof *sharer);
    *sharer = (struct sharer){
        .namespace = xstrdup(meta.namespace),
        .name = xstrdup(meta.name),
        .state = state_of(pod),
        .devices = devices,
        .hundredths = hundredths * devices,
    };
    if (sharer->state == SHARER_UNSCHEDULABLE)
        sharer->body = body_of(plan, sharer, pod);
    sharer_free(strmap_put(&plan->sharers, sharer->namespace, sharer->name, sharer));
}

/* Scaling pods. */

static const char *target_of(yyjson_val *pod, const char *key)
{
    const char *text = kube_text(pod, "metadata", "annotations", key);

    return *text ? text : kube_text(pod, "metadata", "labels", key);
}

static int64_t gpus_of(yyjson_val *pod)
{
    yyjson_val *requests = yyjson_ptr_get(pod, "/spec/containers/0/resources/requests");
    const char *text = yyjson_is_obj(requests) ? yyjson_get_str(yyjson_obj_get(requests, RESOURCE_GPU)) : NULL;
    int64_t gpus = 0;

    return text && quantity_parse(text, QUANTITY_ONE, &gpus, NULL) == 0 ? MIN(gpus, (int64_t)DEVICES_MAX) : 0;
}

void plan_put_scaling(struct plan *plan, yyjson_val *object)
{
    const char *name = kube_text(object, "metadata", "name");
    struct scaling_pod *old = strmap_get(&plan->pods, "", name);
    struct scaling_pod *pod = xcalloc(1, sizeof *pod);

    *pod = (struct scaling_pod){
        .name = xstrdup(name),
        .uid = xstrdup(kube_text(object, "metadata", "uid")),
        .for_namespace = xstrdup(target_of(object, KEY_FOR_NAMESPACE)),
        .for_name = xstrdup(target_of(object, KEY_FOR_NAME)),
        .devices = gpus_of(object),
        .is_over = strcmp(kube_text(object, "status", "phase"), "Succeeded") == 0,
        .is_leaving = (old && old->is_leaving) || *kube_text(object, "metadata", "deletionTimestamp"),
    };
    scaling_free(strmap_put(&plan->pods, "", pod->name, pod));
}

void plan_drop_scaling(struct plan *plan, const char *name)
{
    scaling_free(strmap_remove(&plan->pods, "", name));
}

/* Planning. */

static bool is_needed(const struct plan *plan, const struct scaling_pod *pod)
{
    const struct sharer *sharer = strmap_get(&plan->sharers, pod->for_namespace, pod->for_name);

    return !pod->is_over && sharer && sharer->state != SHARER_SETTLED;
}

struct scaling_pod *plan_next_unneeded(const struct plan *plan)
{
    struct scaling_pod *pod;

    for (size_t cursor = 0; (pod = strmap_next(&plan->pods, &cursor));) {
        if (!pod->is_leaving && !pod->is_expected && !is_needed(plan, pod))
            return pod;
    }
    return NULL;
}

static bool has_scaling_pod(const struct plan *plan, const struct sharer *sharer)
{
    char name[SCALING_NAME_MAX + 1];

    scaling_name(sharer->namespace, sharer->name, name);
    return strmap_get(&plan->pods, "", name) != NULL;
}

static int compare(const struct sharer *one, const struct sharer *other)
{
    int order = strcmp(one->namespace, other->namespace);

    return order ? order : strcmp(one->name, other->name);
}

struct sharer *plan_next_missing(const struct plan *plan)
{
    int64_t needed = 0, planned = 0, largest = 0;
    const struct scaling_pod *pod;
    struct sharer *sharer, *first = NULL;

    for (size_t cursor = 0; (pod = strmap_next(&plan->pods, &cursor));) {
        planned += pod->is_leaving ? 0 : pod->devices;
        largest = pod->is_leaving ? largest : MAX(largest, pod->devices);
    }
    for (size_t cursor = 0; (sharer = strmap_next(&plan->sharers, &cursor));)
        needed += sharer->state == SHARER_UNSCHEDULABLE ? sharer->hundredths : 0;
    for (size_t cursor = 0; (sharer = strmap_next(&plan->sharers, &cursor));) {
        if (sharer->state != SHARER_UNSCHEDULABLE || has_scaling_pod(plan, sharer))
            continue;
        if ((needed + 99) / 100 <= planned && sharer->devices <= largest)
            continue;
        if (!first || compare(sharer, first) < 0)
            first = sharer;
    }
    return first;
}

void plan_expect(struct plan *plan, const struct sharer *sharer)
{
    struct scaling_pod *pod = xcalloc(1, sizeof *pod);
    char name[SCALING_NAME_MAX + 1];

    scaling_name(sharer->namespace, sharer->name, name);
    *pod = (struct scaling_pod){
        .name = xstrdup(name),
        .uid = xstrdup(""),
        .for_namespace = xstrdup(sharer->namespace),
        .for_name = xstrdup(sharer->name),
        .devices = sharer->devices,
        .is_expected = true,
    };
    scaling_free(strmap_put(&plan->pods, "", pod->name, pod));
}

void plan_expect_not(struct plan *plan, const char *name)
{
    const struct scaling_pod *pod = strmap_get(&plan->pods, "", name);

    if (pod && pod->is_expected)
        plan_drop_scaling(plan, name);
}
