/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The whole organisation as one document: node pools, departments and their projects, with their quotas and without identifiers.
 * Applying a document creates what is missing and changes what differs; what it does not name stays as it is. All of it is one
 * transaction. A document that was exported changes nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/data/items.h"
#include "console/org/apply.h"
#include "console/org/pools.h"
#include "console/org/sync.h"
#include "console/rest/handlers.h"

#define API_VERSION "muster/v1"
#define KIND "Organization"

static const char *text_in(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

/* --- rights --- */

static int check_rights(const struct request *request, const enum action *actions, size_t count, struct err *err)
{
    static const enum resource_type types[] = {RESOURCE_NODE_POOLS, RESOURCE_DEPARTMENT, RESOURCE_PROJECT};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        for (size_t j = 0; j < count; j++) {
            if (!access_has_everywhere(&request->caller->access, types[i], actions[j]))
                return err_set(err, -EACCES, "'%.100s' has no role in the whole tenant that allows %s:%s",
                               request->caller->name, resource_type_name(types[i]), permission_action_name(actions[j]));
        }
    }
    return 0;
}

/* --- export --- */

struct exporting {
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
    yyjson_mut_val *by_department;  // lists of projects
};

static void put_if_any(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *text)
{
    if (*text)
        put_text(doc, to, key, text);
}

static int export_pool(void *arg, yyjson_val *item)
{
    struct exporting *exporting = arg;
    yyjson_mut_doc *doc = exporting->doc;
    bool is_default = yyjson_get_bool(yyjson_obj_get(item, "isDefault"));

    if (strcmp(text_in(item, "phase"), SYNC_DELETING) == 0 ||
        (is_default && strcmp(text_in(item, "updatedBy"), "system") == 0))
        return 0;
    yyjson_mut_val *pool = yyjson_mut_arr_add_obj(doc, exporting->list);
    put_text(doc, pool, "name", text_in(item, "name"));
    if (!is_default) {
        put_text(doc, pool, "labelKey", text_in(item, "labelKey"));
        put_text(doc, pool, "labelValue", text_in(item, "labelValue"));
    }
    yyjson_mut_val *scheduling = yyjson_mut_obj_add_obj(doc, pool, "schedulingConfiguration");
    yyjson_mut_val *strategy = yyjson_mut_obj_add_obj(doc, scheduling, "placementStrategy");
    put_text(doc, strategy, "gpu", text_in(item, "gpu"));
    put_text(doc, strategy, "cpu", text_in(item, "cpu"));
    put_if_any(doc, scheduling, "minGuaranteedRuntime", text_in(item, "minGuaranteedRuntime"));
    return 0;
}

/* Pools by their names: identifiers are another console's. */
static yyjson_mut_val *export_rows(yyjson_mut_doc *doc, yyjson_val *rows)
{
    yyjson_mut_val *copy = copy_item(doc, rows);
    yyjson_mut_val *row;
    size_t index, max;

    yyjson_mut_arr_foreach(copy, index, max, row)
    {
        (void)yyjson_mut_obj_remove_key(yyjson_mut_obj_get(row, "nodePool"), "id");
        (void)yyjson_mut_obj_remove_key(row, "priority");
    }
    return copy;
}

static yyjson_mut_val *export_unit(yyjson_mut_doc *doc, yyjson_val *item)
{
    yyjson_mut_val *unit = yyjson_mut_obj(doc);

    put_text(doc, unit, "name", text_in(item, "name"));
    put_if_any(doc, unit, "description", text_in(item, "description"));
    put_if_any(doc, unit, "requestedNamespace", text_in(item, "requestedNamespace"));
    (void)yyjson_mut_obj_add_val(doc, unit, "resources", export_rows(doc, yyjson_obj_get(item, "resources")));
    return unit;
}

static bool is_deleting(yyjson_val *item)
{
    return yyjson_equals_str(yyjson_ptr_get(item, "/status/phase"), SYNC_DELETING);
}

