/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/template.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "console/workloads/kinds.h"
#include "console/workloads/make/distributed.h"
#include "console/workloads/make/volumes.h"
#include "console/workloads/make/words.h"
#include "console/workloads/spec.h"
#include "objects/keys.h"
#include "text/quantity.h"

#define GPU_RESOURCE "nvidia.com/gpu"
#define NODE_TYPE_LABEL "run.ai/type"

enum { NUMBER_TEXT_MAX = 32, BYTES_PER_MIB = 1 << 20 };

static const char *text_in(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

static void copy(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *value)
{
    if (value)
        (void)yyjson_mut_obj_add_val(doc, to, key, yyjson_val_mut_copy(doc, value));
}

/* --- metadata --- */

void template_labels(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *labels)
{
    bool is_preemptible = yyjson_get_bool(yyjson_obj_get(item, "preemptible"));

    put_text(doc, labels, KEY_PROJECT, text_in(item, "projectName"));
    put_text(doc, labels, KEY_PRIORITY_CLASS, text_in(item, "priorityClassName"));
    put_text(doc, labels, KEY_PREEMPTIBILITY, is_preemptible ? "preemptible" : "non-preemptible");
    if (*text_in(item, "nodePool"))
        put_text(doc, labels, POOL_LABEL, text_in(item, "nodePool"));
}

static void put_pairs(yyjson_mut_doc *doc, yyjson_val *list, yyjson_mut_val *to)
{
    yyjson_val *pair;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(list, &iter);
    while ((pair = yyjson_arr_iter_next(&iter))) {
        yyjson_mut_val *key = yyjson_mut_strcpy(doc, text_in(pair, "name"));

        (void)yyjson_mut_obj_put(to, key, yyjson_mut_strcpy(doc, text_in(pair, "value")));
    }
}

static void put_gpu_annotations(yyjson_mut_doc *doc, const struct gpu_ask *ask, yyjson_mut_val *annotations)
{
    char text[NUMBER_TEXT_MAX];

    if (ask->devices > 0 && ask->memory > 0) {
        (void)snprintf(text, sizeof text, "%lld", (long long)((ask->memory + BYTES_PER_MIB - 1) / BYTES_PER_MIB));
        put_text(doc, annotations, KEY_GPU_MEMORY, text);
    } else if (ask->devices > 0 && ask->portion < 1) {
        (void)snprintf(text, sizeof text, "%.6g", ask->portion);
        put_text(doc, annotations, KEY_GPU_FRACTION, text);
        (void)snprintf(text, sizeof text, "%lld", (long long)ask->devices);
        if (ask->devices > 1)
            put_text(doc, annotations, KEY_GPU_DEVICES, text);
    }
}

static void encode_metadata(yyjson_mut_doc *doc, yyjson_val *item, const struct gpu_ask *ask, yyjson_mut_val *to)
{
    yyjson_val *spec = yyjson_obj_get(item, "spec");
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, to, "metadata");
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, metadata, "labels");
    yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(doc, metadata, "annotations");

    put_pairs(doc, yyjson_obj_get(spec, "labels"), labels);
    put_text(doc, labels, OBJECT_LABEL_ID, text_in(item, "id"));
    put_text(doc, labels, OBJECT_LABEL_KIND, ITEM_WORKLOAD);
    template_labels(doc, item, labels);
    put_pairs(doc, yyjson_obj_get(spec, "annotations"), annotations);
    put_gpu_annotations(doc, ask, annotations);
}

/* --- the container --- */

static void put_amount(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *cores)
{
    char text[QUANTITY_TEXT_MAX];

    if (cores && yyjson_get_num(cores) > 0)
        put_text(doc, to, key, quantity_format((int64_t)ceil(yyjson_get_num(cores) * 1000), QUANTITY_MILLI, text));
}

