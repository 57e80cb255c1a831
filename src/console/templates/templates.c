/* SPDX-License-Identifier: Apache-2.0 */

/* One template of workloads: made, shown, changed, deleted. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/place.h"
#include "console/rest/handlers.h"
#include "console/templates/reuse.h"
#include "console/templates/templates_internal.h"
#include "console/workloads/kinds.h"
#include "console/workloads/spec.h"

enum { NAME_BYTES_MAX = 200, DESCRIPTION_BYTES_MAX = 250 };

#define TYPE "workload-template"

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

const struct workload_kind *template_kind(const struct request *request)
{
    const char *path = http_exchange_path(request->exchange) + strlen(WORKLOAD_TEMPLATES) - 1;

    for (size_t i = 0; strlen(path) > 1 && i < workload_kind_count; i++) {
        const char *tail = workload_kinds[i].path + strlen(WORKLOADS);
        size_t len = strlen(tail);

        if (strncmp(path + 1, tail, len) == 0 && (!path[len + 1] || path[len + 1] == '/' || path[len + 1] == '?'))
            return &workload_kinds[i];
    }
    return NULL;
}

/* --- answers --- */

static const char *scope_id(const struct request *request, const struct place *place)
{
    return place->scope == SCOPE_PROJECT      ? place->project
           : place->scope == SCOPE_DEPARTMENT ? place->department
           : place->scope == SCOPE_CLUSTER    ? request->console->cluster_id
                                              : TENANT_ID_TEXT;
}

yyjson_mut_val *template_render(struct request *request, yyjson_val *item)
{
    static const char *const members[] = {"id",        "name",      "description", "createdBy",
                                          "createdAt", "updatedBy", "updatedAt"};
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *row = yyjson_mut_obj(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, row, "meta");
    yyjson_val *same = yyjson_obj_get(item, "masterSpecSameAsWorker");
    struct place place;

    place_load(yyjson_obj_get(item, "place"), &place);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (yyjson_obj_get(item, members[i]))
            put_text(doc, meta, members[i], text_at(yyjson_obj_get(item, members[i]), ""));
    }
    put_text(doc, meta, "workloadType", workload_kind_find(text_at(item, "/type"))->title);
    place_put(request, meta, &place);
    (void)yyjson_mut_obj_remove_key(meta, "projectName");
    (void)yyjson_mut_obj_remove_key(meta, "scope");
    put_text(doc, meta, "scopeType", scope_name(place.scope));
    put_text(doc, meta, "scopeId", scope_id(request, &place));
    if (same)
        (void)yyjson_mut_obj_add_val(doc, row, "masterSpecSameAsWorker", copy_item(doc, same));
    (void)yyjson_mut_obj_add_val(doc, row, "spec", copy_item(doc, yyjson_obj_get(item, "spec")));
    return row;
}

/* --- one template --- */

/* The one that the path names, when the caller may do this to it; -ENOENT for what it may not read. */
static int take(struct request *request, enum action action, yyjson_doc **ret_doc, struct err *err)
{
    const struct workload_kind *kind = template_kind(request);
    const char *id = rest_param(request->exchange, "templateId");
    bool is_visible = false;
    struct place place;
    int r = item_get(request->console->db, ITEM_WORKLOAD_TEMPLATE, id, ret_doc, err);

    if (r < 0)
        return r == -ENOENT ? err_set(err, r, "there is no such template '%.50s'", id) : r;
    yyjson_val *item = yyjson_doc_get_root(*ret_doc);
    place_load(yyjson_obj_get(item, "place"), &place);
    if ((r = place_is_visible(request, RESOURCE_TEMPLATES, &place, &is_visible, err)) < 0)
        return r;
    if (!is_visible || (kind && strcmp(kind->type, text_at(item, "/type")) != 0))
        return err_set(err, -ENOENT, "there is no such template '%.50s'", id);
    if (action != ACTION_READ && !place_allows(&request->caller->access, RESOURCE_TEMPLATES, action, &place))
        return err_set(err, -EACCES, "'%.100s' may not change this template", request->caller->name);
    request->place = place;
    request->type = TYPE;
    (void)snprintf(request->id, sizeof request->id, "%s", text_at(item, "/id"));
    (void)snprintf(request->name, sizeof request->name, "%s", text_at(item, "/name"));
    return 0;
}

