/* SPDX-License-Identifier: Apache-2.0 */
#include "console/identity/held_role.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "console/data/items.h"
#include "text/json.h"

enum { PERMISSION_MAX = 128 };

static int add_action(const char *type_name, yyjson_val *action_name, uint8_t *actions, struct err *err)
{
    const char *name = yyjson_get_str(action_name);
    char text[PERMISSION_MAX];
    enum resource_type type;
    enum action action;

    (void)snprintf(text, sizeof text, "%.60s:%.20s", type_name, name ? name : "");
    if (!permission_parse(text, &type, &action))
        return err_set(err, -EINVAL, "permissions: there is no permission '%s'", text);
    actions[type] = (uint8_t)(actions[type] | action);
    return 0;
}

int permissions_parse(yyjson_val *list, uint8_t actions[static _RESOURCE_TYPE_MAX], struct err *err)
{
    size_t i, j, count, action_count;
    yyjson_val *permission, *action;
    int r;

    memset(actions, 0, _RESOURCE_TYPE_MAX);
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) == 0 || yyjson_arr_size(list) > _RESOURCE_TYPE_MAX)
        return err_set(err, -EINVAL, "permissions: expected 1 to %d", _RESOURCE_TYPE_MAX);
    yyjson_arr_foreach(list, i, count, permission)
    {
        const char *type = yyjson_get_str(yyjson_obj_get(permission, "resourceType"));
        yyjson_val *names = yyjson_obj_get(permission, "actions");

        if (!type || !yyjson_is_arr(names) || yyjson_arr_size(names) == 0)
            return err_set(err, -EINVAL, "permissions: each has a resourceType and actions");
        yyjson_arr_foreach(names, j, action_count, action)
        {
            if ((r = add_action(type, action, actions, err)) < 0)
                return r;
        }
    }
    return 0;
}

int held_role_load(struct db *db, int64_t id, struct held_role *ret_role, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct role *role = role_find(id);
    char text[24];
    int r;

    *ret_role = (struct held_role){.id = id};
    if (role) {
        (void)snprintf(ret_role->name, sizeof ret_role->name, "%s", role->name);
        for (int type = 0; type < _RESOURCE_TYPE_MAX; type++)
            ret_role->actions[type] = role_actions(role, (enum resource_type)type);
        return 0;
    }
    (void)snprintf(text, sizeof text, "%lld", (long long)id);
    if ((r = item_get(db, ITEM_ROLE, text, &doc, err)) < 0)
        return r;
    yyjson_val *item = yyjson_doc_get_root(doc);
    const char *name = yyjson_get_str(yyjson_obj_get(item, "name"));
    (void)snprintf(ret_role->name, sizeof ret_role->name, "%s", name ? name : "");
    return permissions_parse(yyjson_obj_get(item, "permissions"), ret_role->actions, err);
}
