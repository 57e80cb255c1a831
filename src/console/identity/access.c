/* SPDX-License-Identifier: Apache-2.0 */
#include "console/identity/access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "console/data/items.h"

static const char *const names[] = {
    [SCOPE_TENANT] = "tenant",
    [SCOPE_CLUSTER] = "cluster",
    [SCOPE_DEPARTMENT] = "department",
    [SCOPE_PROJECT] = "project",
};
_Static_assert(ARRAY_LEN(names) == _SCOPE_MAX, "a name for each scope");

const char *scope_name(enum scope scope)
{
    return names[scope];
}

bool scope_parse(const char *text, enum scope *ret_scope)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], text) == 0) {
            *ret_scope = (enum scope)i;
            return true;
        }
    }
    return false;
}

static int add_rule(void *arg, yyjson_val *rule)
{
    struct access *access = arg;
    const char *type = yyjson_get_str(yyjson_obj_get(rule, "scopeType"));
    const char *id = yyjson_get_str(yyjson_obj_get(rule, "scopeId"));
    struct access_grant grant = {.role = yyjson_get_sint(yyjson_obj_get(rule, "roleId"))};

    if (!type || !id || !scope_parse(type, &grant.scope))
        return 0;
    (void)snprintf(grant.scope_id, sizeof grant.scope_id, "%s", id);
    vec_push(access, grant);
    return 0;
}

/* What the roles of the grants from `first` on allow. A role that is gone allows nothing. */
static int resolve(struct access *access, uint32_t first, struct db *db, struct err *err)
{
    for (uint32_t i = first; i < access->len; i++) {
        struct held_role role;
        int r = held_role_load(db, access->items[i].role, &role, err);

        if (r < 0 && r != -ENOENT)
            return r;
        memcpy(access->items[i].actions, role.actions, sizeof role.actions);
    }
    return 0;
}

int access_load(struct access *access, struct db *db, const char *subject, struct err *err)
{
    uint32_t first = access->len;
    int r = items_each(db, ITEM_RULE, subject, add_rule, access, err);

    return r < 0 ? r : resolve(access, first, db, err);
}

int access_load_groups(struct access *access, struct db *db, yyjson_val *user, struct err *err)
{
    char place[GROUP_PLACE_MAX];
    size_t i, count;
    yyjson_val *group;

    yyjson_arr_foreach(yyjson_obj_get(user, "groups"), i, count, group)
    {
        (void)snprintf(place, sizeof place, GROUP_PLACE "%s", yyjson_get_str(group));
        int r = access_load(access, db, place, err);
        if (r < 0)
            return r;
    }
    return 0;
}

void access_done(struct access *access)
{
    vec_done(access);
}

static bool allows(const struct access_grant *grant, enum resource_type type, enum action action)
{
    return (grant->actions[type] & action) != 0;
}

bool access_has(const struct access *access, enum resource_type type, enum action action)
{
    vec_foreach (access, grant) {
        if (allows(grant, type, action))
            return true;
    }
    return false;
}

static bool is_within(const struct access_grant *grant, const char *department, const char *project)
{
    if (grant->scope == SCOPE_DEPARTMENT)
        return department && strcmp(grant->scope_id, department) == 0;
    if (grant->scope == SCOPE_PROJECT)
        return project && strcmp(grant->scope_id, project) == 0;
    return true;
}

bool access_has_everywhere(const struct access *access, enum resource_type type, enum action action)
{
    return access_covers(access, type, action, NULL, NULL);
}

bool access_covers(const struct access *access, enum resource_type type, enum action action, const char *department,
                   const char *project)
{
    vec_foreach (access, grant) {
        if (allows(grant, type, action) && is_within(grant, department, project))
            return true;
    }
    return false;
}

bool access_may_give(const struct access *access, const uint8_t actions_given[static _RESOURCE_TYPE_MAX],
                     const char *department, const char *project)
{
    static const enum action actions[] = {ACTION_CREATE, ACTION_READ, ACTION_UPDATE, ACTION_DELETE, ACTION_SYNC};

    for (int type = 0; type < _RESOURCE_TYPE_MAX; type++) {
        for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
            if ((actions_given[type] & actions[i]) &&
                !access_covers(access, (enum resource_type)type, actions[i], department, project))
                return false;
        }
    }
    return true;
}
