/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Access rules: a subject has a role in a scope. Nobody gives more than it has itself: whoever
 * makes a rule has all permissions of its role in its scope.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/identity/held_role.h"
#include "console/rest/handlers.h"
#include "console/rest/listing_source.h"

enum { NAME_TEXT_MAX = 128, GROUP_MAX = 255 };

_Static_assert(GROUP_PLACE_MAX > GROUP_MAX + sizeof GROUP_PLACE, "the place of a group has room");

/* --- access rules --- */

/* The scope of a rule: its name, and the department that it lies in. */
struct rule_place {
    char name[256];
    char department[UUID_TEXT_MAX];
    char project[UUID_TEXT_MAX];
};

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

static int find_place(struct console *console, enum scope scope, const char *id, struct rule_place *ret_place,
                      struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r;

    *ret_place = (struct rule_place){0};
    if (scope == SCOPE_TENANT || scope == SCOPE_CLUSTER) {
        const char *own = scope == SCOPE_TENANT ? TENANT_ID_TEXT : console->cluster_id;

        (void)snprintf(ret_place->name, sizeof ret_place->name, "%s",
                       scope == SCOPE_TENANT ? "tenant" : console->flags->cluster_name);
        return strcmp(id, own) == 0 ? 0 : err_set(err, -ENOENT, "there is no %s '%.50s'", scope_name(scope), id);
    }
    r = item_get(console->db, scope == SCOPE_PROJECT ? ITEM_PROJECT : ITEM_DEPARTMENT, id, &doc, err);
    if (r < 0)
        return r;
    yyjson_val *item = yyjson_doc_get_root(doc);
    const char *parent = yyjson_get_str(yyjson_obj_get(item, "parentId"));
    (void)snprintf(ret_place->name, sizeof ret_place->name, "%s", yyjson_get_str(yyjson_obj_get(item, "name")));
    (void)snprintf(ret_place->department, UUID_TEXT_MAX, "%s", scope == SCOPE_PROJECT && parent ? parent : id);
    if (scope == SCOPE_PROJECT)
        (void)snprintf(ret_place->project, UUID_TEXT_MAX, "%s", id);
    return 0;
}

int rule_create(struct request *request, const char *subject, const char *subject_type, int64_t role, enum scope scope,
                const char *scope_id, const char *created_by, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *rule = yyjson_mut_obj(doc);
    char name[NAME_TEXT_MAX];
    char id_text[24];
    char group[GROUP_PLACE_MAX];
    struct held_role held;
    struct rule_place place;
    int64_t id = 0;
    int r;

    (void)snprintf(group, sizeof group, GROUP_PLACE "%s", subject);
    if ((r = find_place(request->console, scope, scope_id, &place, err)) < 0 ||
        (r = held_role_load(request->console->db, role, &held, err)) < 0 ||
        (r = next_number(request->console->db, "rule", 1, &id, err)) < 0)
        return r;
    (void)yyjson_mut_obj_add_sint(doc, rule, "id", id);
    put_text(doc, rule, "subjectId", subject);
    put_text(doc, rule, "subjectType", subject_type);
    (void)yyjson_mut_obj_add_sint(doc, rule, "roleId", role);
    put_text(doc, rule, "roleName", held.name);
    put_text(doc, rule, "scopeId", scope_id);
    put_text(doc, rule, "scopeType", scope_name(scope));
    put_text(doc, rule, "scopeName", place.name);
    put_text(doc, rule, "clusterId", request->console->cluster_id);
    (void)yyjson_mut_obj_add_int(doc, rule, "tenantId", TENANT_ID);
    put_text(doc, rule, "createdBy", created_by);
    put_now(doc, rule, "createdAt");
    put_now(doc, rule, "updatedAt");
    (void)yyjson_mut_obj_add_null(doc, rule, "deletedAt");
    (void)snprintf(name, sizeof name, "%lld/%s/%s", (long long)role, scope_name(scope), scope_id);
    (void)snprintf(id_text, sizeof id_text, "%lld", (long long)id);
    r = item_insert(request->console->db,
                    &(struct item_key){ITEM_RULE, id_text, strcmp(subject_type, "group") == 0 ? group : subject, name},
                    rule, err);
    if (r == -EEXIST)
        return err_set(err, -EINVAL, "the subject has this role in this scope already");
    request->answer = rule;
    return r;
}

