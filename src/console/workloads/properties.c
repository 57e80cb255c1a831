/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/properties.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/rest/listing.h"
#include "console/workloads/kinds.h"

#define OWN_GROUP "run.ai"

/* The identifiers are those of the rows, the same in all databases. */
enum { ID_TYPE = 1, ID_CATEGORY = 2, ID_PRIORITY = 3 };

static const struct {
    const char *name;
    const char *description;
} categories[] = {
    {"Build", "Interactive work: notebooks and development"},
    {"Train", "Training of models"},
    {"Deploy", "Serving of models"},
};

static const char *make_id(int what, size_t row, char id[static UUID_TEXT_MAX])
{
    (void)snprintf(id, UUID_TEXT_MAX, "6d757374-6572-4000-800%d-%012zx", what, row + 1);
    return id;
}

/* The row of an identifier; -ENOENT: there is none. */
static int find_row(int what, const char *id, size_t count)
{
    char own[UUID_TEXT_MAX];

    for (size_t i = 0; i < count; i++) {
        if (strcmp(make_id(what, i, own), id) == 0)
            return (int)i;
    }
    return -ENOENT;
}

static size_t category_row(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(categories); i++) {
        if (strcmp(categories[i].name, name) == 0)
            return i;
    }
    return 0;
}

static const char *text_of(yyjson_doc *doc, const char *key, const char *otherwise)
{
    const char *text = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), key));

    return text ? text : otherwise;
}

static int load_change(struct db *db, const struct workload_kind *kind, yyjson_doc **ret_doc, struct err *err)
{
    struct err own = {0};
    int r = item_find(db, ITEM_WORKLOAD_TYPE, "", kind->title, ret_doc, &own);

    return r < 0 && r != -ENOENT ? err_set(err, r, "%s", own.text) : 0;
}

int workload_defaults_load(struct db *db, const struct workload_kind *kind, struct workload_defaults *ret,
                           struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = load_change(db, kind, &doc, err);

    (void)snprintf(ret->priority, sizeof ret->priority, "%s", text_of(doc, "priority", kind->priority));
    (void)snprintf(ret->category, sizeof ret->category, "%s", text_of(doc, "category", kind->category));
    return r;
}

/* --- priorities --- */

static const struct listing_field priority_fields[] = {
    {"name", "/name"}, {"source", "/source"}, {"value", "/value"}, {NULL, NULL}};
static const struct listing_kind priority_listing = {priority_fields, "/name", 500, 500};

/* Answers with the rows that the query asks for. */
static int answer_list(struct request *request, const struct listing_kind *kind, struct listing_rows *rows,
                       const char *name, struct err *err)
{
    int64_t total = 0, next = -1;
    int r = listing_apply(request->exchange, kind, rows, &total, &next, err);

    if (r == 0) {
        request->answer = yyjson_mut_obj(request->doc);
        (void)yyjson_mut_obj_add_val(request->doc, request->answer, name, rows_array(request, rows));
    }
    vec_done(rows);
    return r;
}

static int list_workload_priorities(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    char id[UUID_TEXT_MAX];

    for (size_t i = 0; i < workload_priority_count; i++) {
        yyjson_mut_val *row = yyjson_mut_obj(request->doc);

        put_text(request->doc, row, "id", make_id(ID_PRIORITY, i, id));
        put_text(request->doc, row, "name", workload_priorities[i].name);
        (void)yyjson_mut_obj_add_int(request->doc, row, "value", workload_priorities[i].value);
        put_text(request->doc, row, "source", "System");
        put_text(request->doc, row, "scopeType", "tenant");
        put_text(request->doc, row, "scopeId", TENANT_ID_TEXT);
        put_text(request->doc, row, "createdAt", request->console->cluster_since);
        put_text(request->doc, row, "updatedAt", request->console->cluster_since);
        vec_push(&rows, row);
    }
    return answer_list(request, &priority_listing, &rows, "priorities", err);
}
READS(handle_list_workload_priorities, list_workload_priorities)

