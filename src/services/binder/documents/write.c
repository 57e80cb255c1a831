/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/documents/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "kube/autoscalers.h"
#include "kube/client/condition.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/names.h"
#include "services/binder/options.h"
#include "text/json.h"

/* A patch of the object of that UID. */
static yyjson_mut_doc *patch_new(const char *uid, yyjson_mut_val **ret_root, yyjson_mut_val **ret_meta)
{
    yyjson_mut_doc *doc = json_new_object(ret_root);

    *ret_meta = document_member(doc, *ret_root, "metadata");
    document_set(doc, *ret_meta, "uid", uid);
    return doc;
}

yyjson_mut_doc *write_labels(const char *uid, const struct request_groups *groups, bool is_in)
{
    yyjson_mut_val *root, *meta;
    yyjson_mut_doc *doc = patch_new(uid, &root, &meta);
    yyjson_mut_val *labels = document_member(doc, meta, "labels");

    if (groups->len == 1) {
        document_set(doc, labels, KEY_GPU_GROUP, is_in ? groups->items[0] : NULL);
        return doc;
    }
    vec_foreach (groups, group) {
        char key[320];

        (void)snprintf(key, sizeof key, KEY_GPU_GROUP_PREFIX "%s", *group);
        document_set(doc, labels, key, is_in ? *group : NULL);
    }
    return doc;
}

yyjson_mut_doc *write_status(const char *uid, const struct request_outcome *outcome, const char *reason)
{
    static const char *const phases[] = {
        [REQUEST_ACTIVE] = "Pending", [REQUEST_SUCCEEDED] = "Succeeded", [REQUEST_FAILED] = "Failed"};
    yyjson_mut_val *root, *meta;
    yyjson_mut_doc *doc = patch_new(uid, &root, &meta);
    yyjson_mut_val *status = document_member(doc, root, "status");

    document_set(doc, status, "phase", phases[outcome->phase]);
    document_set(doc, status, "reason", reason);
    if (outcome->failed_attempts > 0)
        document_set_int(doc, status, "failedAttempts", outcome->failed_attempts);
    return doc;
}

yyjson_mut_doc *write_selected_node(const char *uid, const char *node)
{
    yyjson_mut_val *root, *meta;
    yyjson_mut_doc *doc = patch_new(uid, &root, &meta);

    document_set(doc, document_member(doc, meta, "annotations"), "volume.kubernetes.io/selected-node", node);
    return doc;
}

const char *bound_reason(bool is_bound)
{
    return is_bound ? "Bound" : "BindingError";
}

yyjson_mut_doc *write_condition(const char *uid, bool is_bound, const char *message, nsec_t now)
{
    return kube_condition_patch(
        &(struct kube_condition){
            .uid = uid,
            .type = "PodBound",
            .status = is_bound ? "True" : "False",
            .reason = bound_reason(is_bound),
            .message = message,
        },
        now);
}

static void add_field_env(yyjson_mut_doc *doc, yyjson_mut_val *envs, const char *name, const char *path)
{
    yyjson_mut_val *env = yyjson_mut_arr_add_obj(doc, envs);

    document_set(doc, env, "name", name);
    document_set(doc, document_member(doc, document_member(doc, env, "valueFrom"), "fieldRef"), "fieldPath", path);
}

static yyjson_mut_val *copy_of(yyjson_mut_doc *doc, yyjson_doc *from)
{
    return from ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(from)) : NULL;
}

static void add_container(yyjson_mut_doc *doc, yyjson_mut_val *spec, const struct reservation_options *options)
{
    yyjson_mut_val *container = yyjson_mut_arr_add_obj(doc, document_list(doc, spec, "containers"));

    document_set(doc, container, "name", "resource-reservation");
    document_set(doc, container, "image", options->is_fake ? "ubuntu" : options->image);
    document_set(doc, container, "imagePullPolicy", "IfNotPresent");
    /* One image holds all services: the program is named, whatever the entry point of the image is. */
    if (!options->is_fake)
        (void)yyjson_mut_arr_add_str(doc, document_list(doc, container, "command"), "muster");
    yyjson_mut_val *args = document_list(doc, container, "args");

    (void)yyjson_mut_arr_add_str(doc, args, options->is_fake ? "sleep" : "reservation");
    if (options->is_fake)
        (void)yyjson_mut_arr_add_str(doc, args, "infinity");
    document_set_value(doc, container, "resources", copy_of(doc, options->resources));
    yyjson_mut_val *resources = document_member(doc, container, "resources");

    document_set(doc, document_member(doc, resources, "requests"), "nvidia.com/gpu", "1");
    document_set(doc, document_member(doc, resources, "limits"), "nvidia.com/gpu", "1");
    document_set_value(doc, container, "securityContext", copy_of(doc, options->container_security));
    yyjson_mut_val *envs = document_list(doc, container, "env");

    add_field_env(doc, envs, "POD_NAME", "metadata.name");
    add_field_env(doc, envs, "POD_NAMESPACE", "metadata.namespace");
}

