/* SPDX-License-Identifier: Apache-2.0 */

/* What a remedy changes in the pod templates of a workload, as operations of a JSON patch. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "model/state.h"
#include "objects/keys.h"
#include "sim/why/why_patch_internal.h"

enum { PATH_MAX_BYTES = 512 };
#define GPU_RESOURCE "nvidia.com/gpu"

static const char *below(char path[static PATH_MAX_BYTES], const struct pod_template *template, const char *const *keys,
                         size_t count)
{
    (void)snprintf(path, PATH_MAX_BYTES, "%s", template->path);
    for (size_t i = 0; i < count; i++)
        json_pointer_add(path, PATH_MAX_BYTES, keys[i]);
    return path;
}
#define BELOW(path, template, ...)                                \
    below((path), (template), (const char *const[]){__VA_ARGS__}, \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Sets a resource in every container that asks for it, in limits and requests. */
static void set_resource(struct patcher *p, const struct pod_template *template, const char *resource,
                         const char *value)
{
    static const char *const parts[] = {"limits", "requests"};
    yyjson_val *containers = yyjson_obj_get(yyjson_obj_get(template->value, "spec"), "containers");
    size_t index;
    size_t max;
    yyjson_val *container;
    char path[PATH_MAX_BYTES];
    char number[24];

    yyjson_arr_foreach(containers, index, max, container)
    {
        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
            if (!yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(container, "resources"), parts[i]), resource))
                continue;
            (void)snprintf(number, sizeof number, "%zu", index);
            patch_add_operation(p, value ? "replace" : "remove",
                                BELOW(path, template, "spec", "containers", number, "resources", parts[i], resource),
                                value);
        }
    }
}

/* An annotation of the template, whether it has any yet or not. */
static void set_annotation(struct patcher *p, const struct pod_template *template, const char *key, const char *value)
{
    yyjson_val *meta = yyjson_obj_get(template->value, "metadata");
    char path[PATH_MAX_BYTES];
    char object[PATH_MAX_BYTES];

    if (!meta) {
        (void)snprintf(object, sizeof object, "{\"annotations\":{\"%s\":\"%s\"}}", key, value);
        patch_add_operation(p, "add", BELOW(path, template, "metadata"), object);
    } else if (!yyjson_obj_get(meta, "annotations")) {
        (void)snprintf(object, sizeof object, "{\"%s\":\"%s\"}", key, value);
        patch_add_operation(p, "add", BELOW(path, template, "metadata", "annotations"), object);
    } else {
        (void)snprintf(object, sizeof object, "\"%s\"", value);
        patch_add_operation(p, "add", BELOW(path, template, "metadata", "annotations", key), object);
    }
}

