/* SPDX-License-Identifier: Apache-2.0 */

/* A pod group in the making as a PodGroup object, field by field as KAI's grouper writes it. */
#include <string.h>

#include "base/err.h"
#include "objects/group/rules.h"
#include "objects/notes.h"
#include "objects/reader.h"

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text)
{
    if (text && *text)
        (void)yyjson_mut_obj_add_strcpy(doc, object, key, text);
}

/* Copies strings of `from` that `to` does not have. */
static void fill_in(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct json_at *from)
{
    if (!yyjson_is_obj(from->val))
        return;
    for (struct json_at item = {0}; json_next(from, &item);) {
        if (yyjson_is_str(item.val) && !yyjson_mut_obj_get(to, item.key))
            (void)yyjson_mut_obj_add(to, yyjson_mut_strcpy(doc, item.key), yyjson_val_mut_copy(doc, item.val));
    }
}

static yyjson_mut_val *labels_encode(const struct grouping *g, yyjson_mut_doc *doc)
{
    const char *pool_key = g->options->node_pool_label;
    const char *user = object_label(g->pod, KEY_USER);
    const char *pool = object_label(g->pod, pool_key);
    yyjson_mut_val *labels = yyjson_mut_obj(doc);
    struct json_at meta;
    struct json_at of_owner = object_labels(g->top, &meta);

    fill_in(doc, labels, &of_owner);
    if (g->skipped) {
        of_owner = object_labels(g->skipped, &meta);
        fill_in(doc, labels, &of_owner);
    }
    if (!yyjson_mut_obj_get(labels, KEY_USER))
        add_text(doc, labels, KEY_USER, user);
    if (!yyjson_mut_obj_get(labels, pool_key) && pool)
        (void)yyjson_mut_obj_add(labels, yyjson_mut_strcpy(doc, pool_key), yyjson_mut_strcpy(doc, pool));
    return labels;
}

static yyjson_mut_val *annotations_encode(const struct grouping *g, yyjson_mut_doc *doc)
{
    char group[API_GROUP_MAX];
    const char *slash = strchr(g->top->api_version, '/');
    const char *user = object_annotation(g->pod, KEY_USER);
    yyjson_mut_val *annotations = yyjson_mut_obj(doc);
    struct json_at meta;
    struct json_at of_owner = object_annotations(g->top, &meta);
    const char *of_core = slash ? "" : "\"\"";
    const char *top = arena_printf(g->arena, "name: %s\nuid: %s\ngroup: %s%s\nversion: %s\nkind: %s\n", g->top->name,
                                   g->top->uid, api_group(g->top->api_version, group), of_core,
                                   slash ? slash + 1 : g->top->api_version, g->top->kind->kind);

    fill_in(doc, annotations, &of_owner);
    if (g->skipped) {
        of_owner = object_annotations(g->skipped, &meta);
        fill_in(doc, annotations, &of_owner);
    }
    if (!yyjson_mut_obj_get(annotations, KEY_USER))
        add_text(doc, annotations, KEY_USER, user);
    if (!yyjson_mut_obj_get(annotations, KEY_TOP_OWNER))
        add_text(doc, annotations, KEY_TOP_OWNER, top);
    return annotations;
}

static void owner_encode(const struct grouping *g, yyjson_mut_doc *doc, yyjson_mut_val *meta)
{
    yyjson_mut_val *owners = yyjson_mut_obj_add_arr(doc, meta, "ownerReferences");
    yyjson_mut_val *owner = yyjson_mut_arr_add_obj(doc, owners);

    (void)yyjson_mut_obj_add_strcpy(doc, owner, "apiVersion", g->owner->api_version);
    (void)yyjson_mut_obj_add_strcpy(doc, owner, "kind", g->owner->kind->kind);
    (void)yyjson_mut_obj_add_strcpy(doc, owner, "name", g->owner->name);
    (void)yyjson_mut_obj_add_strcpy(doc, owner, "uid", g->owner->uid);
}

static void topology_encode(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct topology_constraint_spec *topology)
{
    if (!topology->topology || !*topology->topology)
        return;
    yyjson_mut_val *constraint = yyjson_mut_obj_add_obj(doc, to, "topologyConstraint");
    add_text(doc, constraint, "topology", topology->topology);
    add_text(doc, constraint, "requiredTopologyLevel", topology->required);
    add_text(doc, constraint, "preferredTopologyLevel", topology->preferred);
}

/* Of the two counts a group has one: children that are needed, or pods. */
static void mins_encode(yyjson_mut_doc *doc, yyjson_mut_val *to, int32_t min_member, int32_t min_subgroup)
{
    if (min_subgroup >= 0)
        (void)yyjson_mut_obj_add_int(doc, to, "minSubGroup", min_subgroup);
    else
        (void)yyjson_mut_obj_add_int(doc, to, "minMember", min_member);
}

static void spec_encode(struct grouping *g, yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
    mins_encode(doc, spec, g->min_member, g->min_subgroup);
    add_text(doc, spec, "queue", g->queue);
    add_text(doc, spec, "priorityClassName", g->priority_class);
    add_text(doc, spec, "preemptibility", g->preemptibility);
    add_text(doc, spec, "preemptionDelay", g->preemption_delay);
    add_text(doc, spec, "stalenessGracePeriod", g->staleness_grace);
    topology_encode(doc, spec, &g->topology);
    /* KAI's own writers always have it, empty or not. */
    if (!yyjson_mut_obj_get(spec, "topologyConstraint"))
        (void)yyjson_mut_obj_add_obj(doc, spec, "topologyConstraint");

    yyjson_mut_val *subgroups = yyjson_mut_obj_add_arr(doc, spec, "subGroups");
    vec_foreach (&g->subgroups, draft) {
        yyjson_mut_val *subgroup = yyjson_mut_arr_add_obj(doc, subgroups);

        (void)yyjson_mut_obj_add_strcpy(doc, subgroup, "name", draft->name);
        add_text(doc, subgroup, "parent", draft->parent);
        mins_encode(doc, subgroup, draft->min_member, draft->min_subgroup);
        topology_encode(doc, subgroup, &draft->topology);
    }
}

int group_encode(struct grouping *g, struct err *err)
{
    if (object_set_find(g->objects, object_kind_of("scheduling.run.ai", "PodGroup"), g->pod->namespace, g->name))
        return 0;

    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "scheduling.run.ai/v2alpha2");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "PodGroup");
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, meta, "name", g->name);
    (void)yyjson_mut_obj_add_strcpy(doc, meta, "namespace", g->pod->namespace);
    (void)yyjson_mut_obj_add_val(doc, meta, "labels", labels_encode(g, doc));
    (void)yyjson_mut_obj_add_val(doc, meta, "annotations", annotations_encode(g, doc));
    owner_encode(g, doc, meta);
    spec_encode(g, doc, yyjson_mut_obj_add_obj(doc, root, "spec"));

    yyjson_doc *made = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!made);
    yyjson_mut_doc_free(doc);
    return object_set_add_made(g->objects, made, g->top->root.val ? g->top : g->pod, err);
}
