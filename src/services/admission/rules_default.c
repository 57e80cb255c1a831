/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What pods get added. The pod is changed in a copy, and the patch is the difference of the parts that can have changed:
 * a pod that has everything already gets no patch, so that being asked twice does no harm.
 */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "kube/client/meta.h"
#include "kube/sharing.h"
#include "objects/keys.h"
#include "services/admission/pod_facts.h"
#include "services/admission/rules.h"

/* A volume's name is the longest that is made of the prefix: "<prefix>-<container>-vol". */
enum { VOLUME_NAME_MAX = 63, RANDOM_LETTERS = 7, NAME_MAX_BYTES = 512 };
#define NAME_SUFFIX "-shared-gpu"

struct draft {
    yyjson_mut_doc *doc;
    yyjson_mut_val *pod;
    yyjson_val *before;
    const struct admission_rules *rules;
    struct sharing_container sharer;    // as it was; without a container: none shares
    yyjson_mut_val *container;          // the same in the copy
    char capabilities[NAME_MAX_BYTES];  // ConfigMaps of the container
    char direct[NAME_MAX_BYTES];
};

/* The object `key` of `parent`, made when there is none. */
static yyjson_mut_val *object_in(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key)
{
    yyjson_mut_val *found = yyjson_mut_obj_get(parent, key);

    if (yyjson_mut_is_obj(found))
        return found;
    (void)yyjson_mut_obj_remove_key(parent, key);
    return yyjson_mut_obj_add_obj(doc, parent, key);
}

static yyjson_mut_val *array_in(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key)
{
    yyjson_mut_val *found = yyjson_mut_obj_get(parent, key);

    if (yyjson_mut_is_arr(found))
        return found;
    (void)yyjson_mut_obj_remove_key(parent, key);
    return yyjson_mut_obj_add_arr(doc, parent, key);
}

static bool is_named(yyjson_mut_val *item, const char *name)
{
    const char *own = yyjson_mut_get_str(yyjson_mut_obj_get(item, "name"));

    return own && strcmp(own, name) == 0;
}

static void remove_named(yyjson_mut_val *list, const char *name)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    yyjson_mut_val *item;

    while ((item = yyjson_mut_arr_iter_next(&iter))) {
        if (is_named(item, name))
            (void)yyjson_mut_arr_iter_remove(&iter);
    }
}

/* Letters that make no words, as the API server has them in generated names. */
static void random_letters(uint64_t random, char text[static RANDOM_LETTERS + 1])
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";

    for (size_t i = 0; i < RANDOM_LETTERS; i++) {
        text[i] = letters[random % (sizeof letters - 1)];
        random /= sizeof letters - 1;
    }
    text[RANDOM_LETTERS] = '\0';
}

/* The name of the first owner or of the pod, as much of it as leaves room for what comes behind. */
static void make_prefix(struct draft *draft, uint64_t random, char prefix[static NAME_MAX_BYTES])
{
    yyjson_val *owners = yyjson_obj_get(yyjson_obj_get(draft->before, "metadata"), "ownerReferences");
    const char *base = kube_text(yyjson_arr_get_first(owners), "name");
    char letters[RANDOM_LETTERS + 1];
    char index[32];

    if (!*base)
        base = kube_text(draft->before, "metadata", "name");
    if (!*base)
        base = kube_text(draft->before, "metadata", "generateName");
    int index_len = snprintf(index, sizeof index, "-i%zu-evar-vol", draft->sharer.index);
    size_t room = VOLUME_NAME_MAX - (size_t)index_len - strlen(NAME_SUFFIX) - RANDOM_LETTERS - 1;
    size_t len = MIN(strlen(base), room);

    while (len > 0 && (base[len - 1] == '.' || base[len - 1] == '-'))
        len--;
    random_letters(random, letters);
    (void)snprintf(prefix, NAME_MAX_BYTES, "%.*s%s%s" NAME_SUFFIX, (int)len, base, len ? "-" : "", letters);
}