static int check_subject(struct request *request, const char *type, const char *id, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (strcmp(type, "user") == 0)
        return item_get(request->console->db, ITEM_USER, id, &doc, err);
    if (strcmp(type, "service-account") == 0 || strcmp(type, "app") == 0)
        return item_get(request->console->db, ITEM_SERVICE_ACCOUNT, id, &doc, err);
    /* Groups are what identity providers say: nobody has to be in one yet. */
    if (strcmp(type, "group") == 0)
        return *id && strlen(id) <= GROUP_MAX
                   ? 0
                   : err_set(err, -EINVAL, "subjectId: the name of a group has 1 to %d bytes", GROUP_MAX);
    return err_set(err, -EINVAL, "subjectType: '%.50s' is unknown", type);
}

static int create_rule(struct request *request, struct err *err)
{
    const char *subject = NULL, *subject_type = NULL, *scope_type = NULL, *scope_id = NULL;
    const struct json_at *body = &request->body;
    struct held_role held;
    struct rule_place place;
    enum scope scope;
    int64_t role = 0;
    int r;

    if ((r = json_member_str(body, "subjectId", JSON_REQUIRED, &subject, err)) < 0 ||
        (r = json_member_str(body, "subjectType", JSON_REQUIRED, &subject_type, err)) < 0 ||
        (r = json_member_int64(body, "roleId", JSON_REQUIRED, 0, INT32_MAX, &role, err)) < 0 ||
        (r = json_member_str(body, "scopeId", JSON_REQUIRED, &scope_id, err)) < 0 ||
        (r = json_member_str(body, "scopeType", JSON_REQUIRED, &scope_type, err)) < 0)
        return r;
    if ((r = held_role_load(request->console->db, role, &held, err)) < 0)
        return r == -ENOENT ? err_set(err, -ENOENT, "there is no role %lld", (long long)role) : r;
    if (!scope_parse(scope_type, &scope))
        return err_set(err, -EINVAL, "scopeType: expected tenant, cluster, department or project");
    if ((r = check_subject(request, subject_type, subject, err)) < 0 ||
        (r = find_place(request->console, scope, scope_id, &place, err)) < 0)
        return r;
    if (!access_may_give(&request->caller->access, held.actions, or_null(place.department), or_null(place.project)))
        return err_set(err, -EACCES,
                       "'%.100s' cannot give the role '%s' in this scope: it has more permissions than their own",
                       request->caller->name, held.name);
    r = rule_create(request, subject, subject_type, role, scope, scope_id, request->caller->name, err);
    if (r < 0)
        return r;
    request->status = 201;
    request->action = "create";
    request->type = "access-rule";
    (void)snprintf(request->id, sizeof request->id, "%lld",
                   (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(request->answer, "id")));
    (void)snprintf(request->name, sizeof request->name, "%.60s: %.60s in %.100s", subject, held.name, place.name);
    return 0;
}
CHANGES(handle_create_rule, create_rule)

/* Rules of scopes that the caller has no right in are not shown. */
static bool may_see_scope(struct request *request, const char *type, const char *id, enum action action)
{
    const struct access *access = &request->caller->access;
    struct err err = {0};
    struct rule_place place;
    enum scope scope;

    if (!type || !id || !scope_parse(type, &scope))
        return false;
    if (access_has_everywhere(access, RESOURCE_ACCESS_RULES, action))
        return true;
    return find_place(request->console, scope, id, &place, &err) == 0 &&
           access_covers(access, RESOURCE_ACCESS_RULES, action, or_null(place.department), or_null(place.project));
}

