/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Departments and projects. Both are Queues in the cluster, a project below its department, so that one name is one Queue; a
 * project has a namespace as well. The database says what should be, and sync.c makes the cluster follow.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/org/apply.h"
#include "console/org/pools.h"
#include "console/org/quota.h"
#include "console/org/sync.h"
#include "console/rest/handlers.h"
#include "console/rest/listing_source.h"

enum { UNIT_NAME_MAX = 50, NAMESPACE_MAX = 63, DESCRIPTION_MAX = 250 };

/* Identifiers are numbers of 31 bits, as assets and policies of the REST name a project. */
enum { UNIT_FIRST = 4500000 };

struct unit_kind {
    const char *kind;
    const char *list;  // of the answer
    const char *parameter;
    enum resource_type type;
    bool is_project;
};

static const struct unit_kind department = {ITEM_DEPARTMENT, "departments", "departmentId", RESOURCE_DEPARTMENT, false};
static const struct unit_kind project = {ITEM_PROJECT, "projects", "projectId", RESOURCE_PROJECT, true};

static const char *text_of(yyjson_mut_val *object, const char *key)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, key));

    return text ? text : "";
}

static bool may(const struct request *request, const struct unit_kind *unit, enum action action, yyjson_mut_val *item)
{
    return access_covers(&request->caller->access, unit->type, action,
                         unit->is_project ? text_of(item, "parentId") : text_of(item, "id"),
                         unit->is_project ? text_of(item, "id") : NULL);
}

/* Where the unit lies, for those who follow changes. */
static void note_place(struct request *request, const struct unit_kind *unit, yyjson_mut_val *item)
{
    struct place *place = &request->place;

    place->scope = unit->is_project ? SCOPE_PROJECT : SCOPE_DEPARTMENT;
    (void)snprintf(place->department, sizeof place->department, "%s",
                   text_of(item, unit->is_project ? "parentId" : "id"));
    (void)snprintf(place->project, sizeof place->project, "%s", unit->is_project ? request->id : "");
}

/* --- what a request may say --- */

/* A DNS label. */
static bool is_label(const char *text, size_t max)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return len > 0 && len <= max && text[len] == '\0' && text[0] != '-' && text[len - 1] != '-';
}

/* Members that have no effect yet are refused rather than kept without one. */
static int check_unsupported(const struct json_at *body, struct err *err)
{
    struct json_at rules = {0}, types = {0}, pools = {0}, item;
    int r;

    if ((r = json_member_object(body, "schedulingRules", JSON_OPTIONAL, &rules, err)) < 0 ||
        (r = json_member_object(body, "nodeTypes", JSON_OPTIONAL, &types, err)) < 0 ||
        (r = json_member_array(body, "defaultNodePools", JSON_OPTIONAL, &pools, err)) < 0)
        return r;
    for (item = (struct json_at){0}; json_next(&rules, &item);) {
        if (!yyjson_is_null(item.val))
            return json_fail(&rules, err, -ENOSYS, "scheduling rules are not supported yet");
    }
    for (item = (struct json_at){0}; json_next(&types, &item);) {
        if (yyjson_arr_size(item.val) > 0 || yyjson_obj_size(item.val) > 0)
            return json_fail(&types, err, -ENOSYS, "node types are not supported yet");
    }
    for (item = (struct json_at){0}; json_next(&pools, &item);) {
        if (!yyjson_equals_str(item.val, DEFAULT_POOL))
            return json_fail(&item, err, -ENOSYS, "lists of node pools are not supported yet");
    }
    return 0;
}

static int take_description(struct request *request, yyjson_mut_val *item, struct err *err)
{
    const char *text = "";
    int r = json_member_str(&request->body, "description", JSON_OPTIONAL, &text, err);

    if (r < 0)
        return r;
    if (strlen(text) > DESCRIPTION_MAX)
        return err_set(err, -EINVAL, "description: longer than %d bytes", DESCRIPTION_MAX);
    (void)yyjson_mut_obj_remove_key(item, "description");
    put_text(request->doc, item, "description", text);
    return 0;
}

static int take_resources(struct request *request, const struct json_at *rows, yyjson_mut_val *item, bool keeps,
                          struct err *err)
{
    struct pool_list pools = {0};
    yyjson_mut_val *fresh = NULL;
    int r = pools_load(request->console->db, &pools, err);