/* Names the ConfigMaps of the pod. Returns false when the name that the pod brings is too long to be one. */
static bool name_maps(struct draft *draft, uint64_t random, struct admission_verdict *verdict)
{
    const char *given = pod_annotation(draft->before, KEY_SHARED_GPU_CONFIG);
    char prefix[NAME_MAX_BYTES];
    char shown[ADMISSION_TEXT_MAX];

    if (given && strlen(given) > 253) {
        admission_deny(verdict,
                       "metadata.annotations[\"" KEY_SHARED_GPU_CONFIG
                       "\"] is \"%s\", longer than a name may be: remove "
                       "the annotation, which is written when the pod is created",
                       admission_text(given, shown));
        return false;
    }
    if (given)
        (void)snprintf(prefix, sizeof prefix, "%s", given);
    else
        make_prefix(draft, random, prefix);
    if (!given) {
        yyjson_mut_val *meta = object_in(draft->doc, draft->pod, "metadata");
        yyjson_mut_val *annotations = object_in(draft->doc, meta, "annotations");

        (void)yyjson_mut_obj_remove_key(annotations, KEY_SHARED_GPU_CONFIG);
        yyjson_mut_obj_add_strcpy(draft->doc, annotations, KEY_SHARED_GPU_CONFIG, prefix);
    }
    (void)snprintf(draft->capabilities, sizeof draft->capabilities, "%.300s-%s%zu", prefix,
                   draft->sharer.is_init ? "i" : "", draft->sharer.index);
    (void)snprintf(draft->direct, sizeof draft->direct, "%.400s-evar", draft->capabilities);
    return true;
}

/* The variable comes from the key of its name in the container's ConfigMap. */
static void set_env(struct draft *draft, const char *name, bool is_optional)
{
    yyjson_mut_val *list = array_in(draft->doc, draft->container, "env");
    yyjson_mut_val *env = yyjson_mut_obj(draft->doc);

    remove_named(list, name);
    yyjson_mut_obj_add_str(draft->doc, env, "name", name);
    yyjson_mut_val *from = yyjson_mut_obj_add_obj(draft->doc, env, "valueFrom");
    yyjson_mut_val *ref = yyjson_mut_obj_add_obj(draft->doc, from, "configMapKeyRef");
    yyjson_mut_obj_add_strcpy(draft->doc, ref, "name", draft->capabilities);
    yyjson_mut_obj_add_str(draft->doc, ref, "key", name);
    if (is_optional)
        yyjson_mut_obj_add_bool(draft->doc, ref, "optional", true);
    yyjson_mut_arr_append(list, env);
}

static void set_env_from(struct draft *draft)
{
    yyjson_mut_val *list = array_in(draft->doc, draft->container, "envFrom");
    yyjson_mut_val *source;
    size_t i, max;

    yyjson_mut_arr_foreach(list, i, max, source)
    {
        if (is_named(yyjson_mut_obj_get(source, "configMapRef"), draft->direct))
            return;
    }
    yyjson_mut_val *ref = yyjson_mut_obj_add_obj(draft->doc, yyjson_mut_arr_add_obj(draft->doc, list), "configMapRef");
    yyjson_mut_obj_add_strcpy(draft->doc, ref, "name", draft->direct);
    /* All variables come from the other ConfigMap: this one would be empty, and the binder need not write it. */
    yyjson_mut_obj_add_bool(draft->doc, ref, "optional", true);
}

/* Names of volumes are labels, of ConfigMaps more. Runs of other characters become one dash; dashes at the ends go. */
static void volume_name(const char *map, char name[static NAME_MAX_BYTES])
{
    char text[NAME_MAX_BYTES];
    size_t len = 0;

    (void)snprintf(text, sizeof text, "%.480s-vol", map);
    for (const char *at = text; *at; at++) {
        char c = *at;

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        bool is_good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';

        if (is_good)
            name[len++] = c;
        else if (len > 0 && name[len - 1] != '-')
            name[len++] = '-';
    }
    name[len] = '\0';
    size_t dashes = strspn(name, "-");
    memmove(name, name + dashes, len - dashes + 1);
}

