/* SPDX-License-Identifier: Apache-2.0 */

/* Templates that a controller writes itself, from a workload that says the same in other words. */
#include "base/macros.h"
#include "objects/make/maker.h"

void draft_init(struct draft *draft)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");

    yyjson_mut_doc_set_root(doc, root);
    *draft = (struct draft){
        .doc = doc,
        .labels = yyjson_mut_obj_add_obj(doc, meta, "labels"),
        .annotations = yyjson_mut_obj_add_obj(doc, meta, "annotations"),
        .spec = yyjson_mut_obj_add_obj(doc, root, "spec"),
    };
}

static void put(struct draft *draft, yyjson_mut_val *into, const char *key, yyjson_mut_val *val)
{
    (void)yyjson_mut_obj_remove_str(into, key);
    (void)yyjson_mut_obj_add(into, yyjson_mut_strcpy(draft->doc, key), val);
}

void draft_put(struct draft *draft, yyjson_mut_val *into, const char *key, const struct json_at *from)
{
    if (from->val)
        put(draft, into, key, yyjson_val_mut_copy(draft->doc, from->val));
}

void draft_put_str(struct draft *draft, yyjson_mut_val *into, const char *key, const char *text)
{
    if (text)
        put(draft, into, key, yyjson_mut_strcpy(draft->doc, text));
}

void draft_put_all(struct draft *draft, yyjson_mut_val *into, const struct json_at *from)
{
    if (!yyjson_is_obj(from->val))
        return;
    for (struct json_at item = {0}; json_next(from, &item);)
        draft_put(draft, into, item.key, &item);
}

void draft_put_placement(struct draft *draft, const struct json_at *from)
{
    static const char *const members[] = {
        "schedulerName",
        "nodeSelector",
        "tolerations",
        "affinity",
        "topologySpreadConstraints",
        "priorityClassName",
        "volumes",
        "hostNetwork",
        "resourceClaims",
        "runtimeClassName",
        "overhead",
        "initContainers",
        "terminationGracePeriodSeconds",
    };

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct json_at member = json_member(from, members[i]);

        draft_put(draft, draft->spec, members[i], &member);
    }
}

yyjson_mut_val *draft_container(struct draft *draft, const char *name, const struct json_at *resources)
{
    yyjson_mut_val *containers = yyjson_mut_obj_get(draft->spec, "containers");

    if (!containers)
        containers = yyjson_mut_obj_add_arr(draft->doc, draft->spec, "containers");
    yyjson_mut_val *container = yyjson_mut_arr_add_obj(draft->doc, containers);
    draft_put_str(draft, container, "name", name);
    draft_put(draft, container, "resources", resources);
    return container;
}

int make_drafted(struct maker *maker, const struct object *owner, struct child *child, struct draft *draft,
                 struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = make_finish(draft->doc);
    struct json_at template = json_root(doc);

    *draft = (struct draft){0};
    child->template = &template;
    int r = make_child(maker, owner, child, err);
    child->template = NULL;
    return r;
}