static bool may_see(struct request *request, yyjson_mut_val *rule, enum action action)
{
    return may_see_scope(request, yyjson_mut_get_str(yyjson_mut_obj_get(rule, "scopeType")),
                         yyjson_mut_get_str(yyjson_mut_obj_get(rule, "scopeId")), action);
}

static const struct listing_field rule_fields[] = {
    {"subjectId", "/subjectId"}, {"subjectType", "/subjectType"},
    {"scopeId", "/scopeId"},     {"scopeType", "/scopeType"},
    {"roleName", "/roleName"},   {"scopeName", "/scopeName"},
    {"createdAt", "/createdAt"}, {"createdBy", "/createdBy"},
    {"roleId", "/roleId"},       {NULL, NULL},
};
static const struct listing_kind rule_kind = {rule_fields, "/subjectId", 50, 500};

static bool may_read(void *arg, yyjson_val *rule)
{
    return may_see_scope(arg, yyjson_get_str(yyjson_obj_get(rule, "scopeType")),
                         yyjson_get_str(yyjson_obj_get(rule, "scopeId")), ACTION_READ);
}

#define RULES_OF " FROM items WHERE kind = $1 AND place IN ($2, $3)"

/* All that the caller may see; or those of one subject: a user or a service account, or a group of that name. */
static int load_all_rules(struct request *request, struct listing_rows *rows, struct listing_found *ret_found,
                          struct err *err)
{
    const char *subject = rest_query(request->exchange, "subjectId");
    bool sees_all = access_has_everywhere(&request->caller->access, RESOURCE_ACCESS_RULES, ACTION_READ);
    char group[GROUP_PLACE_MAX];
    struct listing_source source = {
        .rows = DB_CALL("SELECT doc FROM items WHERE kind = $1 ORDER BY name", db_text(ITEM_RULE)),
        .count = "SELECT count(*) FROM items WHERE kind = $1",
        .may_see = sees_all ? NULL : may_read,
        .arg = request,
    };

    (void)snprintf(group, sizeof group, GROUP_PLACE "%s", subject ? subject : "");
    const struct db_call of_one = DB_CALL("SELECT doc" RULES_OF " ORDER BY name", db_text(ITEM_RULE),
                                          db_text(subject ? subject : ""), db_text(group));
    if (subject) {
        source.rows = of_one;
        source.count = "SELECT count(*)" RULES_OF;
    }
    return listing_load(request, &rule_kind, &source, rows, ret_found, err);
}

/* Those of the caller, by its groups too. */
static int load_own_rules(struct request *request, struct listing_rows *rows, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *user = NULL;
    char place[GROUP_PLACE_MAX];
    size_t i, count;
    yyjson_val *group;
    int r = load_rows(request, ITEM_RULE, request->caller->id, rows, err);

    if (r < 0 || !request->caller->is_user)
        return r;
    if ((r = item_get(request->console->db, ITEM_USER, request->caller->id, &user, err)) < 0)
        return r;
    yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(user), "groups"), i, count, group)
    {
        (void)snprintf(place, sizeof place, GROUP_PLACE "%s", yyjson_get_str(group));
        if (r == 0)
            r = load_rows(request, ITEM_RULE, place, rows, err);
    }
    return r;
}

static int load_my_rules(struct request *request, struct listing_rows *rows, struct listing_found *ret_found,
                         struct err *err)
{
    int r = load_own_rules(request, rows, err);

    ret_found->all = rows->len;
    return r < 0 ? r : listing_apply(request->exchange, &rule_kind, rows, &ret_found->total, &ret_found->next, err);
}

static yyjson_mut_val *encode_rules(struct request *request, const struct listing_rows *rows,
                                    const struct listing_found *found)
{
    yyjson_mut_val *object = yyjson_mut_obj(request->doc);

    (void)yyjson_mut_obj_add_sint(request->doc, object, "totalRecords", found->all);
    (void)yyjson_mut_obj_add_sint(request->doc, object, "displayRecords", found->total);
    (void)yyjson_mut_obj_add_val(request->doc, object, "accessRules", rows_array(request, rows));
    return object;
}