/* The pod waits for its ConfigMap, which the binder writes: nothing is mounted. */
static void set_volume(struct draft *draft)
{
    yyjson_mut_val *list = array_in(draft->doc, object_in(draft->doc, draft->pod, "spec"), "volumes");
    char name[NAME_MAX_BYTES];
    yyjson_mut_val *volume = yyjson_mut_obj(draft->doc);

    volume_name(draft->capabilities, name);
    yyjson_mut_val *item;
    size_t i, max;
    yyjson_mut_arr_foreach(list, i, max, item)
    {
        const char *map = yyjson_mut_get_str(yyjson_mut_obj_get(yyjson_mut_obj_get(item, "configMap"), "name"));

        /* The API server has added defaults to it since. */
        if (is_named(item, name) && map && strcmp(map, draft->capabilities) == 0)
            return;
    }
    remove_named(list, name);
    yyjson_mut_obj_add_strcpy(draft->doc, volume, "name", name);
    yyjson_mut_obj_add_strcpy(draft->doc, yyjson_mut_obj_add_obj(draft->doc, volume, "configMap"), "name",
                              draft->capabilities);
    yyjson_mut_arr_append(list, volume);
}

static void share(struct draft *draft)
{
    yyjson_mut_val *spec = object_in(draft->doc, draft->pod, "spec");

    set_env(draft, ENV_VISIBLE_DEVICES, false);
    set_env(draft, ENV_GPU_COUNT, false);
    set_env(draft, ENV_GPU_PORTION, false);
    set_volume(draft);
    set_env_from(draft);
    if (draft->rules->limits_memory)
        set_env(draft, ENV_MEMORY_LIMIT, true);
    if (*draft->rules->runtime_class && !*kube_text(draft->before, "spec", "runtimeClassName")) {
        (void)yyjson_mut_obj_remove_key(spec, "runtimeClassName");
        yyjson_mut_obj_add_strcpy(draft->doc, spec, "runtimeClassName", draft->rules->runtime_class);
    }
}

/* A variable that refers to something else stays, to be denied with the reason. */
static void hide_gpus(struct draft *draft, yyjson_mut_val *container)
{
    yyjson_mut_val *list = array_in(draft->doc, container, "env");
    yyjson_mut_val *env;
    size_t i, max;

    yyjson_mut_arr_foreach(list, i, max, env)
    {
        if (!is_named(env, ENV_VISIBLE_DEVICES))
            continue;
        if (!yyjson_mut_is_obj(yyjson_mut_obj_get(env, "valueFrom"))) {
            (void)yyjson_mut_obj_remove_key(env, "value");
            yyjson_mut_obj_add_str(draft->doc, env, "value", "void");
        }
        return;
    }
    env = yyjson_mut_arr_add_obj(draft->doc, list);
    yyjson_mut_obj_add_str(draft->doc, env, "name", ENV_VISIBLE_DEVICES);
    yyjson_mut_obj_add_str(draft->doc, env, "value", "void");
}

static void hide_gpus_in(struct draft *draft, const char *list)
{
    yyjson_mut_val *copies = yyjson_mut_obj_get(yyjson_mut_obj_get(draft->pod, "spec"), list);
    yyjson_val *container;
    size_t i, max;

    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(draft->before, "spec"), list), i, max, container)
    {
        yyjson_mut_val *copy = yyjson_mut_arr_get(copies, i);

        if (yyjson_is_obj(container) && container != draft->sharer.container && !container_has_gpu(container))
            hide_gpus(draft, copy);
    }
}

