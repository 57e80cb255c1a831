/* SPDX-License-Identifier: Apache-2.0 */

/* The pod of one template of a workflow that runs something. */
#include <string.h>

#include "objects/make/workflow_internal.h"

#define WORKFLOW_LABEL "workflows.argoproj.io/workflow"

/* Puts what is known into every text below `val`. The depth of documents is bounded, see JSON_DEPTH_MAX. */
static void fill_all(struct flow *flow, const struct scope *scope, yyjson_mut_doc *doc, yyjson_mut_val *val)
{
    if (yyjson_mut_is_str(val) && strstr(yyjson_mut_get_str(val), "{{")) {
        const char *text = scope_fill(flow, scope, yyjson_mut_get_str(val));

        (void)yyjson_mut_set_str(val, yyjson_mut_get_str(yyjson_mut_strcpy(doc, text)));
    } else if (yyjson_mut_is_arr(val)) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(val);

        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter)) != NULL;)
            fill_all(flow, scope, doc, item);
    } else if (yyjson_mut_is_obj(val)) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(val);

        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter)) != NULL;)
            fill_all(flow, scope, doc, yyjson_mut_obj_iter_get_val(key));
    }
}

/* Whether a text below `val` still waits for a value. */
static bool has_gaps(yyjson_mut_val *val)
{
    if (yyjson_mut_is_str(val))
        return strstr(yyjson_mut_get_str(val), "{{") != NULL;
    if (yyjson_mut_is_arr(val)) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(val);

        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter)) != NULL;) {
            if (has_gaps(item))
                return true;
        }
    }
    if (yyjson_mut_is_obj(val)) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(val);

        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter)) != NULL;) {
            if (has_gaps(yyjson_mut_obj_iter_get_val(key)))
                return true;
        }
    }
    return false;
}

/* A container's name and what it asks for; its commands mean nothing here. */
static void put_container(struct draft *draft, const struct json_at *container, const char *fallback_name)
{
    struct json_at resources = json_member(container, "resources");
    struct json_at ports = json_member(container, "ports");
    const char *name = json_peek_str(container, "name");
    yyjson_mut_val *made = draft_container(draft, name && *name ? name : fallback_name, &resources);

    draft_put(draft, made, "ports", &ports);
}

static void put_containers(struct draft *draft, const struct json_at *template)
{
    static const char *const single[] = {"container", "script"};
    struct json_at set = json_member(template, "containerSet");
    struct json_at several = json_member(&set, "containers");
    struct json_at sidecars = json_member(template, "sidecars");

    for (size_t i = 0; i < ARRAY_LEN(single); i++) {
        struct json_at container = json_member(template, single[i]);

        if (container.val)
            put_container(draft, &container, "main");
    }
    for (struct json_at item = {0}; json_next(&several, &item);)
        put_container(draft, &item, "main");
    for (struct json_at item = {0}; json_next(&sidecars, &item);)
        put_container(draft, &item, "sidecar");
    /* Templates of other types run in the executor's container. */
    struct json_at nothing = {0};
    if (!yyjson_mut_obj_get(draft->spec, "containers"))
        (void)draft_container(draft, "main", &nothing);
}

/* Labels and annotations, where the pod may go: the workflow's, its defaults for templates, the template's own. */
static void put_around(struct flow *flow, struct draft *draft, const struct json_at *template)
{
    struct json_at defaults = flow_member(flow, "templateDefaults");
    struct json_at priority = flow_member(flow, "podPriorityClassName");
    struct json_at shared_meta = flow_member(flow, "podMetadata");
    struct json_at default_meta = json_member(&defaults, "metadata");
    struct json_at own_meta = json_member(template, "metadata");
    const struct json_at *const specs[] = {&flow->spec, &flow->own, &defaults, template};
    const struct json_at *const metas[] = {&shared_meta, &default_meta, &own_meta};

    draft_put(draft, draft->spec, "priorityClassName", &priority);
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        draft_put_placement(draft, specs[i]);
    for (size_t i = 0; i < ARRAY_LEN(metas); i++) {
        struct json_at labels = json_member(metas[i], "labels");
        struct json_at annotations = json_member(metas[i], "annotations");

        draft_put_all(draft, draft->labels, &labels);
        draft_put_all(draft, draft->annotations, &annotations);
    }
}

int flow_make_pod(struct flow *flow, const struct call *call, bool is_entry, struct err *err)
{
    struct json_at template = {.val = call->template, .key = "template"};
    struct json_at patch = json_member(&template, "podSpecPatch");
    struct json_at patch_of_all = flow_member(flow, "podSpecPatch");
    const char *name = json_peek_str(&template, "name");
    struct child child = {
        .name = is_entry ? flow->owner->name
                         : arena_printf(flow->maker->arena, "%s-%s-%lld", flow->owner->name, name ? name : "inline",
                                        (long long)flow->pods),
        .labels = {{WORKFLOW_LABEL, flow->owner->name}},
    };
    struct draft draft;

    if (flow->is_full)
        return 0;
    if (patch.val || patch_of_all.val)
        flow_warn(flow, "podSpecPatch is not applied");
    draft_init(&draft);
    put_around(flow, &draft, &template);
    put_containers(&draft, &template);
    fill_all(flow, call->scope, draft.doc, yyjson_mut_doc_get_root(draft.doc));
    if (has_gaps(draft.spec)) {
        flow_warn(flow, arena_printf(flow->maker->arena,
                                     "the requests of template %s are known only when it runs; its pods are left out",
                                     name ? name : "inline"));
        yyjson_mut_doc_free(draft.doc);
        return 0;
    }
    int r = make_drafted(flow->maker, flow->owner, &child, &draft, err);
    flow->pods++;
    flow->is_full = r != 0 || flow->pods >= flow->limit;
    return r;
}