static int export_project(void *arg, yyjson_val *item)
{
    struct exporting *exporting = arg;
    yyjson_mut_doc *doc = exporting->doc;
    yyjson_mut_val *list = yyjson_mut_obj_get(exporting->by_department, text_in(item, "parentId"));

    if (is_deleting(item))
        return 0;
    if (!list) {
        list = yyjson_mut_arr(doc);
        (void)yyjson_mut_obj_add(exporting->by_department, yyjson_mut_strcpy(doc, text_in(item, "parentId")), list);
    }
    (void)yyjson_mut_arr_append(list, export_unit(doc, item));
    return 0;
}

static int export_department(void *arg, yyjson_val *item)
{
    struct exporting *exporting = arg;
    yyjson_mut_doc *doc = exporting->doc;
    yyjson_mut_val *projects = yyjson_mut_obj_get(exporting->by_department, text_in(item, "id"));

    if (is_deleting(item))
        return 0;
    yyjson_mut_val *unit = export_unit(doc, item);
    (void)yyjson_mut_obj_add_val(doc, unit, "projects",
                                 projects ? yyjson_mut_val_mut_copy(doc, projects) : yyjson_mut_arr(doc));
    (void)yyjson_mut_arr_append(exporting->list, unit);
    return 0;
}

static int export_all(struct request *request, struct err *err)
{
    static const enum action reads[] = {ACTION_READ};
    const char *accept = http_exchange_header(request->exchange, "Accept");
    yyjson_mut_doc *doc = request->doc;
    struct exporting exporting = {.doc = doc, .by_department = yyjson_mut_obj(doc)};
    struct db *db = request->console->db;
    int r = check_rights(request, reads, ARRAY_LEN(reads), err);

    if (r < 0)
        return r;
    request->is_yaml = accept && strcmp(accept, YAML_TYPE) == 0;
    request->answer = yyjson_mut_obj(doc);
    put_text(doc, request->answer, "apiVersion", API_VERSION);
    put_text(doc, request->answer, "kind", KIND);
    exporting.list = yyjson_mut_obj_add_arr(doc, request->answer, "nodePools");
    if ((r = items_each(db, ITEM_NODE_POOL, NULL, export_pool, &exporting, err)) < 0 ||
        (r = items_each(db, ITEM_PROJECT, NULL, export_project, &exporting, err)) < 0)
        return r;
    exporting.list = yyjson_mut_obj_add_arr(doc, request->answer, "departments");
    return items_each(db, ITEM_DEPARTMENT, NULL, export_department, &exporting, err);
}
READS(handle_export_organization, export_all)

/* --- apply --- */

/* The member of one thing with what the REST wants besides; to be freed. */
static yyjson_doc *make_body(const struct request *request, yyjson_val *thing, const char *parent)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = copy_item(doc, thing);
    static const char *const own[] = {"clusterId", "parentId", "projects"};

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        (void)yyjson_mut_obj_remove_key(root, own[i]);
    put_text(doc, root, "clusterId", request->console->cluster_id);
    if (parent)
        put_text(doc, root, "parentId", parent);
    yyjson_doc *body = yyjson_mut_val_imut_copy(root, NULL);
    yyjson_mut_doc_free(doc);
    BUG_ON(!body);
    return body;
}

struct applying {
    struct request *request;
    yyjson_mut_val *created;
    yyjson_mut_val *updated;
    int64_t unchanged;
};

/* One thing by the handlers of its kind, with an entry in the audit log when something has changed. */
static int apply_one(struct applying *applying, enum apply_kind kind, const struct json_at *at, const char *parent,
                     struct err *err)
{
    struct request *request = applying->request;
    struct json_at whole = request->body;
    yyjson_mut_doc *doc = request->doc;
    char path[128];
    int r = json_object(at, err);