static int get_workload_template(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = take(request, ACTION_READ, &doc, err);

    if (r == 0)
        request->answer = template_render(request, yyjson_doc_get_root(doc));
    return r;
}
READS(handle_get_workload_template, get_workload_template)

static int delete_workload_template(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = take(request, ACTION_DELETE, &doc, err);

    if (r == 0)
        r = item_delete(request->console->db, ITEM_WORKLOAD_TEMPLATE, request->id, err);
    request->action = "delete";
    request->status = 204;
    return r;
}
CHANGES(handle_delete_workload_template, delete_workload_template)

/* --- what is written --- */

int template_scope(struct request *request, const char *type, const char *id, struct place *ret_place, struct err *err)
{
    yyjson_mut_val *meta;
    yyjson_mut_doc *doc = json_new_object(&meta);
    const char *member = strcmp(type, "project") == 0      ? "projectId"
                         : strcmp(type, "department") == 0 ? "departmentId"
                         : strcmp(type, "cluster") == 0    ? "clusterId"
                                                           : NULL;

    put_text(doc, meta, "scope", type);
    if (member && id)
        put_text(doc, meta, member, id);
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!copy);
    struct json_at at = json_root(copy);
    int r = place_read(request, &at, ret_place, err);
    yyjson_doc_free(copy);
    yyjson_mut_doc_free(doc);
    return r < 0 ? err_wrap(err, r, "scopeType and scopeId") : 0;
}

static int check_names(const char *name, const char *description, struct err *err)
{
    if (!*name || strlen(name) > NAME_BYTES_MAX)
        return err_set(err, -EINVAL, "meta.name: expected up to %d bytes", NAME_BYTES_MAX);
    if (description && strlen(description) > DESCRIPTION_BYTES_MAX)
        return err_set(err, -EINVAL, "meta.description: longer than %d bytes", DESCRIPTION_BYTES_MAX);
    return 0;
}

/* The members of the body beside `meta`. */
static int read_rest(struct request *request, const struct workload_kind *kind, const struct json_at *body,
                     yyjson_mut_val *item, struct err *err)
{
    yyjson_mut_val *spec = NULL;
    struct json_at at = {0};
    bool is_same = false;
    yyjson_val *master = yyjson_obj_get(body->val, "masterSpec");
    int r;

    if (master && !yyjson_is_null(master))
        return err_set(err, -ENOSYS, "masterSpec is not supported yet");
    if ((r = json_member_object(body, "spec", JSON_OPTIONAL, &at, err)) < 0 ||
        (r = spec_read_template(request, kind, &at, &spec, err)) < 0)
        return r;
    (void)yyjson_mut_obj_add_val(request->doc, item, "spec", spec);
    if (!kind->part)
        return 0;
    r = json_member_bool(body, "masterSpecSameAsWorker", JSON_OPTIONAL, &is_same, err);
    (void)yyjson_mut_obj_add_bool(request->doc, item, "masterSpecSameAsWorker", is_same);
    return r < 0 ? r : 0;
}

static void answer_item(struct request *request, yyjson_mut_val *item)
{
    yyjson_doc *copy = yyjson_mut_val_imut_copy(item, NULL);

    BUG_ON(!copy);
    request->answer = template_render(request, yyjson_doc_get_root(copy));
    yyjson_doc_free(copy);
}

