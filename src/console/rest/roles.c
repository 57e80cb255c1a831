/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Roles: those of the table, and custom ones. Nobody makes a role with permissions that it does not have everywhere itself, and
 * a role that a rule gives is not deleted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/data/db.h"
#include "console/data/items.h"
#include "console/identity/held_role.h"
#include "console/rest/handlers.h"

enum { DESCRIPTION_MAX = 250, CUSTOM_ROLES_MAX = 200 };

/* `actions` is NULL for all that there are. */
static yyjson_mut_val *encode_permissions(yyjson_mut_doc *doc, const uint8_t *actions)
{
    static const enum action all[] = {ACTION_CREATE, ACTION_READ, ACTION_UPDATE, ACTION_DELETE, ACTION_SYNC};
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    for (int type = 0; type < _RESOURCE_TYPE_MAX; type++) {
        uint8_t allowed = actions ? actions[type] : UINT8_MAX;

        if (!allowed)
            continue;
        yyjson_mut_val *permission = yyjson_mut_arr_add_obj(doc, list);
        put_text(doc, permission, "resourceType", resource_type_name((enum resource_type)type));
        put_text(doc, permission, "displayName", resource_type_name((enum resource_type)type));
        put_text(doc, permission, "groupId", resource_group_name(resource_type_group((enum resource_type)type)));
        yyjson_mut_val *names = yyjson_mut_obj_add_arr(doc, permission, "actions");
        for (size_t i = 0; i < ARRAY_LEN(all); i++) {
            if (allowed & all[i])
                (void)yyjson_mut_arr_add_str(doc, names, permission_action_name(all[i]));
        }
    }
    return list;
}

static yyjson_mut_val *encode_built_in(struct request *request, const struct role *role)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    uint8_t actions[_RESOURCE_TYPE_MAX];

    for (int type = 0; type < _RESOURCE_TYPE_MAX; type++)
        actions[type] = role_actions(role, (enum resource_type)type);
    (void)yyjson_mut_obj_add_sint(doc, object, "id", role->id);
    put_text(doc, object, "name", role->name);
    put_text(doc, object, "description", role->description);
    put_text(doc, object, "createdAt", request->console->cluster_since);
    put_text(doc, object, "updatedAt", request->console->cluster_since);
    put_text(doc, object, "createdBy", "system");
    (void)yyjson_mut_obj_add_bool(doc, object, "custom", false);
    (void)yyjson_mut_obj_add_bool(doc, object, "enabled", true);
    (void)yyjson_mut_obj_add_bool(doc, object, "effectiveEnabled", true);
    (void)yyjson_mut_obj_add_val(doc, object, "permissions", encode_permissions(doc, actions));
    return object;
}

static int add_custom(void *arg, yyjson_val *item)
{
    struct request *request = arg;

    (void)yyjson_mut_arr_append(request->answer, copy_item(request->doc, item));
    return 0;
}

static int list_roles(struct request *request, struct err *err)
{
    request->answer = yyjson_mut_arr(request->doc);
    for (size_t i = 0; i < built_in_role_count; i++)
        (void)yyjson_mut_arr_append(request->answer, encode_built_in(request, &built_in_roles[i]));
    return items_each(request->console->db, ITEM_ROLE, NULL, add_custom, request, err);
}
READS(handle_list_roles, list_roles)

/* A custom role of the path's parameter. */
static int take_custom(struct request *request, const char *text, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = item_get(request->console->db, ITEM_ROLE, text, &doc, err);

    if (r < 0)
        return r;
    request->answer = copy_item(request->doc, yyjson_doc_get_root(doc));
    request->type = "role";
    (void)snprintf(request->id, sizeof request->id, "%.36s", text);
    (void)snprintf(request->name, sizeof request->name, "%s",
                   yyjson_mut_get_str(yyjson_mut_obj_get(request->answer, "name")));
    return 0;
}

static int get_role(struct request *request, struct err *err)
{
    const char *text = rest_param(request->exchange, "roleIdPath");
    char *end;
    long id = strtol(text, &end, 10);
    const struct role *role = *end ? NULL : role_find(id);

    if (!role)
        return take_custom(request, text, err);
    request->answer = encode_built_in(request, role);
    return 0;
}
READS(handle_get_role, get_role)

static int list_permissions(struct request *request, struct err *err)
{
    (void)err;
    request->answer = encode_permissions(request->doc, NULL);
    return 0;
}
READS(handle_list_permissions, list_permissions)

/* --- custom roles --- */