/* --- categories --- */

static yyjson_mut_val *render_category(struct request *request, size_t number)
{
    yyjson_mut_val *row = yyjson_mut_obj(request->doc);
    char id[UUID_TEXT_MAX];

    put_text(request->doc, row, "id", make_id(ID_CATEGORY, number, id));
    put_text(request->doc, row, "name", categories[number].name);
    put_text(request->doc, row, "description", categories[number].description);
    put_text(request->doc, row, "createdAt", request->console->cluster_since);
    put_text(request->doc, row, "createdBy", "system");
    return row;
}

static int list_workload_categories(struct request *request, struct err *err)
{
    (void)err;
    request->answer = yyjson_mut_obj(request->doc);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(request->doc, request->answer, "categories");
    for (size_t i = 0; i < ARRAY_LEN(categories); i++)
        (void)yyjson_mut_arr_append(list, render_category(request, i));
    return 0;
}
READS(handle_list_workload_categories, list_workload_categories)

static int get_workload_category(struct request *request, struct err *err)
{
    int row = find_row(ID_CATEGORY, rest_param(request->exchange, "categoryId"), ARRAY_LEN(categories));

    if (row < 0)
        return err_set(err, row, "there is no such category of workloads");
    request->answer = render_category(request, (size_t)row);
    return 0;
}
READS(handle_get_workload_category, get_workload_category)

/* --- types --- */

static const struct listing_field type_fields[] = {{"name", "/name"}, {"group", "/group"}, {NULL, NULL}};
static const struct listing_kind type_listing = {type_fields, "/name", 500, 500};

static int render_type(struct request *request, size_t number, yyjson_mut_val **ret_row, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct workload_kind *kind = &workload_kinds[number];
    yyjson_mut_val *row = yyjson_mut_obj(request->doc);
    struct workload_defaults defaults;
    char id[UUID_TEXT_MAX];
    int r = load_change(request->console->db, kind, &doc, err);

    if (r == 0)
        r = workload_defaults_load(request->console->db, kind, &defaults, err);
    if (r < 0)
        return r;
    const struct workload_priority *priority = workload_priority_find(defaults.priority);
    put_text(request->doc, row, "id", make_id(ID_TYPE, number, id));
    put_text(request->doc, row, "name", kind->title);
    put_text(request->doc, row, "group", OWN_GROUP);
    put_text(request->doc, row, "categoryName", defaults.category);
    put_text(request->doc, row, "categoryId", make_id(ID_CATEGORY, category_row(defaults.category), id));
    put_text(request->doc, row, "priorityName", priority->name);
    put_text(request->doc, row, "priorityId", make_id(ID_PRIORITY, (size_t)(priority - workload_priorities), id));
    put_text(request->doc, row, "createdAt", request->console->cluster_since);
    put_text(request->doc, row, "createdBy", "system");
    put_text(request->doc, row, "updatedAt", text_of(doc, "updatedAt", request->console->cluster_since));
    put_text(request->doc, row, "updatedBy", text_of(doc, "updatedBy", "system"));
    *ret_row = row;
    return 0;
}

/* All types that there are so far are our own. */
static int list_workload_types(struct request *request, struct err *err)
{
    const char *only_external = rest_query(request->exchange, "externalTypesOnly");
    struct listing_rows rows = {0};
    yyjson_mut_val *row = NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < workload_kind_count; i++) {
        r = render_type(request, i, &row, err);
        if (r == 0 && !(only_external && strcmp(only_external, "true") == 0))
            vec_push(&rows, row);
    }
    if (r < 0) {
        vec_done(&rows);
        return r;
    }
    return answer_list(request, &type_listing, &rows, "types", err);
}
static const char *const type_queries[] = {"externalTypesOnly", NULL};
READS_BY(handle_list_workload_types, list_workload_types, type_queries)