static int create_workload_template(struct request *request, struct err *err)
{
    const struct workload_kind *kind = template_kind(request);
    yyjson_mut_val *item = yyjson_mut_obj(request->doc);
    const char *name = NULL, *description = NULL, *scope = NULL, *id = NULL;
    char key[PLACE_KEY_MAX];
    struct json_at meta = {0};
    int r;

    BUG_ON(!kind);
    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_object(&request->body, "meta", JSON_REQUIRED, &meta, err)) < 0 ||
        (r = json_member_str(&meta, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = json_member_str(&meta, "description", JSON_OPTIONAL, &description, err)) < 0 ||
        (r = json_member_str(&meta, "scopeType", JSON_REQUIRED, &scope, err)) < 0 ||
        (r = json_member_str(&meta, "scopeId", JSON_OPTIONAL, &id, err)) < 0 ||
        (r = check_names(name, description, err)) < 0 ||
        (r = template_scope(request, scope, id, &request->place, err)) < 0)
        return r;
    if (!place_allows(&request->caller->access, RESOURCE_TEMPLATES, ACTION_CREATE, &request->place))
        return err_set(err, -EACCES, "'%.100s' may not create a template in this scope", request->caller->name);
    uuid_make(request->id);
    request->type = TYPE;
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    put_text(request->doc, item, "id", request->id);
    put_text(request->doc, item, "name", name);
    if (description)
        put_text(request->doc, item, "description", description);
    put_text(request->doc, item, "type", kind->type);
    place_save(request, yyjson_mut_obj_add_obj(request->doc, item, "place"), &request->place);
    put_text(request->doc, item, "createdBy", request->caller->name);
    put_now(request->doc, item, "createdAt");
    if ((r = read_rest(request, kind, &request->body, item, err)) < 0 ||
        (r = item_insert(request->console->db,
                         &(struct item_key){ITEM_WORKLOAD_TEMPLATE, request->id, place_key(&request->place, key), name},
                         item, err)) < 0)
        return r;
    request->action = "create";
    request->status = 202;
    answer_item(request, item);
    return 0;
}
CHANGES(handle_create_workload_template, create_workload_template)

/* --- changes --- */

/* The body of a change of parts, with all else as it was. */
static yyjson_doc *fill_from(const struct request *request, yyjson_val *item)
{
    static const char *const of_meta[] = {"name", "description"};
    static const char *const others[] = {"spec", "masterSpecSameAsWorker"};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *whole = yyjson_val_mut_copy(doc, request->body.val);
    yyjson_mut_val *from = yyjson_mut_obj(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, from, "meta");

    for (size_t i = 0; i < ARRAY_LEN(of_meta); i++) {
        if (yyjson_obj_get(item, of_meta[i]))
            (void)yyjson_mut_obj_add_val(doc, meta, of_meta[i],
                                         yyjson_val_mut_copy(doc, yyjson_obj_get(item, of_meta[i])));
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (yyjson_obj_get(item, others[i]))
            (void)yyjson_mut_obj_add_val(doc, from, others[i],
                                         yyjson_val_mut_copy(doc, yyjson_obj_get(item, others[i])));
    }
    reuse_fill(doc, whole, from, false);
    yyjson_mut_doc_set_root(doc, whole);
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!copy);
    yyjson_mut_doc_free(doc);
    return copy;
}

static int write_template(struct request *request, yyjson_val *before, const struct json_at *body, struct err *err)
{
    static const char *const kept[] = {"id", "type", "place", "createdBy", "createdAt"};
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    const char *name = NULL, *description = NULL;
    struct json_at meta = {0};
    int r;

    if ((r = json_member_object(body, "meta", JSON_REQUIRED, &meta, err)) < 0 ||
        (r = json_member_str(&meta, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = json_member_str(&meta, "description", JSON_OPTIONAL, &description, err)) < 0 ||
        (r = check_names(name, description, err)) < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        (void)yyjson_mut_obj_add_val(doc, item, kept[i], copy_item(doc, yyjson_obj_get(before, kept[i])));
    put_text(doc, item, "name", name);
    if (description)
        put_text(doc, item, "description", description);
    put_text(doc, item, "updatedBy", request->caller->name);
    put_now(doc, item, "updatedAt");
    if ((r = read_rest(request, workload_kind_find(text_at(before, "/type")), body, item, err)) < 0 ||
        (r = item_replace(request->console->db, &(struct item_key){ITEM_WORKLOAD_TEMPLATE, request->id, NULL, name},
                          item, err)) < 0)
        return r;
    request->action = "update";
    answer_item(request, item);
    return 0;
}

static int update_workload_template(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *filled = NULL;
    bool is_patch = strcmp(http_exchange_method(request->exchange), "PATCH") == 0;
    struct json_at body = request->body;
    int r;

    if ((r = json_object(&body, err)) < 0 || (r = take(request, ACTION_UPDATE, &doc, err)) < 0)
        return r;
    if (is_patch) {
        filled = fill_from(request, yyjson_doc_get_root(doc));
        body = json_root(filled);
    }
    return write_template(request, yyjson_doc_get_root(doc), &body, err);
}
CHANGES(handle_update_workload_template, update_workload_template)