/* Adds the operation that makes `key` of `before` what it is in `after`. */
static void add_difference(yyjson_mut_doc *patch, const char *path, const char *key, yyjson_val *before,
                           yyjson_mut_val *after)
{
    yyjson_mut_val *wanted = yyjson_mut_obj_get(after, key);
    yyjson_mut_val *had = yyjson_val_mut_copy(patch, yyjson_obj_get(before, key));
    char full[128];

    if (!wanted || yyjson_mut_equals(wanted, had))
        return;
    (void)snprintf(full, sizeof full, "%s/%s", path, key);
    yyjson_mut_val *operation = yyjson_mut_arr_add_obj(patch, yyjson_mut_doc_get_root(patch));
    yyjson_mut_obj_add_str(patch, operation, "op", had ? "replace" : "add");
    yyjson_mut_obj_add_strcpy(patch, operation, "path", full);
    yyjson_mut_obj_add_val(patch, operation, "value", yyjson_mut_val_mut_copy(patch, wanted));
}

static void add_differences_in(yyjson_mut_doc *patch, const struct draft *draft, const char *list)
{
    yyjson_mut_val *copies = yyjson_mut_obj_get(yyjson_mut_obj_get(draft->pod, "spec"), list);
    yyjson_val *container;
    size_t i, max;

    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(draft->before, "spec"), list), i, max, container)
    {
        yyjson_mut_val *copy = yyjson_mut_arr_get(copies, i);
        char path[64];

        (void)snprintf(path, sizeof path, "/spec/%s/%zu", list, i);
        add_difference(patch, path, "env", container, copy);
        add_difference(patch, path, "envFrom", container, copy);
    }
}

static yyjson_mut_doc *patch_of(const struct draft *draft)
{
    yyjson_mut_doc *patch = yyjson_mut_doc_new(NULL);
    yyjson_val *spec = yyjson_obj_get(draft->before, "spec");
    yyjson_mut_val *spec_after = yyjson_mut_obj_get(draft->pod, "spec");

    BUG_ON(!patch);
    yyjson_mut_doc_set_root(patch, yyjson_mut_arr(patch));
    add_difference(patch, "/metadata", "annotations", yyjson_obj_get(draft->before, "metadata"),
                   yyjson_mut_obj_get(draft->pod, "metadata"));
    for (size_t i = 0; i < POD_LISTS; i++)
        add_differences_in(patch, draft, pod_lists[i]);
    add_difference(patch, "/spec", "volumes", spec, spec_after);
    add_difference(patch, "/spec", "runtimeClassName", spec, spec_after);
    if (yyjson_mut_arr_size(yyjson_mut_doc_get_root(patch)) > 0)
        return patch;
    yyjson_mut_doc_free(patch);
    return NULL;
}

/* Finds the container that shares a GPU, if one does. Returns whether the pod can be changed. */
static bool find_sharer(struct draft *draft, uint64_t random, struct admission_verdict *verdict)
{
    yyjson_val *spec = yyjson_obj_get(draft->before, "spec");

    if (!pod_shares_gpu(draft->before) || yyjson_arr_size(yyjson_obj_get(spec, "containers")) == 0)
        return true;
    if (sharing_container(draft->before, &draft->sharer, NULL) < 0 || !yyjson_is_obj(draft->sharer.container)) {
        deny_container(draft->before, verdict);
        return false;
    }
    const char *list = pod_lists[draft->sharer.is_init ? 0 : 1];
    yyjson_mut_val *copies = yyjson_mut_obj_get(yyjson_mut_obj_get(draft->pod, "spec"), list);
    draft->container = yyjson_mut_arr_get(copies, draft->sharer.index);
    return name_maps(draft, random, verdict);
}

void admission_default_pod(const struct admission_rules *rules, const struct admission_request *request,
                           struct admission_verdict *verdict)
{
    struct draft draft = {.before = request->object, .rules = rules};

    if (!pod_is_ours(rules, request->object))
        return;
    draft.doc = kube_copy(request->object);
    BUG_ON(!draft.doc);
    draft.pod = yyjson_mut_doc_get_root(draft.doc);
    if (find_sharer(&draft, request->random, verdict)) {
        if (draft.container)
            share(&draft);
        for (size_t i = 0; i < POD_LISTS && rules->blocks_devices; i++)
            hide_gpus_in(&draft, pod_lists[i]);
        verdict->patch = patch_of(&draft);
    }
    yyjson_mut_doc_free(draft.doc);
}