yyjson_mut_doc *write_reservation(const struct reservation_options *options, const char *node, const char *group,
                                  yyjson_val *tolerations)
{
    char name[RESERVATION_NAME_MAX];
    yyjson_mut_doc *doc = document_object("v1", "Pod", options->namespace, reservation_name(node, group, name));
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *meta = document_member(doc, root, "metadata");
    yyjson_mut_val *labels = document_member(doc, meta, "labels");
    yyjson_mut_val *spec = document_member(doc, root, "spec");

    document_set(doc, labels, KEY_APP, options->app_label);
    document_set(doc, labels, KEY_GPU_GROUP, group);
    document_set(doc, document_member(doc, meta, "annotations"), KEY_DO_NOT_DISRUPT, "true");
    document_set(doc, document_member(doc, meta, "annotations"), KEY_SAFE_TO_EVICT, "false");
    document_set(doc, spec, "nodeName", node);
    /* It has its node. Where our scheduler is the default one, the pod would be charged to a queue, beside those it serves. */
    document_set(doc, spec, "schedulerName", KEY_KUBERNETES_SCHEDULER);
    document_set(doc, spec, "serviceAccountName", options->service_account);
    if (options->runtime_class[0])
        document_set(doc, spec, "runtimeClassName", options->runtime_class);
    document_set_value(doc, spec, "securityContext", copy_of(doc, options->pod_security));
    if (yyjson_arr_size(tolerations) > 0)
        document_set_value(doc, spec, "tolerations", yyjson_val_mut_copy(doc, tolerations));
    add_container(doc, spec, options);
    return doc;
}

/* What a ConfigMap is to hold. */
struct entry {
    const char *key;
    const char *value;
};

static size_t entries_of(const struct sharing_data *data, bool is_second, struct entry entries[static 3])
{
    size_t count = 0;

    if (is_second == data->is_direct)
        entries[count++] = (struct entry){"NVIDIA_VISIBLE_DEVICES", data->devices};
    if (!is_second) {
        entries[count++] = (struct entry){"GPU_PORTION", data->portion};
        entries[count++] = (struct entry){"RUNAI_NUM_OF_GPUS", data->portion};
    }
    return count;
}

yyjson_mut_doc *write_sharing(const struct sharing_data *data, bool is_second, const char *namespace, const char *name,
                              const char *pod, const char *uid)
{
    yyjson_mut_doc *doc = document_object("v1", "ConfigMap", namespace, name);
    yyjson_mut_val *values = document_member(doc, yyjson_mut_doc_get_root(doc), "data");
    struct entry entries[3];
    size_t count = entries_of(data, is_second, entries);

    document_own(doc, pod, uid, false);
    for (size_t i = 0; i < count; i++)
        document_set(doc, values, entries[i].key, entries[i].value);
    return doc;
}

static bool is_owned_by(yyjson_mut_val *meta, const char *uid)
{
    yyjson_mut_val *owners = yyjson_mut_obj_get(meta, "ownerReferences");
    yyjson_mut_val *owner;
    size_t i, max;

    yyjson_mut_arr_foreach(owners, i, max, owner)
    {
        if (strcmp(document_text(owner, "uid"), uid) == 0)
            return true;
    }
    return false;
}

bool sharing_merge(const struct sharing_data *data, bool is_second, const char *pod, const char *uid,
                   yyjson_mut_doc *map)
{
    static const char legacy[] = "RUNAI-VISIBLE-DEVICES";
    yyjson_mut_val *root = yyjson_mut_doc_get_root(map);
    yyjson_mut_val *meta = document_member(map, root, "metadata");
    bool has_changed = !is_owned_by(meta, uid);
    struct entry entries[4];
    size_t count = entries_of(data, is_second, entries);

    if (has_changed) {
        (void)yyjson_mut_obj_remove_key(meta, "ownerReferences");
        (void)yyjson_mut_obj_remove_key(root, "data");
        document_own(map, pod, uid, false);
    }
    yyjson_mut_val *values = document_member(map, root, "data");

    if (is_second == data->is_direct && yyjson_mut_obj_get(values, legacy))
        entries[count++] = (struct entry){legacy, data->devices};
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].value[0] || strcmp(document_text(values, entries[i].key), entries[i].value) == 0)
            continue;
        document_set(map, values, entries[i].key, entries[i].value);
        has_changed = true;
    }
    return has_changed;
}

bool sharing_is_direct(yyjson_val *container)
{
    yyjson_val *envs = yyjson_obj_get(container, "env");
    yyjson_val *env;
    size_t i, max;

    yyjson_arr_foreach(envs, i, max, env)
    {
        const char *name = yyjson_get_str(yyjson_obj_get(env, "name"));

        if (name && strcmp(name, "NVIDIA_VISIBLE_DEVICES") == 0 &&
            yyjson_obj_get(yyjson_obj_get(env, "valueFrom"), "configMapKeyRef"))
            return false;
    }
    return true;
}

bool sharing_is_optional(yyjson_val *container, const char *direct)
{
    yyjson_val *source;
    size_t i, max;

    yyjson_arr_foreach(yyjson_obj_get(container, "envFrom"), i, max, source)
    {
        yyjson_val *ref = yyjson_obj_get(source, "configMapRef");

        if (strcmp(kube_text(ref, "name"), direct) == 0)
            return yyjson_is_true(yyjson_obj_get(ref, "optional"));
    }
    return false;
}

char *sharing_devices(const char *const *gpus, size_t count, bool is_cdi, const char *fence)
{
    enum { DEVICES_MAX = 512 << 10 };
    struct strbuf text;

    strbuf_init(&text, DEVICES_MAX);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&text, "%s%s%s", i ? "," : "", is_cdi ? "k8s.device-plugin.nvidia.com/gpu=" : "", gpus[i]);
    /* Last, because what it mounts takes the place of what the GPUs' devices mount. */
    if (fence)
        strbuf_addf(&text, "," FENCE_KIND "=%s", fence);
    char *taken = strbuf_take(&text);

    strbuf_done(&text);
    return taken;
}

bool memory_limit(const char *mib, const char *portion, char *text, size_t size)
{
    char *mib_end, *portion_end;
    double total = strtod(mib, &mib_end);
    double part = strtod(portion, &portion_end);

    if (mib_end == mib || *mib_end || portion_end == portion || *portion_end)
        return false;
    if (!(total > 0 && total < 1e12 && part > 0 && part <= 1))
        return false;
    (void)snprintf(text, size, "%lldm", (long long)(total * part));
    return true;
}