/* Reads the body into an item that has its identifier. */
static int fill(struct request *request, yyjson_mut_val *item, struct err *err)
{
    static const char *const replaced[] = {"name", "description", "permissions", "updatedAt"};
    uint8_t actions[_RESOURCE_TYPE_MAX];
    const char *name = NULL, *description = "";
    struct json_at list;
    int r;

    if ((r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = json_member_str(&request->body, "description", JSON_OPTIONAL, &description, err)) < 0 ||
        (r = json_member_array(&request->body, "permissions", JSON_REQUIRED, &list, err)) < 0 ||
        (r = permissions_parse(list.val, actions, err)) < 0)
        return r;
    if (!*name || strlen(name) > ROLE_NAME_MAX || strlen(description) > DESCRIPTION_MAX)
        return err_set(err, -EINVAL, "name: 1 to %d bytes; description: at most %d", ROLE_NAME_MAX, DESCRIPTION_MAX);
    if (!access_may_give(&request->caller->access, actions, NULL, NULL))
        return err_set(err, -EACCES, "'%.100s' cannot create a role with more permissions than their own",
                       request->caller->name);
    for (size_t i = 0; i < ARRAY_LEN(replaced); i++)
        (void)yyjson_mut_obj_remove_key(item, replaced[i]);
    put_text(request->doc, item, "name", name);
    put_text(request->doc, item, "description", description);
    put_now(request->doc, item, "updatedAt");
    (void)yyjson_mut_obj_add_val(request->doc, item, "permissions", encode_permissions(request->doc, actions));
    request->type = "role";
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    return 0;
}

static int check_name(struct request *request, struct err *err)
{
    int64_t count = 0;
    int r = db_query_number(request->console->db,
                            DB_CALL("SELECT count(*) FROM items WHERE kind = $1", db_text(ITEM_ROLE)), &count, err);

    if (r == 0 && count >= CUSTOM_ROLES_MAX)
        return err_set(err, -EINVAL, "there are %d custom roles already", CUSTOM_ROLES_MAX);
    for (size_t i = 0; r == 0 && i < built_in_role_count; i++) {
        if (strcmp(built_in_roles[i].name, request->name) == 0)
            return err_set(err, -EEXIST, "a role '%s' exists already", request->name);
    }
    return r;
}

static int create_role(struct request *request, struct err *err)
{
    yyjson_mut_val *item = yyjson_mut_obj(request->doc);
    int64_t id = 0;
    int r;

    if ((r = fill(request, item, err)) < 0 || (r = check_name(request, err)) < 0 ||
        (r = next_number(request->console->db, "role", CUSTOM_ROLE_FIRST, &id, err)) < 0)
        return r;
    (void)yyjson_mut_obj_add_sint(request->doc, item, "id", id);
    put_text(request->doc, item, "createdBy", request->caller->name);
    put_now(request->doc, item, "createdAt");
    (void)yyjson_mut_obj_add_bool(request->doc, item, "custom", true);
    (void)yyjson_mut_obj_add_bool(request->doc, item, "enabled", true);
    (void)yyjson_mut_obj_add_bool(request->doc, item, "effectiveEnabled", true);
    (void)snprintf(request->id, sizeof request->id, "%lld", (long long)id);
    request->action = "create";
    request->status = 201;
    request->answer = item;
    return item_insert(request->console->db, &(struct item_key){ITEM_ROLE, request->id, "", request->name}, item, err);
}
CHANGES(handle_create_role, create_role)

/* The name stays: rules show it. */
static int update_role(struct request *request, struct err *err)
{
    char name[ROLE_NAME_MAX + 1];
    int r = take_custom(request, rest_param(request->exchange, "roleId"), err);

    if (r < 0)
        return r;
    (void)snprintf(name, sizeof name, "%.*s", ROLE_NAME_MAX, request->name);
    if ((r = fill(request, request->answer, err)) < 0)
        return r;
    if (strcmp(name, request->name) != 0)
        return err_set(err, -EINVAL, "name: a role cannot be renamed");
    request->action = "update";
    return item_update(request->console->db, ITEM_ROLE, request->id, request->answer, err);
}
CHANGES(handle_update_role, update_role)

static int delete_role(struct request *request, struct err *err)
{
    char pattern[UUID_TEXT_MAX + 4];
    int64_t count = 0;
    int r = take_custom(request, rest_param(request->exchange, "roleId"), err);

    if (r < 0)
        return r;
    (void)snprintf(pattern, sizeof pattern, "%s/%%", request->id);
    r = db_query_number(
        request->console->db,
        DB_CALL("SELECT count(*) FROM items WHERE kind = $1 AND name LIKE $2", db_text(ITEM_RULE), db_text(pattern)),
        &count, err);
    if (r < 0)
        return r;
    if (count > 0)
        return err_set(err, -EINVAL, "%lld access rules give the role '%s': delete them first", (long long)count,
                       request->name);
    request->action = "delete";
    request->status = 204;
    request->answer = NULL;
    return item_delete(request->console->db, ITEM_ROLE, request->id, err);
}
CHANGES(handle_delete_role, delete_role)