    if (r < 0)
        return r;
    _cleanup_(json_doc_freep) yyjson_doc *body = make_body(request, at->val, parent);
    request->body = json_root(body);
    request->action = NULL;
    request->status = 200;
    request->place = (struct place){0};
    request->sync_kind = NULL;
    request->syncs_all = false;
    r = kind == APPLY_POOL ? pool_apply(request, err) : unit_apply(request, kind == APPLY_PROJECT, err);
    request->body = whole;
    if (r < 0)
        return err_wrap(err, r, "%s", json_path(at, path, sizeof path));
    if (!request->action) {
        applying->unchanged++;
        return 0;
    }
    char label[300];
    (void)snprintf(label, sizeof label, "%s/%s", request->type, request->name);
    (void)yyjson_mut_arr_add_strcpy(doc, strcmp(request->action, "create") == 0 ? applying->created : applying->updated,
                                    label);
    return request_audit(request, err);
}

static int apply_list(struct applying *applying, enum apply_kind kind, const struct json_at *at, const char *key,
                      const char *parent, struct err *err)
{
    struct json_at list = {0};
    int r = json_member_array(at, key, JSON_OPTIONAL, &list, err);

    for (struct json_at item = {0}; r >= 0 && json_next(&list, &item);) {
        r = apply_one(applying, kind, &item, parent, err);
        if (r < 0 || kind != APPLY_DEPARTMENT)
            continue;
        char id[UUID_TEXT_MAX];
        (void)snprintf(id, sizeof id, "%s", applying->request->id);
        r = apply_list(applying, APPLY_PROJECT, &item, "projects", id, err);
    }
    return r < 0 ? r : 0;
}

static int check_kind(const struct json_at *body, struct err *err)
{
    static const char *const members[] = {"apiVersion", "kind", "nodePools", "departments"};
    const char *version = NULL;
    const char *kind = NULL;
    yyjson_val *key;
    yyjson_obj_iter iter;
    int r;

    if ((r = json_object(body, err)) < 0 ||
        (r = json_member_str(body, "apiVersion", JSON_REQUIRED, &version, err)) < 0 ||
        (r = json_member_str(body, "kind", JSON_REQUIRED, &kind, err)) < 0)
        return r;
    if (strcmp(version, API_VERSION) != 0 || strcmp(kind, KIND) != 0)
        return err_set(err, -EINVAL, "expected apiVersion " API_VERSION " and kind " KIND);
    yyjson_obj_iter_init(body->val, &iter);
    while ((key = yyjson_obj_iter_next(&iter))) {
        bool is_known = false;

        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            is_known = is_known || yyjson_equals_str(key, members[i]);
        if (!is_known)
            return err_set(err, -EINVAL, "%.50s: an organisation has no such member", yyjson_get_str(key));
    }
    return 0;
}

static int apply_all(struct request *request, struct err *err)
{
    static const enum action writes[] = {ACTION_CREATE, ACTION_READ, ACTION_UPDATE};
    yyjson_mut_doc *doc = request->doc;
    struct applying applying = {request, yyjson_mut_arr(doc), yyjson_mut_arr(doc), 0};
    int r;

    if ((r = check_rights(request, writes, ARRAY_LEN(writes), err)) < 0 || (r = check_kind(&request->body, err)) < 0 ||
        (r = apply_list(&applying, APPLY_POOL, &request->body, "nodePools", NULL, err)) < 0 ||
        (r = apply_list(&applying, APPLY_DEPARTMENT, &request->body, "departments", NULL, err)) < 0)
        return r;
    request->action = NULL;
    request->status = 200;
    request->answer = yyjson_mut_obj(doc);
    (void)yyjson_mut_obj_add_val(doc, request->answer, "created", applying.created);
    (void)yyjson_mut_obj_add_val(doc, request->answer, "updated", applying.updated);
    (void)yyjson_mut_obj_add_sint(doc, request->answer, "unchanged", applying.unchanged);
    return 0;
}
CHANGES_YAML(handle_apply_organization, apply_all)