    if (r == 0)
        r = quota_read(rows, &pools, request->doc, keeps ? yyjson_mut_obj_get(item, "resources") : NULL, &fresh, err);
    pools_done(&pools);
    if (r < 0)
        return r;
    (void)yyjson_mut_obj_remove_key(item, "resources");
    (void)yyjson_mut_obj_add_val(request->doc, item, "resources", fresh);
    return 0;
}

/* --- answers --- */

/* Adds what follows from other items; `children` of a department may be NULL. */
static yyjson_mut_val *render(struct request *request, const struct unit_kind *unit, const struct pool_list *pools,
                              yyjson_mut_val *item, yyjson_mut_val *children)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *rows = quota_complete(doc, yyjson_mut_obj_get(item, "resources"), pools);

    (void)yyjson_mut_obj_remove_key(item, "resources");
    (void)yyjson_mut_obj_add_val(doc, item, "resources", rows);
    (void)yyjson_mut_obj_add_val(doc, item, "totalResources", quota_totals(doc, rows));
    if (unit->is_project)
        (void)yyjson_mut_obj_add_obj(doc, item, "effective");
    else
        (void)yyjson_mut_obj_add_val(doc, item, "children", children ? children : yyjson_mut_arr(doc));
    return item;
}

struct family {
    struct request *request;
    struct strmap by_department;  // struct child_list
    const char *only;             // the department that is asked for; NULL: all
};

struct child_list {
    char department[UUID_TEXT_MAX];
    yyjson_mut_val *list;
};

static int add_child(void *arg, yyjson_val *item)
{
    struct family *family = arg;
    yyjson_mut_doc *doc = family->request->doc;
    const char *parent = yyjson_get_str(yyjson_obj_get(item, "parentId"));
    struct child_list *children;

    if (!parent || (family->only && strcmp(parent, family->only) != 0))
        return 0;
    children = strmap_get(&family->by_department, "", parent);
    if (!children) {
        children = xcalloc(1, sizeof *children);
        (void)snprintf(children->department, sizeof children->department, "%s", parent);
        children->list = yyjson_mut_arr(doc);
        (void)strmap_put(&family->by_department, "", children->department, children);
    }
    yyjson_mut_val *child = yyjson_mut_arr_add_obj(doc, children->list);
    put_text(doc, child, "id", yyjson_get_str(yyjson_obj_get(item, "id")));
    put_text(doc, child, "name", yyjson_get_str(yyjson_obj_get(item, "name")));
    return 0;
}

static void family_done(struct family *family)
{
    struct child_list *children;

    for (size_t cursor = 0; (children = strmap_next(&family->by_department, &cursor));)
        free(children);
    strmap_done(&family->by_department);
}

/* Renders rows; departments with their projects. */
static int render_rows(struct request *request, const struct unit_kind *unit, struct listing_rows *rows,
                       struct err *err)
{
    struct family family = {.request = request};
    struct pool_list pools = {0};
    const char *only = rows->len == 1 ? text_of(rows->items[0], "id") : NULL;
    int r = pools_load(request->console->db, &pools, err);

    family.only = only;
    if (r == 0 && !unit->is_project)
        r = items_each(request->console->db, ITEM_PROJECT, NULL, add_child, &family, err);
    for (uint32_t i = 0; r == 0 && i < rows->len; i++) {
        struct child_list *children = strmap_get(&family.by_department, "", text_of(rows->items[i], "id"));

        (void)render(request, unit, &pools, rows->items[i], children ? children->list : NULL);
    }
    pools_done(&pools);
    family_done(&family);
    return r;
}

static int render_answer(struct request *request, const struct unit_kind *unit, struct err *err)
{
    struct listing_rows rows = {.items = &request->answer, .len = 1, .cap = 1};

    return render_rows(request, unit, &rows, err);
}

static const struct listing_field fields[] = {
    {"name", "/name"},
    {"clusterId", "/clusterId"},
    {"departmentId", "/parentId"},
    {"parentId", "/parentId"},
    {"phase", "/status/phase"},
    {"status", "/status/phase"},
    {"createdAt", "/createdAt"},
    {"createdBy", "/createdBy"},
    {"updatedAt", "/updatedAt"},
    {"namespace", "/status/namespace"},
    {"totalGpuQuota", "/resources/0/gpu/deserved"},
    {"gpuQuota", "/resources/0/gpu/deserved"},
    {NULL, NULL},
};
static const struct listing_kind unit_listing = {fields, "/name", 50, 500};

