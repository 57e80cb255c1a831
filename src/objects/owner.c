/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/owner.h"

#include <stdio.h>
#include <string.h>

#include "objects/fields.h"
#include "objects/kinds.h"
#include "objects/object.h"

/* Templates lie a few members deep; whatever nests deeper is no workload. */
enum { DEPTH_MAX = 12 };

/* Owners above each other: more is a circle. */
enum { OWNERS_MAX = 16 };

/* The first owner that the object names; false when it names none. */
static bool owner_of(const struct object_set *set, const struct object *object, struct owner *ret_owner)
{
    yyjson_val *meta = yyjson_obj_get(object->root.val, "metadata");
    yyjson_val *reference = yyjson_arr_get_first(yyjson_obj_get(meta, "ownerReferences"));
    const char *kind_name = yyjson_get_str(yyjson_obj_get(reference, "kind"));
    const char *name = yyjson_get_str(yyjson_obj_get(reference, "name"));
    const char *api_version = yyjson_get_str(yyjson_obj_get(reference, "apiVersion"));

    if (!kind_name || !name)
        return false;
    api_version = api_version ? api_version : "v1";
    const struct object_kind *kind = object_kind_find(api_version, kind_name);
    *ret_owner = (struct owner){
        .api_version = api_version,
        .kind = kind_name,
        .namespace = object->namespace,
        .name = name,
        .object = kind ? object_set_find(set, kind, kind->is_cluster_wide ? "" : object->namespace, name) : NULL,
    };
    return true;
}

bool owner_find(const struct object_set *set, const char *namespace, const char *pod_group, struct owner *ret_owner)
{
    const struct object *group =
        object_set_find(set, object_kind_of("scheduling.run.ai", "PodGroup"), namespace, pod_group);

    return group && owner_of(set, group, ret_owner);
}

bool owner_of_replica(const struct object_set *set, const struct object *pod_group, struct owner *ret_owner)
{
    struct owner above;
    struct owner top;

    if (!owner_of(set, pod_group, &top) || strcmp(top.kind, "Pod") != 0 || !top.object ||
        !owner_of(set, top.object, &top))
        return false;
    for (int i = 0; i < OWNERS_MAX && top.object && owner_of(set, top.object, &above); i++)
        top = above;
    *ret_owner = top;
    return true;
}

bool owner_is_below(const struct object_set *set, const struct owner *owner, const char *name)
{
    struct owner above;
    const struct object *object = owner->object;

    for (int i = 0; i < OWNERS_MAX && object && owner_of(set, object, &above); i++) {
        if (strcmp(above.name, name) == 0)
            return true;
        object = above.object;
    }
    return false;
}

void json_pointer_add(char *path, size_t size, const char *key)
{
    size_t len = strlen(path);

    if (len + 1 < size)
        path[len++] = '/';
    for (; *key && len + 2 < size; key++) {
        if (*key == '~' || *key == '/') {
            path[len++] = '~';
            path[len++] = *key == '~' ? '0' : '1';
        } else {
            path[len++] = *key;
        }
    }
    path[len] = '\0';
}

struct walk {
    struct pod_template *templates;
    size_t count;
    size_t max;
};

static bool is_template(yyjson_val *value)
{
    return yyjson_is_arr(yyjson_obj_get(yyjson_obj_get(value, "spec"), "containers"));
}

static void look_for_templates(struct walk *walk, yyjson_val *value, const char *path, uint32_t depth)
{
    char below[sizeof walk->templates->path];
    char index[24];
    size_t i;
    size_t max;
    yyjson_val *key;
    yyjson_val *child;

    if (depth == DEPTH_MAX || walk->count == walk->max || !yyjson_is_ctn(value))
        return;
    if (is_template(value)) {
        struct pod_template *template = &walk->templates[walk->count++];

        (void)snprintf(template->path, sizeof template->path, "%s", path);
        template->value = value;
        return;
    }
    if (yyjson_is_arr(value)) {
        yyjson_arr_foreach(value, i, max, child)
        {
            (void)snprintf(below, sizeof below, "%s", path);
            (void)snprintf(index, sizeof index, "%zu", i);
            json_pointer_add(below, sizeof below, index);
            look_for_templates(walk, child, below, depth + 1);
        }
        return;
    }
    yyjson_obj_foreach(value, i, max, key, child)
    {
        (void)snprintf(below, sizeof below, "%s", path);
        json_pointer_add(below, sizeof below, yyjson_get_str(key));
        look_for_templates(walk, child, below, depth + 1);
    }
}

size_t owner_templates(const struct object *workload, struct pod_template *templates, size_t max)
{
    struct walk walk = {.templates = templates, .max = max};
    yyjson_val *spec = yyjson_obj_get(workload->root.val, "spec");

    if (is_template(workload->root.val))
        look_for_templates(&walk, workload->root.val, "", 0);
    else
        look_for_templates(&walk, spec, "/spec", 0);
    return walk.count;
}