static void drop_node_limits(struct patcher *p, const struct pod_template *template)
{
    yyjson_val *spec = yyjson_obj_get(template->value, "spec");
    yyjson_val *of_nodes = yyjson_obj_get(yyjson_obj_get(spec, "affinity"), "nodeAffinity");
    char path[PATH_MAX_BYTES];

    if (yyjson_obj_get(spec, "nodeSelector"))
        patch_add_operation(p, "remove", BELOW(path, template, "spec", "nodeSelector"), NULL);
    if (yyjson_obj_get(of_nodes, "requiredDuringSchedulingIgnoredDuringExecution"))
        patch_add_operation(
            p, "remove",
            BELOW(path, template, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
            NULL);
}

static void add_toleration(struct strbuf *list, const char *toleration)
{
    strbuf_addf(list, "%s%s", *list->text ? "," : "", toleration);
}

/* Kubernetes adds it to every pod, and will again. */
static bool is_default(yyjson_val *toleration)
{
    const char *key = yyjson_get_str(yyjson_obj_get(toleration, "key"));

    return key && strncmp(key, "node.kubernetes.io/", strlen("node.kubernetes.io/")) == 0 &&
           yyjson_get_int(yyjson_obj_get(toleration, "tolerationSeconds")) == 300;
}

/* The tolerations that the template has. */
static void add_present(struct patcher *p, const struct pod_template *template, struct strbuf *list)
{
    yyjson_val *present = yyjson_obj_get(yyjson_obj_get(template->value, "spec"), "tolerations");
    yyjson_val *toleration;
    size_t i;
    size_t max;

    yyjson_arr_foreach(present, i, max, toleration)
    {
        if (is_default(toleration))
            continue;
        _cleanup_(freep) char *text = yyjson_val_write(toleration, 0, NULL);

        p->is_unsafe |= !text || strchr(text, '\'');
        add_toleration(list, text ? text : "");
    }
}

/* One list of all tolerations, since a manifest need not have those that the server shows. */
static void tolerate(struct patcher *p, const struct pod_template *template)
{
    struct why_taint taints[WHY_TAINTS_MAX];
    uint32_t count = why_taints(p->why, taints);
    char toleration[PATH_MAX_BYTES];
    char path[PATH_MAX_BYTES];
    struct strbuf list;
    struct strbuf value;

    strbuf_init(&list, PATCH_OPERATIONS_MAX);
    strbuf_init(&value, PATCH_OPERATIONS_MAX);
    add_present(p, template, &list);
    if (count == 0 || count > WHY_TAINTS_MAX)
        add_toleration(&list, "{\"operator\":\"Exists\"}");
    for (uint32_t i = 0; i < count && count <= WHY_TAINTS_MAX; i++) {
        if (*taints[i].value)
            (void)snprintf(toleration, sizeof toleration, "{\"key\":\"%s\",\"value\":\"%s\",\"effect\":\"%s\"}",
                           patch_plain(p, taints[i].key), patch_plain(p, taints[i].value), taints[i].effect);
        else
            (void)snprintf(toleration, sizeof toleration, "{\"key\":\"%s\",\"operator\":\"Exists\",\"effect\":\"%s\"}",
                           patch_plain(p, taints[i].key), taints[i].effect);
        add_toleration(&list, toleration);
    }
    strbuf_addf(&value, "[%s]", list.text);
    patch_add_operation(p, "add", BELOW(path, template, "spec", "tolerations"), value.text);
    strbuf_done(&value);
    strbuf_done(&list);
}

/* An amount as a manifest has it. */
static void amount_of(const struct why *why, uint32_t dim, int64_t amount, char text[static 48])
{
    if (dim == RES_CPU)
        (void)snprintf(text, 48, amount % 1000 ? "\"%lldm\"" : "\"%lld\"",
                       (long long)(amount % 1000 ? amount : amount / 1000));
    else if (dim == RES_MEMORY)
        (void)snprintf(text, 48, amount % (1 << 20) ? "\"%lld\"" : "\"%lldMi\"",
                       (long long)(amount % (1 << 20) ? amount : amount >> 20));
    else
        (void)snprintf(text, 48, "\"%lld\"", (long long)(why->state->res.mig_slices[dim] > 0 ? amount : amount / 1000));
}

static void change_request(struct patcher *p, const struct pod_template *template)
{
    const struct why_remedy *remedy = p->remedy;
    char value[48];

    switch (remedy->kind) {
    case WHY_GPUS:
        (void)snprintf(value, sizeof value, "\"%g\"", remedy->step.to);
        set_resource(p, template, GPU_RESOURCE, value);
        break;
    case WHY_FRACTION:
        (void)snprintf(value, sizeof value, "%g", remedy->step.to);
        set_resource(p, template, GPU_RESOURCE, NULL);
        set_annotation(p, template, KEY_GPU_FRACTION, value);
        break;
    case WHY_GPU_MEMORY:
        (void)snprintf(value, sizeof value, "%g", remedy->step.to);
        set_annotation(p, template, KEY_GPU_MEMORY, value);
        break;
    case WHY_DEVICES:
        (void)snprintf(value, sizeof value, "%g", remedy->step.to);
        set_annotation(p, template, KEY_GPU_DEVICES, value);
        break;
    default:
        amount_of(p->why, remedy->change.dim, remedy->change.value, value);
        set_resource(p, template, state_name(p->why->state, p->why->state->res.name[remedy->change.dim]), value);
    }
}

/* Does the template ask for what the remedy makes smaller? Kinds with several templates most often differ in this. */
static bool is_about(const struct patcher *p, const struct pod_template *template)
{
    struct patcher probe = *p;
    bool is_about;

    strbuf_init(&probe.operations, PATCH_OPERATIONS_MAX);
    if (p->remedy->kind == WHY_GPUS || p->remedy->kind == WHY_FRACTION)
        set_resource(&probe, template, GPU_RESOURCE, NULL);
    else
        change_request(&probe, template);
    is_about = *probe.operations.text != '\0';
    strbuf_done(&probe.operations);
    return is_about;
}

/* What the remedy changes in pod templates, as operations. */
void patch_collect_templates(struct patcher *p)
{
    struct pod_template templates[POD_TEMPLATES_MAX];
    size_t count = p->owner.object ? owner_templates(p->owner.object, templates, POD_TEMPLATES_MAX) : 0;

    for (size_t i = 0; i < count; i++) {
        if (p->remedy->kind == WHY_NODES)
            drop_node_limits(p, &templates[i]);
        else if (p->remedy->kind == WHY_TAINTS)
            tolerate(p, &templates[i]);
        else if (is_about(p, &templates[i]))
            change_request(p, &templates[i]);
    }
}