struct unit_reader {
    const struct access *access;
    const struct unit_kind *unit;
};

static bool may_read(void *arg, yyjson_val *item)
{
    const struct unit_reader *reader = arg;
    const char *id = yyjson_get_str(yyjson_obj_get(item, "id"));
    const char *parent = yyjson_get_str(yyjson_obj_get(item, "parentId"));

    return access_covers(reader->access, reader->unit->type, ACTION_READ, reader->unit->is_project ? parent : id,
                         reader->unit->is_project ? id : NULL);
}

static int load_units(struct request *request, const struct unit_kind *unit, struct listing_rows *rows,
                      struct listing_found *ret_found, struct err *err)
{
    struct unit_reader reader = {&request->caller->access, unit};
    bool sees_all = access_has_everywhere(reader.access, unit->type, ACTION_READ);
    const struct listing_source source = {
        LISTING_ITEMS(unit->kind, request->console->cluster_id),
        .may_see = sees_all ? NULL : may_read,
        .arg = &reader,
    };

    return listing_load(request, &unit_listing, &source, rows, ret_found, err);
}

static int list_units(struct request *request, const struct unit_kind *unit, struct err *err)
{
    struct listing_rows rows = {0};
    struct listing_found found = {.next = -1};
    int r = load_units(request, unit, &rows, &found, err);

    if (r == 0)
        r = render_rows(request, unit, &rows, err);
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, unit->list, rows_array(request, &rows));
    if (found.next >= 0)
        (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "next", found.next);
    vec_done(&rows);
    return r;
}

static int count_units(struct request *request, const struct unit_kind *unit, struct err *err)
{
    struct listing_found found = {0};
    int r = load_units(request, unit, NULL, &found, err);

    answer_count(request, found.total);
    return r;
}

/* --- one unit --- */

/* What the caller may not see is not there. */
static int take_unit_of(struct request *request, const struct unit_kind *unit, const char *id, enum action action,
                        struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = item_get(request->console->db, unit->kind, id, &doc, err);

    if (r < 0)
        return r;
    request->answer = copy_item(request->doc, yyjson_doc_get_root(doc));
    request->type = unit->kind;
    (void)snprintf(request->id, sizeof request->id, "%s", id);
    (void)snprintf(request->name, sizeof request->name, "%s", text_of(request->answer, "name"));
    note_place(request, unit, request->answer);
    if (!may(request, unit, ACTION_READ, request->answer))
        return err_set(err, -ENOENT, "there is no %s '%.50s'", unit->kind, id);
    if (!may(request, unit, action, request->answer))
        return err_set(err, -EACCES, "'%.100s' may not change this %s", request->caller->name, unit->kind);
    return 0;
}

static int take_unit(struct request *request, const struct unit_kind *unit, enum action action, struct err *err)
{
    return take_unit_of(request, unit, rest_param(request->exchange, unit->parameter), action, err);
}

static int get_unit(struct request *request, const struct unit_kind *unit, struct err *err)
{
    int r = take_unit(request, unit, ACTION_READ, err);

    return r < 0 ? r : render_answer(request, unit, err);
}

static void set_phase(yyjson_mut_doc *doc, yyjson_mut_val *item, const char *phase)
{
    yyjson_mut_val *status = yyjson_mut_obj_get(item, "status");

    (void)yyjson_mut_obj_remove_key(status, "phase");
    (void)yyjson_mut_obj_remove_key(status, "phaseMessage");
    put_text(doc, status, "phase", phase);
}

/* Keeps what was changed, and lets the cluster follow. */
static int save(struct request *request, const struct unit_kind *unit, const char *phase, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;

    (void)yyjson_mut_obj_remove_key(request->answer, "updatedAt");
    (void)yyjson_mut_obj_remove_key(request->answer, "updatedBy");
    put_now(doc, request->answer, "updatedAt");
    put_text(doc, request->answer, "updatedBy", request->caller->name);
    set_phase(doc, request->answer, phase);
    request->action = strcmp(phase, SYNC_DELETING) == 0 ? "delete" : "update";
    request->sync_kind = unit->kind;
    return item_update(request->console->db, unit->kind, request->id, request->answer, err);
}