static void encode_resources(yyjson_mut_doc *doc, yyjson_val *compute, const struct gpu_ask *ask,
                             yyjson_mut_val *container)
{
    yyjson_mut_val *resources = yyjson_mut_obj_add_obj(doc, container, "resources");
    yyjson_mut_val *requests = yyjson_mut_obj_add_obj(doc, resources, "requests");
    yyjson_mut_val *limits = yyjson_mut_obj_add_obj(doc, resources, "limits");
    yyjson_val *extended;
    yyjson_arr_iter iter;
    char text[NUMBER_TEXT_MAX];

    put_amount(doc, requests, "cpu", yyjson_obj_get(compute, "cpuCoreRequest"));
    put_amount(doc, limits, "cpu", yyjson_obj_get(compute, "cpuCoreLimit"));
    copy(doc, requests, "memory", yyjson_obj_get(compute, "cpuMemoryRequest"));
    copy(doc, limits, "memory", yyjson_obj_get(compute, "cpuMemoryLimit"));
    if (ask->devices > 0 && ask->memory == 0 && ask->portion >= 1) {
        (void)snprintf(text, sizeof text, "%lld", (long long)ask->devices);
        put_text(doc, limits, GPU_RESOURCE, text);
    }
    yyjson_arr_iter_init(yyjson_obj_get(compute, "extendedResources"), &iter);
    while ((extended = yyjson_arr_iter_next(&iter)))
        (void)yyjson_mut_obj_put(limits, yyjson_mut_strcpy(doc, text_in(extended, "resource")),
                                 yyjson_mut_strcpy(doc, text_in(extended, "quantity")));
}

static void put_variable(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name, const char *value)
{
    yyjson_mut_val *variable = yyjson_mut_arr_add_obj(doc, list);

    put_text(doc, variable, "name", name);
    put_text(doc, variable, "value", value);
}

static void put_field_variable(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name, const char *path)
{
    yyjson_mut_val *variable = yyjson_mut_arr_add_obj(doc, list);

    put_text(doc, variable, "name", name);
    yyjson_mut_val *from = yyjson_mut_obj_add_obj(doc, variable, "valueFrom");
    put_text(doc, yyjson_mut_obj_add_obj(doc, from, "fieldRef"), "fieldPath", path);
}

static void put_key_variable(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name, const char *kind,
                             yyjson_val *from)
{
    yyjson_mut_val *variable = yyjson_mut_arr_add_obj(doc, list);

    put_text(doc, variable, "name", name);
    yyjson_mut_val *ref = yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, variable, "valueFrom"), kind);
    put_text(doc, ref, "name", text_in(from, "name"));
    put_text(doc, ref, "key", text_in(from, "key"));
}

/* What Run:ai gives all containers, then what the workload says. */
static void encode_variables(yyjson_mut_doc *doc, yyjson_val *item, const struct gpu_ask *ask,
                             yyjson_mut_val *container)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, container, "env");
    yyjson_val *given;
    yyjson_arr_iter iter;
    char text[NUMBER_TEXT_MAX];

    (void)snprintf(text, sizeof text, "%.6g", gpu_ask_total(ask));
    put_variable(doc, list, "RUNAI_PROJECT", text_in(item, "projectName"));
    put_variable(doc, list, "RUNAI_JOB_NAME", text_in(item, "name"));
    put_variable(doc, list, "JOB_NAME", text_in(item, "name"));
    put_variable(doc, list, "JOB_UUID", text_in(item, "id"));
    put_variable(doc, list, "RUNAI_NUM_OF_GPUS", text);
    put_field_variable(doc, list, "NODE_NAME", "spec.nodeName");
    distributed_encode_variables(doc, item, list);
    yyjson_arr_iter_init(yyjson_ptr_get(item, "/spec/environmentVariables"), &iter);
    while ((given = yyjson_arr_iter_next(&iter))) {
        const char *name = text_in(given, "name");
        yyjson_val *field = yyjson_obj_get(given, "podFieldRef");

        if (yyjson_obj_get(given, "secret"))
            put_key_variable(doc, list, name, "secretKeyRef", yyjson_obj_get(given, "secret"));
        else if (yyjson_obj_get(given, "configMap"))
            put_key_variable(doc, list, name, "configMapKeyRef", yyjson_obj_get(given, "configMap"));
        else if (field)
            put_field_variable(doc, list, name, text_in(field, "path"));
        else
            put_variable(doc, list, name, text_in(given, "value"));
    }
}

static int encode_words(yyjson_mut_doc *doc, yyjson_val *spec, const char *key, yyjson_mut_val *container,
                        struct err *err)
{
    yyjson_mut_val *list = NULL;
    int r = *text_in(spec, key) ? words_split(doc, text_in(spec, key), &list, err) : 0;

    if (list)
        (void)yyjson_mut_obj_add_val(doc, container, key, list);
    return r;
}