static int list_rules(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    struct listing_found found = {0};
    int r = load_all_rules(request, &rows, &found, err);

    request->answer = encode_rules(request, &rows, &found);
    vec_done(&rows);
    return r;
}
READS(handle_list_rules, list_rules)

static int count_rules(struct request *request, struct err *err)
{
    struct listing_found found = {0};
    int r = load_all_rules(request, NULL, &found, err);

    answer_count(request, found.total);
    return r;
}
READS(handle_count_rules, count_rules)

static int list_my_rules(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    struct listing_found found = {0};
    int r = load_my_rules(request, &rows, &found, err);

    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "accessRules", encode_rules(request, &rows, &found));
    vec_done(&rows);
    return r;
}
READS(handle_list_my_rules, list_my_rules)

static int count_my_rules(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    struct listing_found found = {0};
    int r = load_my_rules(request, &rows, &found, err);

    answer_count(request, found.total);
    vec_done(&rows);
    return r;
}
READS(handle_count_my_rules, count_my_rules)

static int take_rule(struct request *request, enum action action, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *id = rest_param(request->exchange, "accessRuleId");
    int r = item_get(request->console->db, ITEM_RULE, id, &doc, err);

    if (r < 0)
        return r;
    request->answer = copy_item(request->doc, yyjson_doc_get_root(doc));
    request->type = "access-rule";
    (void)snprintf(request->id, sizeof request->id, "%s", id);
    if (!may_see(request, request->answer, ACTION_READ))
        return err_set(err, -ENOENT, "there is no access rule '%.50s'", id);
    if (!may_see(request, request->answer, action))
        return err_set(err, -EACCES, "'%.100s' may not change rules of this scope", request->caller->name);
    return 0;
}

static int get_rule(struct request *request, struct err *err)
{
    return take_rule(request, ACTION_READ, err);
}
READS(handle_get_rule, get_rule)

/* The last administrator of the tenant stays one. */
static int check_last(struct request *request, struct err *err)
{
    int64_t count = 0;
    int r = db_query_number(request->console->db,
                            DB_CALL("SELECT count(*) FROM items WHERE kind = $1 AND name = $2", db_text(ITEM_RULE),
                                    db_text("1/tenant/" TENANT_ID_TEXT)),
                            &count, err);
    bool is_admin = yyjson_mut_get_sint(yyjson_mut_obj_get(request->answer, "roleId")) == 1 &&
                    strcmp(yyjson_mut_get_str(yyjson_mut_obj_get(request->answer, "scopeType")), "tenant") == 0;

    return r == 0 && is_admin && count <= 1
               ? err_set(err, -EINVAL, "the last administrator of the tenant cannot be removed")
               : r;
}

static int delete_rule(struct request *request, struct err *err)
{
    int r;

    if ((r = take_rule(request, ACTION_DELETE, err)) < 0 || (r = check_last(request, err)) < 0)
        return r;
    request->action = "delete";
    request->answer = NULL;
    request->status = 204;
    return item_delete(request->console->db, ITEM_RULE, request->id, err);
}
CHANGES(handle_delete_rule, delete_rule)

int rules_delete_of(struct console *console, const char *subject, struct err *err)
{
    return db_run(console->db,
                  DB_CALL("DELETE FROM items WHERE kind = $1 AND place = $2", db_text(ITEM_RULE), db_text(subject)),
                  NULL, err);
}

int rules_delete_in(struct console *console, const char *scope_id, struct err *err)
{
    char pattern[UUID_TEXT_MAX + 4];

    (void)snprintf(pattern, sizeof pattern, "%%/%s", scope_id);
    return db_run(console->db,
                  DB_CALL("DELETE FROM items WHERE kind = $1 AND name LIKE $2", db_text(ITEM_RULE), db_text(pattern)),
                  NULL, err);
}