static int check_not_deleting(struct request *request, struct err *err)
{
    if (strcmp(text_of(yyjson_mut_obj_get(request->answer, "status"), "phase"), SYNC_DELETING) == 0)
        return err_set(err, -EINVAL, "'%s' is being deleted", request->name);
    return 0;
}

static int update_unit(struct request *request, const struct unit_kind *unit, struct err *err)
{
    struct json_at rows = {0};
    int r;

    if ((r = take_unit(request, unit, ACTION_UPDATE, err)) < 0 || (r = check_not_deleting(request, err)) < 0 ||
        (r = json_object(&request->body, err)) < 0 || (r = check_unsupported(&request->body, err)) < 0 ||
        (r = take_description(request, request->answer, err)) < 0 ||
        (r = json_member_array(&request->body, "resources", unit->is_project ? JSON_REQUIRED : JSON_OPTIONAL, &rows,
                               err)) < 0 ||
        (r = take_resources(request, &rows, request->answer, rows.val == NULL, err)) < 0 ||
        (r = save(request, unit, "Updating", err)) < 0)
        return r;
    return render_answer(request, unit, err);
}

static int set_unit_resources(struct request *request, const struct unit_kind *unit, struct err *err)
{
    bool is_patch = strcmp(http_exchange_method(request->exchange), "PATCH") == 0;
    int r;

    if ((r = take_unit(request, unit, ACTION_UPDATE, err)) < 0 || (r = check_not_deleting(request, err)) < 0 ||
        (r = json_array(&request->body, err)) < 0 ||
        (r = take_resources(request, &request->body, request->answer, is_patch, err)) < 0 ||
        (r = save(request, unit, "Updating", err)) < 0 || (r = render_answer(request, unit, err)) < 0)
        return r;
    request->answer = yyjson_mut_obj_get(request->answer, "resources");
    return 0;
}

static int delete_unit(struct request *request, const struct unit_kind *unit, struct err *err)
{
    int64_t count = 0;
    int r;

    if ((r = take_unit(request, unit, ACTION_DELETE, err)) < 0 || (r = get_unit(request, unit, err)) < 0)
        return r;
    count = (int64_t)yyjson_mut_arr_size(yyjson_mut_obj_get(request->answer, "children"));
    if (count > 0)
        return err_set(err, -EINVAL, "the department has %lld projects: delete or move them first", (long long)count);
    if (!unit->is_project && strcmp(request->name, SYNC_DEFAULT_DEPARTMENT) == 0)
        return err_set(err, -EINVAL, "the default department cannot be deleted");
    if ((r = take_unit(request, unit, ACTION_DELETE, err)) < 0 || (r = save(request, unit, SYNC_DELETING, err)) < 0)
        return r;
    request->answer = NULL;
    request->status = unit->is_project ? 202 : 204;
    return 0;
}

/* --- new ones --- */

static int find_parent(struct request *request, yyjson_mut_val *item, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct console *console = request->console;
    const char *id = NULL;
    int r = json_member_str(&request->body, "parentId", JSON_OPTIONAL, &id, err);

    if (r < 0)
        return r;
    r = id ? item_get(console->db, ITEM_DEPARTMENT, id, &doc, err)
           : item_find(console->db, ITEM_DEPARTMENT, console->cluster_id, SYNC_DEFAULT_DEPARTMENT, &doc, err);
    if (r == -ENOENT)
        return err_set(err, -EINVAL, "parentId: there is no department '%.50s'", id ? id : SYNC_DEFAULT_DEPARTMENT);
    if (r < 0)
        return r;
    yyjson_val *above = yyjson_doc_get_root(doc);
    if (yyjson_equals_str(yyjson_ptr_get(above, "/status/phase"), SYNC_DELETING))
        return err_set(err, -EINVAL, "parentId: the department is being deleted");
    put_text(request->doc, item, "parentId", yyjson_get_str(yyjson_obj_get(above, "id")));
    yyjson_mut_val *parent = yyjson_mut_obj_add_obj(request->doc, item, "parent");
    put_text(request->doc, parent, "id", yyjson_get_str(yyjson_obj_get(above, "id")));
    put_text(request->doc, parent, "name", yyjson_get_str(yyjson_obj_get(above, "name")));
    return 0;
}