static void encode_probe(yyjson_mut_doc *doc, yyjson_val *probe, yyjson_mut_val *container)
{
    static const char *const members[] = {"initialDelaySeconds", "periodSeconds", "timeoutSeconds", "successThreshold",
                                          "failureThreshold"};

    if (!probe)
        return;
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, container, "readinessProbe");
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        copy(doc, to, members[i], yyjson_obj_get(probe, members[i]));
    copy(doc, to, "httpGet", yyjson_ptr_get(probe, "/handler/httpGet"));
}

static void encode_container_security(yyjson_mut_doc *doc, yyjson_val *security, yyjson_mut_val *container)
{
    yyjson_val *capabilities = yyjson_obj_get(security, "capabilities");

    if (!security)
        return;
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, container, "securityContext");
    copy(doc, to, "allowPrivilegeEscalation", yyjson_obj_get(security, "allowPrivilegeEscalation"));
    copy(doc, to, "readOnlyRootFilesystem", yyjson_obj_get(security, "readOnlyRootFilesystem"));
    if (capabilities)
        copy(doc, yyjson_mut_obj_add_obj(doc, to, "capabilities"), "add", capabilities);
}

static int encode_container(yyjson_mut_doc *doc, yyjson_val *item, const struct gpu_ask *ask, yyjson_mut_val *pod,
                            struct err *err)
{
    static const char *const members[] = {"image", "imagePullPolicy", "stdin", "tty", "workingDir"};
    yyjson_val *spec = yyjson_obj_get(item, "spec");
    yyjson_mut_val *container = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, pod, "containers"));
    int r;

    put_text(doc, container, "name", text_in(item, "name"));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        copy(doc, container, members[i], yyjson_obj_get(spec, members[i]));
    if ((r = encode_words(doc, spec, "command", container, err)) < 0 ||
        (r = encode_words(doc, spec, "args", container, err)) < 0)
        return r;
    encode_variables(doc, item, ask, container);
    encode_resources(doc, yyjson_obj_get(spec, "compute"), ask, container);
    encode_probe(doc, yyjson_ptr_get(spec, "/probes/readiness"), container);
    encode_container_security(doc, yyjson_obj_get(spec, "security"), container);
    volumes_encode(doc, spec, pod, container);
    return 0;
}

/* --- the pod --- */

/* "1000,1001". */
static void put_groups(yyjson_mut_doc *doc, const char *text, yyjson_mut_val *to)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "supplementalGroups");

    while (*text) {
        char *end = NULL;
        long long group = strtoll(text, &end, 10);

        if (end == text)
            return;
        (void)yyjson_mut_arr_add_sint(doc, list, group);
        text = end + strspn(end, ", ");
    }
}

static void encode_pod_security(yyjson_mut_doc *doc, yyjson_val *security, yyjson_mut_val *pod)
{
    yyjson_val *profile = yyjson_obj_get(security, "seccompProfileType");

    if (!security)
        return;
    copy(doc, pod, "hostIPC", yyjson_obj_get(security, "hostIpc"));
    copy(doc, pod, "hostNetwork", yyjson_obj_get(security, "hostNetwork"));
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, pod, "securityContext");
    copy(doc, to, "runAsUser", yyjson_obj_get(security, "runAsUid"));
    copy(doc, to, "runAsGroup", yyjson_obj_get(security, "runAsGid"));
    copy(doc, to, "runAsNonRoot", yyjson_obj_get(security, "runAsNonRoot"));
    if (*text_in(security, "supplementalGroups"))
        put_groups(doc, text_in(security, "supplementalGroups"), to);
    if (profile)
        copy(doc, yyjson_mut_obj_add_obj(doc, to, "seccompProfile"), "type", profile);
}

static void encode_tolerations(yyjson_mut_doc *doc, yyjson_val *list, yyjson_mut_val *pod)
{
    yyjson_mut_val *to = yyjson_mut_obj_add_arr(doc, pod, "tolerations");
    yyjson_val *given;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(list, &iter);
    while ((given = yyjson_arr_iter_next(&iter))) {
        yyjson_mut_val *toleration = yyjson_mut_arr_add_obj(doc, to);
        const char *effect = text_in(given, "effect");

        copy(doc, toleration, "key", yyjson_obj_get(given, "key"));
        copy(doc, toleration, "operator", yyjson_obj_get(given, "operator"));
        copy(doc, toleration, "value", yyjson_obj_get(given, "value"));
        copy(doc, toleration, "tolerationSeconds", yyjson_obj_get(given, "seconds"));
        if (*effect && strcmp(effect, "Any") != 0)
            put_text(doc, toleration, "effect", effect);
    }
}

