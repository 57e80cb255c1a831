/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/data/items.h"
#include "console/rest/context.h"

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

static int find_unit(struct request *request, bool is_project, const char *id, struct place *ret_place, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *kind = is_project ? ITEM_PROJECT : ITEM_DEPARTMENT;
    int r = item_get(request->console->db, kind, id, &doc, err);

    if (r == -ENOENT)
        return err_set(err, -EINVAL, "%sId: there is no %s '%.50s'", kind, kind, id);
    if (r < 0)
        return r;
    const char *parent = yyjson_get_str(yyjson_doc_ptr_get(doc, "/parentId"));
    const char *name = yyjson_get_str(yyjson_doc_ptr_get(doc, "/name"));
    *ret_place = (struct place){.scope = is_project ? SCOPE_PROJECT : SCOPE_DEPARTMENT};
    (void)snprintf(ret_place->name, sizeof ret_place->name, "%s", name ? name : "");
    (void)snprintf(ret_place->department, UUID_TEXT_MAX, "%s", is_project && parent ? parent : id);
    (void)snprintf(ret_place->project, UUID_TEXT_MAX, "%s", is_project ? id : "");
    return 0;
}

int place_of_project(struct request *request, const char *id, struct place *ret_place, struct err *err)
{
    return find_unit(request, true, id, ret_place, err);
}

static int check_cluster(const struct request *request, const char *id, struct err *err)
{
    if (strcmp(id, request->console->cluster_id) != 0)
        return err_set(err, -EINVAL, "clusterId: there is no cluster '%.50s'", id);
    return 0;
}

/* Identifiers of projects are numbers in assets, and texts elsewhere. */
static int read_project(const struct json_at *meta, char id[static UUID_TEXT_MAX], struct err *err)
{
    yyjson_val *value = yyjson_obj_get(meta->val, "projectId");
    const char *text = NULL;
    int64_t number = 0;
    int r;

    if (!yyjson_is_num(value)) {
        r = json_member_str(meta, "projectId", JSON_REQUIRED, &text, err);
        if (r >= 0 && strlen(text) >= UUID_TEXT_MAX)
            return err_set(err, -EINVAL, "projectId: there is no project '%.50s'", text);
        (void)snprintf(id, UUID_TEXT_MAX, "%s", text ? text : "");
        return r < 0 ? r : 0;
    }
    r = json_member_int64(meta, "projectId", JSON_REQUIRED, 0, INT32_MAX, &number, err);
    (void)snprintf(id, UUID_TEXT_MAX, "%lld", (long long)number);
    return r < 0 ? r : 0;
}

int place_read(struct request *request, const struct json_at *meta, struct place *ret_place, struct err *err)
{
    const char *scope = NULL;
    const char *cluster = NULL;
    const char *department = NULL;
    char project[UUID_TEXT_MAX];
    int r;

    *ret_place = (struct place){0};
    if ((r = json_member_str(meta, "scope", JSON_REQUIRED, &scope, err)) < 0 ||
        (r = json_member_str(meta, "clusterId", JSON_OPTIONAL, &cluster, err)) < 0)
        return r;
    if (!scope_parse(scope, &ret_place->scope))
        return err_set(err, -EINVAL, "scope: expected tenant, cluster, department or project");
    if (cluster && (r = check_cluster(request, cluster, err)) < 0)
        return r;
    switch (ret_place->scope) {
    case SCOPE_TENANT:
        return 0;
    case SCOPE_CLUSTER:
        return cluster ? 0 : err_set(err, -EINVAL, "clusterId: it is required in the scope of a cluster");
    case SCOPE_DEPARTMENT:
        r = json_member_str(meta, "departmentId", JSON_REQUIRED, &department, err);
        return r < 0 ? r : find_unit(request, false, department, ret_place, err);
    default:
        r = read_project(meta, project, err);
        return r < 0 ? r : find_unit(request, true, project, ret_place, err);
    }
}

int place_query(struct request *request, struct place_query *ret_query, struct err *err)
{
    const char *scope = rest_query(request->exchange, "scope");
    const char *cluster = rest_query(request->exchange, "clusterId");
    const char *department = rest_query(request->exchange, "departmentId");
    const char *project = rest_query(request->exchange, "projectId");
    int r;

    *ret_query = (struct place_query){.has_scope = scope != NULL, .has_place = cluster || department || project};
    if (scope && !scope_parse(scope, &ret_query->scope))
        return err_set(err, -EINVAL, "scope: expected tenant, cluster, department or project");
    if (cluster && (r = check_cluster(request, cluster, err)) < 0)
        return r;
    if (cluster)
        ret_query->place.scope = SCOPE_CLUSTER;
    if (project)
        return find_unit(request, true, project, &ret_query->place, err);
    return department ? find_unit(request, false, department, &ret_query->place, err) : 0;
}

