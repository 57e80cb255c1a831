/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object is walked along its types. Each struct gets its rows of the table, then what follows from other members; those
 * inside come after those around them, since they may have been made by them.
 */
#include <string.h>

#include "base/macros.h"
#include "base/text_is.h"
#include "base/time.h"
#include "local/api/kinds.h"
#include "local/builtin/builtin.h"
#include "local/builtin/default_internal.h"
#include "local/builtin/members.h"
#include "local/wire/types.h"

/* --- Structs with a rule of their own --- */

static void default_limits(struct defaulting *defaulting, yyjson_mut_val *item)
{
    static const char *const copies[][2] = {
        {"max", "default"}, {"default", "defaultRequest"}, {"min", "defaultRequest"}};

    if (!member_is(item, "type", "Container"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(item, copies[i][0]));
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            yyjson_mut_val *copy = yyjson_mut_val_mut_copy(defaulting->doc, yyjson_mut_obj_iter_get_val(key));
            member_default(defaulting->doc, member_object(defaulting->doc, item, copies[i][1]), yyjson_mut_get_str(key),
                           copy);
        }
    }
}

static void default_node(struct defaulting *defaulting, yyjson_mut_val *status)
{
    yyjson_mut_val *capacity = member_get(status, "capacity");

    if (capacity)
        member_default(defaulting->doc, status, "allocatable", yyjson_mut_val_mut_copy(defaulting->doc, capacity));
}

/* The older member has one of the newer one's. */
static void default_node_network(struct defaulting *defaulting, yyjson_mut_val *spec)
{
    const char *network = member_text(spec, "podCIDR");

    if (!*network || member_get(spec, "podCIDRs"))
        return;
    member_set(defaulting->doc, spec, "podCIDRs", yyjson_mut_arr(defaulting->doc));
    yyjson_mut_arr_add_strcpy(defaulting->doc, member_get(spec, "podCIDRs"), network);
}

static void default_namespace(struct defaulting *defaulting, yyjson_mut_val *namespace)
{
    yyjson_mut_val *meta = member_object(defaulting->doc, namespace, "metadata");
    const char *name = member_text(meta, "name");

    if (*name)
        member_set_text(defaulting->doc, member_object(defaulting->doc, meta, "labels"), "kubernetes.io/metadata.name",
                        name);
}

static void prepare_namespace(struct defaulting *defaulting, yyjson_mut_val *namespace)
{
    if (defaulting->old)
        return;
    yyjson_mut_val *finalizers = yyjson_mut_arr(defaulting->doc);
    yyjson_mut_arr_add_str(defaulting->doc, finalizers, "kubernetes");
    member_set(defaulting->doc, member_object(defaulting->doc, namespace, "spec"), "finalizers", finalizers);
}

static void default_controller(struct defaulting *defaulting, yyjson_mut_val *controller)
{
    yyjson_mut_val *labels = member_get(controller, "spec.template.metadata.labels");

    if (!labels)
        return;
    member_default(defaulting->doc, member_get(controller, "spec"), "selector",
                   yyjson_mut_val_mut_copy(defaulting->doc, labels));
    member_default(defaulting->doc, member_object(defaulting->doc, controller, "metadata"), "labels",
                   yyjson_mut_val_mut_copy(defaulting->doc, labels));
}

static void default_taint(struct defaulting *defaulting, yyjson_mut_val *taint)
{
    char text[TIME_TEXT_MAX];
    nsec_t now = nsec_now_wall();

    (void)time_format(now - now % NSEC_PER_SEC, text);
    member_default(defaulting->doc, taint, "timeAdded", yyjson_mut_strcpy(defaulting->doc, text));
}

static const struct {
    const char *type;
    void (*fill)(struct defaulting *defaulting, yyjson_mut_val *object);
} rules[] = {
    {"Pod", default_pod},
    {"Container", default_container},
    {"EphemeralContainer", default_container},
    {"Volume", default_volume},
    {"Service", default_service},
    {"Job", default_job},
    {"LimitRangeItem", default_limits},
    {"NodeStatus", default_node},
    {"NodeSpec", default_node_network},
    {"Namespace", default_namespace},
    {"ReplicationController", default_controller},
    {"DeviceTaint", default_taint},
    {"PodSpec", default_pod_spec},
    {"Secret", default_secret},
};

/* --- The walk --- */

static bool applies(const struct default_row *row, yyjson_mut_val *object)
{
    if (!row->if_path)
        return true;
    yyjson_mut_val *value = member_get(object, row->if_path);
    return row->if_value ? yyjson_mut_equals_str(value, row->if_value) : !value;
}