/* The pods of a workload beside each other. */
static void encode_pod_affinity(yyjson_mut_doc *doc, yyjson_val *item, yyjson_val *given, yyjson_mut_val *affinity)
{
    bool is_required = strcmp(text_in(given, "type"), "Required") == 0;
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, affinity, "podAffinity");
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to,
                                                  is_required ? "requiredDuringSchedulingIgnoredDuringExecution"
                                                              : "preferredDuringSchedulingIgnoredDuringExecution");
    yyjson_mut_val *term = yyjson_mut_arr_add_obj(doc, list);

    if (!is_required) {
        (void)yyjson_mut_obj_add_int(doc, term, "weight", 100);
        term = yyjson_mut_obj_add_obj(doc, term, "podAffinityTerm");
    }
    put_text(doc, term, "topologyKey", text_in(given, "key"));
    yyjson_mut_val *selector = yyjson_mut_obj_add_obj(doc, term, "labelSelector");
    put_text(doc, yyjson_mut_obj_add_obj(doc, selector, "matchLabels"), OBJECT_LABEL_ID, text_in(item, "id"));
}

static void encode_placement(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *pod)
{
    yyjson_val *spec = yyjson_obj_get(item, "spec");
    yyjson_val *terms = yyjson_ptr_get(spec, "/nodeAffinityRequired/nodeSelectorTerms");
    yyjson_val *beside = yyjson_obj_get(spec, "podAffinity");
    yyjson_mut_val *affinity = yyjson_mut_obj(doc);

    if (*text_in(spec, "nodeType"))
        put_text(doc, yyjson_mut_obj_add_obj(doc, pod, "nodeSelector"), NODE_TYPE_LABEL, text_in(spec, "nodeType"));
    if (yyjson_obj_get(spec, "tolerations"))
        encode_tolerations(doc, yyjson_obj_get(spec, "tolerations"), pod);
    if (terms) {
        yyjson_mut_val *node = yyjson_mut_obj_add_obj(doc, affinity, "nodeAffinity");

        copy(doc, yyjson_mut_obj_add_obj(doc, node, "requiredDuringSchedulingIgnoredDuringExecution"),
             "nodeSelectorTerms", terms);
    }
    if (*text_in(beside, "key"))
        encode_pod_affinity(doc, item, beside, affinity);
    if (yyjson_mut_obj_size(affinity) > 0)
        (void)yyjson_mut_obj_add_val(doc, pod, "affinity", affinity);
}

static const char *restart_policy(yyjson_val *item)
{
    const char *given = text_in(yyjson_obj_get(item, "spec"), "restartPolicy");

    if (workload_kind_find(text_in(item, "type"))->is_server)
        return "Always";
    return *given ? given : "Never";
}

int template_encode(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *to, struct err *err)
{
    yyjson_val *spec = yyjson_obj_get(item, "spec");
    yyjson_val *pull;
    yyjson_arr_iter iter;
    struct gpu_ask ask;
    int r = spec_gpus(yyjson_obj_get(spec, "compute"), &ask, err);

    if (r < 0)
        return r;
    encode_metadata(doc, item, &ask, to);
    yyjson_mut_val *pod = yyjson_mut_obj_add_obj(doc, to, "spec");
    put_text(doc, pod, "schedulerName", KEY_SCHEDULER_NAME);
    put_text(doc, pod, "restartPolicy", restart_policy(item));
    copy(doc, pod, "terminationGracePeriodSeconds", yyjson_obj_get(spec, "terminationGracePeriodSeconds"));
    if ((r = encode_container(doc, item, &ask, pod, err)) < 0)
        return r;
    encode_pod_security(doc, yyjson_obj_get(spec, "security"), pod);
    encode_placement(doc, item, pod);
    yyjson_mut_val *pulls = yyjson_mut_obj_add_arr(doc, pod, "imagePullSecrets");
    yyjson_arr_iter_init(yyjson_obj_get(spec, "imagePullSecrets"), &iter);
    while ((pull = yyjson_arr_iter_next(&iter)))
        copy(doc, yyjson_mut_arr_add_obj(doc, pulls), "name", yyjson_obj_get(pull, "name"));
    return 0;
}