void place_put(const struct request *request, yyjson_mut_val *to, const struct place *place)
{
    yyjson_mut_doc *doc = request->doc;
    char *end = NULL;

    put_text(doc, to, "scope", scope_name(place->scope));
    if (place->scope != SCOPE_TENANT)
        put_text(doc, to, "clusterId", request->console->cluster_id);
    if (place->scope == SCOPE_DEPARTMENT)
        put_text(doc, to, "departmentId", place->department);
    if (place->scope != SCOPE_PROJECT)
        return;
    long number = strtol(place->project, &end, 10);
    if (end && !*end)
        (void)yyjson_mut_obj_add_sint(doc, to, "projectId", number);
    else
        put_text(doc, to, "projectId", place->project);
    put_text(doc, to, "projectName", place->name);
}

void place_save(const struct request *request, yyjson_mut_val *to, const struct place *place)
{
    put_text(request->doc, to, "scope", scope_name(place->scope));
    put_text(request->doc, to, "department", place->department);
    put_text(request->doc, to, "project", place->project);
    put_text(request->doc, to, "name", place->name);
}

static void load_text(yyjson_val *from, const char *key, char *text, size_t size)
{
    const char *value = yyjson_get_str(yyjson_obj_get(from, key));

    (void)snprintf(text, size, "%s", value ? value : "");
}

void place_load(yyjson_val *from, struct place *ret_place)
{
    const char *scope = yyjson_get_str(yyjson_obj_get(from, "scope"));

    *ret_place = (struct place){0};
    BUG_ON(!scope || !scope_parse(scope, &ret_place->scope));
    load_text(from, "department", ret_place->department, sizeof ret_place->department);
    load_text(from, "project", ret_place->project, sizeof ret_place->project);
    load_text(from, "name", ret_place->name, sizeof ret_place->name);
}

const char *place_key(const struct place *place, char key[static PLACE_KEY_MAX])
{
    (void)snprintf(key, PLACE_KEY_MAX, "%s/%s", scope_name(place->scope),
                   place->scope == SCOPE_PROJECT      ? place->project
                   : place->scope == SCOPE_DEPARTMENT ? place->department
                                                      : "");
    return key;
}

bool place_holds(const struct place *outer, const struct place *inner)
{
    if (outer->scope > inner->scope)
        return false;
    if (outer->scope == SCOPE_DEPARTMENT)
        return strcmp(outer->department, inner->department) == 0;
    if (outer->scope == SCOPE_PROJECT)
        return strcmp(outer->project, inner->project) == 0;
    return true;
}

bool place_allows(const struct access *access, enum resource_type type, enum action action, const struct place *place)
{
    return access_covers(access, type, action, or_null(place->department), or_null(place->project));
}

/* The department of a project that a role is given in. A project that is gone is in none. */
static int department_of(const struct request *request, const char *project, char department[static UUID_TEXT_MAX],
                         struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = item_get(request->console->db, ITEM_PROJECT, project, &doc, err);
    const char *parent = r == 0 ? yyjson_get_str(yyjson_doc_ptr_get(doc, "/parentId")) : NULL;

    (void)snprintf(department, UUID_TEXT_MAX, "%s", parent ? parent : "");
    return r == -ENOENT ? 0 : r;
}

int place_is_visible(const struct request *request, enum resource_type type, const struct place *place,
                     bool *ret_visible, struct err *err)
{
    const struct access *access = &request->caller->access;
    char department[UUID_TEXT_MAX];

    *ret_visible = place->scope == SCOPE_TENANT || place->scope == SCOPE_CLUSTER
                       ? access_has(access, type, ACTION_READ)
                       : place_allows(access, type, ACTION_READ, place);
    if (*ret_visible || place->scope != SCOPE_DEPARTMENT)
        return 0;
    vec_foreach (access, grant) {
        if (grant->scope != SCOPE_PROJECT || !(grant->actions[type] & ACTION_READ))
            continue;
        int r = department_of(request, grant->scope_id, department, err);
        if (r < 0)
            return r;
        if (strcmp(department, place->department) == 0) {
            *ret_visible = true;
            return 0;
        }
    }
    return 0;
}
