/* SPDX-License-Identifier: Apache-2.0 */
#include "services/fencer/sharer.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/request/request.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "text/json.h"

/* More than the GPU daemon takes; that it is too many is for it to say. */
enum { GROUPS_MAX = 64 };

static char *write_json(yyjson_mut_doc *doc)
{
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    BUG_ON(!text);
    yyjson_mut_doc_free(doc);
    return text;
}

static void read_groups(yyjson_val *pod, struct sharer_groups *groups)
{
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "labels"), i, max, key, value)
    {
        const char *id = yyjson_get_str(value);

        if (id && id[0] && sharing_is_group_label(yyjson_get_str(key)) && groups->len < GROUPS_MAX)
            vec_push(groups, xstrdup(id));
    }
}

/* NvFractions' annotations name the container that they are about. */
static bool is_for_another(const char *key, const char *container)
{
    static const char prefix[] = "nvidia.com/container.";
    size_t len = strlen(container);
    const char *at = key + strlen(prefix);

    return strncmp(key, prefix, strlen(prefix)) == 0 && (strncmp(at, container, len) != 0 || at[len] != '.');
}

static void add_word(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *value)
{
    (void)yyjson_mut_obj_add(to, yyjson_mut_strcpy(doc, key), yyjson_mut_strcpy(doc, value));
}

static void add_annotations(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *pod, const char *container)
{
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "annotations"), i, max, key, value)
    {
        const char *name = yyjson_get_str(key);

        if (yyjson_is_str(value) && gpu_word_is_known(WORD_ANNOTATION, name) && !is_for_another(name, container))
            add_word(doc, to, name, yyjson_get_str(value));
    }
}

/* No whole GPU is what pods with a part of one may say as well. */
static void add_resource(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *value)
{
    const char *text = yyjson_get_str(value);

    if (!text || !gpu_word_is_known(WORD_RESOURCE, key) || yyjson_mut_obj_get(to, key) ||
        (strcmp(key, "nvidia.com/gpu") == 0 && strcmp(text, "0") == 0))
        return;
    add_word(doc, to, key, text);
}

static void add_resources(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *container)
{
    static const char *const lists[] = {"limits", "requests"};
    yyjson_val *key, *value;
    size_t i, max;

    for (size_t list = 0; list < ARRAY_LEN(lists); list++) {
        yyjson_val *amounts = yyjson_obj_get(yyjson_obj_get(container, "resources"), lists[list]);

        yyjson_obj_foreach(amounts, i, max, key, value)
        {
            add_resource(doc, to, yyjson_get_str(key), value);
        }
    }
}

static void add_variables(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *container)
{
    yyjson_val *env;
    size_t i, max;

    yyjson_arr_foreach(yyjson_obj_get(container, "env"), i, max, env)
    {
        const char *name = kube_text(env, "name");
        const char *value = kube_text(env, "value");

        if (value[0] && gpu_word_is_known(WORD_VARIABLE, name))
            add_word(doc, to, name, value);
    }
}

static char *read_words(yyjson_val *pod, yyjson_val *container)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    add_annotations(doc, yyjson_mut_obj_add_obj(doc, root, "annotations"), pod, kube_text(container, "name"));
    add_resources(doc, yyjson_mut_obj_add_obj(doc, root, "resources"), container);
    add_variables(doc, yyjson_mut_obj_add_obj(doc, root, "variables"), container);
    return write_json(doc);
}

static bool has_ended(yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");

    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

bool sharer_read(yyjson_val *pod, struct sharer *ret_sharer)
{
    struct sharer sharer = {.user = -1};
    struct sharing_container found = {0};
    struct kube_meta meta;
    struct err err = {0};

    if (!kube_meta_read(pod, &meta) || has_ended(pod) || !fence_name(meta.uid, sharer.fence))
        return false;
    read_groups(pod, &sharer.groups);
    if (sharer.groups.len == 0)
        return false;
    if (sharing_container(pod, &found, &err) < 0)
        sharer.problem = xstrdup(err.text);
    sharer.container = xstrdup(kube_text(found.container, "name"));
    sharer.words = read_words(pod, found.container);
    sharer.is_held = kube_text(pod, "metadata", "annotations", FENCE_ANNOTATION)[0] != '\0';
    sharer.namespace = xstrdup(meta.namespace);
    sharer.name = xstrdup(meta.name);
    sharer.uid = xstrdup(meta.uid);
    *ret_sharer = sharer;
    return true;
}

void sharer_done(struct sharer *sharer)
{
    vec_foreach (&sharer->groups, id)
        free(*id);
    vec_done(&sharer->groups);
    free(sharer->namespace);
    free(sharer->name);
    free(sharer->uid);
    free(sharer->container);
    free(sharer->words);
    free(sharer->problem);
    free(sharer->cgroup);
}

bool keeper_read(yyjson_val *pod, struct keeper *ret_keeper)
{
    const char *group = kube_text(pod, "metadata", "labels", KEY_GPU_GROUP);
    const char *gpu = kube_text(pod, "metadata", "annotations", KEY_RESERVED_GPU);

    if (!group[0] || !gpu[0] || has_ended(pod))
        return false;
    *ret_keeper = (struct keeper){
        .uid = xstrdup(kube_text(pod, "metadata", "uid")),
        .group = xstrdup(group),
        .gpu = xstrdup(gpu),
    };
    return true;
}

void keeper_done(struct keeper *keeper)
{
    free(keeper->uid);
    free(keeper->group);
    free(keeper->gpu);
}

static const char *gpu_of(const struct keepers *keepers, const char *group)
{
    vec_foreach (keepers, keeper) {
        if (strcmp(keeper->group, group) == 0)
            return keeper->gpu;
    }
    return NULL;
}

char *sharer_ask(const struct sharer *sharer, const struct keepers *keepers)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *gpus = yyjson_mut_obj_add_arr(doc, root, "gpus");
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, root, "labels");

    vec_foreach (&sharer->groups, group) {
        const char *gpu = gpu_of(keepers, *group);

        if (!gpu) {
            yyjson_mut_doc_free(doc);
            return NULL;
        }
        (void)yyjson_mut_arr_add_str(doc, gpus, gpu);
    }
    (void)yyjson_mut_obj_add_str(doc, root, "name", sharer->fence);
    (void)yyjson_mut_obj_add_str(doc, labels, "namespace", sharer->namespace);
    (void)yyjson_mut_obj_add_str(doc, labels, "pod", sharer->name);
    (void)yyjson_mut_obj_add_str(doc, labels, "container", sharer->container);
    if (sharer->user >= 0)
        (void)yyjson_mut_obj_add_int(doc, root, "uid", sharer->user);
    if (sharer->cgroup)
        (void)yyjson_mut_obj_add_str(doc, root, "cgroup", sharer->cgroup);
    (void)yyjson_mut_obj_add_val(doc, root, "pod", yyjson_mut_raw(doc, sharer->words));
    return write_json(doc);
}