static int find_type(struct request *request, size_t *ret_row, struct err *err)
{
    int row = find_row(ID_TYPE, rest_param(request->exchange, "workloadTypeId"), workload_kind_count);

    if (row < 0)
        return err_set(err, row, "there is no such type of workloads");
    *ret_row = (size_t)row;
    return 0;
}

static int get_workload_type(struct request *request, struct err *err)
{
    size_t row = 0;
    int r = find_type(request, &row, err);

    return r < 0 ? r : render_type(request, row, &request->answer, err);
}
READS(handle_get_workload_type, get_workload_type)

/* The defaults that the type has from now on; what the body does not say stays. */
static int read_defaults(struct request *request, struct workload_defaults *defaults, struct err *err)
{
    const struct json_at *body = &request->body;
    const char *category = NULL, *priority = NULL;
    yyjson_val *interfaces = yyjson_obj_get(body->val, "resourceInterfaces");
    int r, row;

    if ((r = json_object(body, err)) < 0 ||
        (r = json_member_str(body, "categoryId", JSON_OPTIONAL, &category, err)) < 0 ||
        (r = json_member_str(body, "priorityId", JSON_OPTIONAL, &priority, err)) < 0)
        return r;
    if (yyjson_arr_size(interfaces) > 0)
        return err_set(err, -ENOSYS, "resourceInterfaces: custom types have none");
    if (category) {
        if ((row = find_row(ID_CATEGORY, category, ARRAY_LEN(categories))) < 0)
            return err_set(err, -EINVAL, "categoryId: there is no such category");
        (void)snprintf(defaults->category, sizeof defaults->category, "%s", categories[row].name);
    }
    if (priority) {
        if ((row = find_row(ID_PRIORITY, priority, workload_priority_count)) < 0)
            return err_set(err, -EINVAL, "priorityId: there is no such priority");
        (void)snprintf(defaults->priority, sizeof defaults->priority, "%s", workload_priorities[row].name);
    }
    return 0;
}

static int keep_defaults(struct request *request, const struct workload_kind *kind,
                         const struct workload_defaults *defaults, struct err *err)
{
    const struct item_key key = {ITEM_WORKLOAD_TYPE, request->id, "", kind->title};
    yyjson_mut_val *item = yyjson_mut_obj(request->doc);
    struct db *db = request->console->db;
    int r;

    put_text(request->doc, item, "id", request->id);
    put_text(request->doc, item, "priority", defaults->priority);
    put_text(request->doc, item, "category", defaults->category);
    put_text(request->doc, item, "updatedBy", request->caller->name);
    put_now(request->doc, item, "updatedAt");
    r = item_delete(db, ITEM_WORKLOAD_TYPE, request->id, NULL);
    return r < 0 && r != -ENOENT ? err_set(err, r, "the type could not be written") : item_insert(db, &key, item, err);
}

static int update_workload_type(struct request *request, struct err *err)
{
    struct workload_defaults defaults;
    size_t row = 0;
    int r;

    if (!access_has_everywhere(&request->caller->access, RESOURCE_WORKLOAD_PROPERTIES, ACTION_UPDATE))
        return err_set(err, -EACCES, "'%.100s' has no role that allows this in the whole tenant",
                       request->caller->name);
    if ((r = find_type(request, &row, err)) < 0)
        return r;
    const struct workload_kind *kind = &workload_kinds[row];
    (void)make_id(ID_TYPE, row, request->id);
    (void)snprintf(request->name, sizeof request->name, "%s", kind->title);
    request->type = "workload-type";
    request->action = "update";
    if ((r = workload_defaults_load(request->console->db, kind, &defaults, err)) < 0 ||
        (r = read_defaults(request, &defaults, err)) < 0 || (r = keep_defaults(request, kind, &defaults, err)) < 0)
        return r;
    return render_type(request, row, &request->answer, err);
}
CHANGES(handle_update_workload_type, update_workload_type)