static void apply_row(struct defaulting *defaulting, const struct default_row *row, yyjson_mut_val *object)
{
    const char *name = strrchr(row->path, '.');

    if (!applies(row, object))
        return;
    for (const char *at = row->path; name && at < name; at += strcspn(at, ".") + 1)
        object = yyjson_mut_obj_getn(object, at, strcspn(at, "."));
    name = name ? name + 1 : row->path;
    yyjson_mut_val *found = member_get(object, name);
    bool is_empty = !found || (yyjson_mut_is_str(found) && yyjson_mut_get_len(found) == 0);
    if (!yyjson_mut_is_obj(object) || !is_empty)
        return;
    yyjson_doc *value = yyjson_read(row->json, strlen(row->json), 0);
    member_set(defaulting->doc, object, name, yyjson_val_mut_copy(defaulting->doc, yyjson_doc_get_root(value)));
    yyjson_doc_free(value);
}

static void apply_rules(struct defaulting *defaulting, const struct type *type, yyjson_mut_val *object)
{
    const char *group = type_group(type);
    const char *name = type_name(type);
    const struct default_row *row;

    for (size_t i = 0; (row = default_row_at(i)); i++)
        if (text_is(row->type, name) && text_is(row->group, group))
            apply_row(defaulting, row, object);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (text_is(rules[i].type, name))
            rules[i].fill(defaulting, object);
}

static void walk(struct defaulting *defaulting, const struct type *type, yyjson_mut_val *object);

static void walk_elements(struct defaulting *defaulting, const struct type_row *row, yyjson_mut_val *value)
{
    const struct type *type = row_struct(row);

    if (row->flags & ROW_LIST) {
        MEMBER_ITEMS (item, value)
            walk(defaulting, type, item);
    } else if (row->flags & ROW_MAP) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
            walk(defaulting, type, yyjson_mut_obj_iter_get_val(key));
    } else {
        walk(defaulting, type, value);
    }
}

static void walk(struct defaulting *defaulting, const struct type *type, yyjson_mut_val *object)
{
    if (!yyjson_mut_is_obj(object))
        return;
    apply_rules(defaulting, type, object);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct type_row *row = type_member(type, yyjson_mut_get_str(key));
        if (row && row->type == TYPE_QUANTITY && (row->flags & ROW_MAP))
            default_amounts(defaulting, yyjson_mut_obj_iter_get_val(key));
        if (row && row_struct(row) && !type_is_schema(row_struct(row)))
            walk_elements(defaulting, row, yyjson_mut_obj_iter_get_val(key));
    }
}

void builtin_default(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct type *type = type_find(kind->group, kind->version, kind->kind);
    struct defaulting defaulting = {.doc = doc, .old = old};
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    struct field_faults faults = {0};  // there are none any more, and lists without elements stay
    int code = 0;

    if (!type)
        return;
    /* A new object has lost the status that the client gave; Kubernetes still writes one that says nothing. */
    if (!old && !yyjson_mut_obj_get(root, "status"))
        code = normal_form(type, doc, &faults, NULL);
    field_faults_done(&faults);
    if (code == 0)
        walk(&defaulting, type, root);
}

/* Claims in a StatefulSet say what they are, although they can be nothing else. */
static void prepare_stateful_set(struct defaulting *defaulting, yyjson_mut_val *set)
{
    yyjson_mut_doc *doc = defaulting->doc;

    MEMBER_ITEMS (claim, member_get(set, "spec.volumeClaimTemplates")) {
        member_default(doc, claim, "kind", yyjson_mut_str(doc, "PersistentVolumeClaim"));
        member_default(doc, claim, "apiVersion", yyjson_mut_str(doc, "v1"));
    }
}

static const struct {
    const char *type;
    void (*fill)(struct defaulting *defaulting, yyjson_mut_val *object);
} preparations[] = {
    {"Pod", prepare_pod},
    {"Service", prepare_service},
    {"Job", prepare_job},
    {"Namespace", prepare_namespace},
    {"StatefulSet", prepare_stateful_set},
};

void builtin_prepare(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    struct defaulting defaulting = {.doc = doc, .old = old};

    for (size_t i = 0; i < ARRAY_LEN(preparations); i++)
        if (strcmp(preparations[i].type, kind->kind) == 0)
            preparations[i].fill(&defaulting, yyjson_mut_doc_get_root(doc));
}