static int take_namespace(struct request *request, yyjson_mut_val *item, const char *name, yyjson_mut_val *status,
                          struct err *err)
{
    const char *wanted = NULL;
    char own[NAMESPACE_MAX + 8];
    bool enforces = true;
    int r;

    if ((r = json_member_str(&request->body, "requestedNamespace", JSON_OPTIONAL, &wanted, err)) < 0 ||
        (r = json_member_bool(&request->body, "enforceRunaiScheduler", JSON_OPTIONAL, &enforces, err)) < 0)
        return r;
    if (wanted && !is_label(wanted, NAMESPACE_MAX))
        return err_set(err, -EINVAL, "requestedNamespace: '%.70s' is not the name of a namespace", wanted);
    (void)snprintf(own, sizeof own, "runai-%s", name);
    if (wanted)
        put_text(request->doc, item, "requestedNamespace", wanted);
    else
        (void)yyjson_mut_obj_add_null(request->doc, item, "requestedNamespace");
    (void)yyjson_mut_obj_add_bool(request->doc, item, "enforceRunaiScheduler", enforces);
    put_text(request->doc, status, "namespace", wanted ? wanted : own);
    return 0;
}

/* A department and a project of one name would be one Queue. */
static int check_name(struct request *request, const struct unit_kind *unit, const char *name, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *other = unit->is_project ? ITEM_DEPARTMENT : ITEM_PROJECT;
    const char *cluster = NULL;
    int r = json_member_str(&request->body, "clusterId", JSON_REQUIRED, &cluster, err);

    if (r < 0)
        return r;
    if (strcmp(cluster, request->console->cluster_id) != 0)
        return err_set(err, -EINVAL, "clusterId: there is no cluster '%.50s'", cluster);
    if (!is_label(name, UNIT_NAME_MAX))
        return err_set(
            err, -EINVAL,
            "name: up to %d lower-case letters, digits and '-' are allowed, the first and last a letter or digit",
            UNIT_NAME_MAX);
    r = item_find(request->console->db, other, cluster, name, &doc, err);
    if (r == 0)
        return err_set(err, -EEXIST, "a %s '%s' exists already", other, name);
    return r == -ENOENT ? 0 : r;
}

int unit_create(struct request *request, bool is_project, const char *name, const char *created_by, struct err *err)
{
    const struct unit_kind *unit = is_project ? &project : &department;
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    yyjson_mut_val *status = yyjson_mut_obj(doc);
    struct json_at rows = {0};
    int64_t number = 0;
    int r = next_number(request->console->db, "unit", UNIT_FIRST, &number, err);

    if (r < 0)
        return r;
    (void)snprintf(request->id, sizeof request->id, "%lld", (long long)number);
    put_text(doc, item, "id", request->id);
    put_text(doc, item, "name", name);
    put_text(doc, item, "clusterId", request->console->cluster_id);
    put_text(doc, status, "phase", "Creating");
    if ((is_project && (r = find_parent(request, item, err)) < 0) ||
        (is_project && (r = take_namespace(request, item, name, status, err)) < 0) ||
        (r = take_description(request, item, err)) < 0 ||
        (r = json_member_array(&request->body, "resources", JSON_OPTIONAL, &rows, err)) < 0 ||
        (r = take_resources(request, &rows, item, false, err)) < 0)
        return r;
    (void)yyjson_mut_obj_add_val(doc, item, "status", status);
    put_text(doc, item, "createdBy", created_by);
    put_text(doc, item, "updatedBy", created_by);
    put_now(doc, item, "createdAt");
    put_now(doc, item, "updatedAt");
    request->answer = item;
    request->status = 201;
    request->action = "create";
    request->type = unit->kind;
    request->sync_kind = unit->kind;
    note_place(request, unit, item);
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    return item_insert(request->console->db,
                       &(struct item_key){unit->kind, request->id, request->console->cluster_id, name}, item, err);
}

static int create_unit(struct request *request, const struct unit_kind *unit, struct err *err)
{
    const char *name = NULL;
    struct json_at rows = {0};
    int r;

    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = check_name(request, unit, name, err)) < 0 || (r = check_unsupported(&request->body, err)) < 0 ||
        (unit->is_project && (r = json_member_array(&request->body, "resources", JSON_REQUIRED, &rows, err)) < 0) ||
        (r = unit_create(request, unit->is_project, name, request->caller->name, err)) < 0)
        return r;
    /* Rolled back when the department is not one that the caller may add to. */
    bool is_allowed = unit->is_project
                          ? access_covers(&request->caller->access, RESOURCE_PROJECT, ACTION_CREATE,
                                          text_of(request->answer, "parentId"), NULL)
                          : access_has_everywhere(&request->caller->access, RESOURCE_DEPARTMENT, ACTION_CREATE);
    if (!is_allowed)
        return err_set(err, -EACCES, "'%.100s' may not create a %s here", request->caller->name, unit->kind);
    return render_answer(request, unit, err);
}

/* --- by name --- */

static int change_unit(struct request *request, const struct unit_kind *unit, const char *id, struct err *err)
{
    struct json_at rows = {0};
    const char *parent = NULL;
    const char *namespace = NULL;
    int r;

    if ((r = take_unit_of(request, unit, id, ACTION_UPDATE, err)) < 0 || (r = check_not_deleting(request, err)) < 0 ||
        (r = check_unsupported(&request->body, err)) < 0 ||
        (r = json_member_str(&request->body, "parentId", JSON_OPTIONAL, &parent, err)) < 0 ||
        (r = json_member_str(&request->body, "requestedNamespace", JSON_OPTIONAL, &namespace, err)) < 0 ||
        (r = json_member_array(&request->body, "resources", JSON_OPTIONAL, &rows, err)) < 0)
        return r;
    if (parent && strcmp(parent, text_of(request->answer, "parentId")) != 0)
        return err_set(err, -EINVAL, "the project is in another department: projects cannot be moved");
    if (namespace && strcmp(namespace, text_of(request->answer, "requestedNamespace")) != 0)
        return err_set(err, -EINVAL, "requestedNamespace: a project keeps its namespace");
    yyjson_mut_val *before = yyjson_mut_val_mut_copy(request->doc, request->answer);
    if ((r = take_description(request, request->answer, err)) < 0 ||
        (r = take_resources(request, &rows, request->answer, rows.val == NULL, err)) < 0)
        return r;
    return yyjson_mut_equals(before, request->answer) ? 0 : save(request, unit, "Updating", err);
}

int unit_apply(struct request *request, bool is_project, struct err *err)
{
    const struct unit_kind *unit = is_project ? &project : &department;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *name = NULL;
    int r;

    if ((r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err)) < 0)
        return r;
    r = item_find(request->console->db, unit->kind, request->console->cluster_id, name, &doc, err);
    if (r == -ENOENT)
        return create_unit(request, unit, err);
    return r < 0 ? r : change_unit(request, unit, yyjson_get_str(yyjson_doc_ptr_get(doc, "/id")), err);
}

/* --- the rows of both --- */

#define UNIT_HANDLERS(unit, what, kind)                                         \
    static int list_##unit(struct request *request, struct err *err)            \
    {                                                                           \
        return list_units(request, &(kind), err);                               \
    }                                                                           \
    READS(handle_list_##unit, list_##unit)                                      \
    static int count_##unit(struct request *request, struct err *err)           \
    {                                                                           \
        return count_units(request, &(kind), err);                              \
    }                                                                           \
    READS(handle_count_##unit, count_##unit)                                    \
    static int create_##what(struct request *request, struct err *err)          \
    {                                                                           \
        return create_unit(request, &(kind), err);                              \
    }                                                                           \
    CHANGES(handle_create_##what, create_##what)                                \
    static int get_##what(struct request *request, struct err *err)             \
    {                                                                           \
        return get_unit(request, &(kind), err);                                 \
    }                                                                           \
    READS(handle_get_##what, get_##what)                                        \
    static int update_##what(struct request *request, struct err *err)          \
    {                                                                           \
        return update_unit(request, &(kind), err);                              \
    }                                                                           \
    CHANGES(handle_update_##what, update_##what)                                \
    static int delete_##what(struct request *request, struct err *err)          \
    {                                                                           \
        return delete_unit(request, &(kind), err);                              \
    }                                                                           \
    CHANGES(handle_delete_##what, delete_##what)                                \
    static int set_##what##_resources(struct request *request, struct err *err) \
    {                                                                           \
        return set_unit_resources(request, &(kind), err);                       \
    }                                                                           \
    CHANGES(handle_set_##what##_resources, set_##what##_resources)

UNIT_HANDLERS(departments, department, department)
UNIT_HANDLERS(projects, project, project)
