/* SPDX-License-Identifier: Apache-2.0 */

/* Who asks, and what it may do where: the page shows no more than that. */
#include <stdio.h>

#include "console/data/items.h"
#include "console/rest/handlers.h"

enum { PERMISSION_TEXT_MAX = 64 };

/* Each permission of a grant as "project:read", which is how routes name theirs. */
static void add_permissions(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct access_grant *grant)
{
    static const enum action actions[] = {ACTION_CREATE, ACTION_READ, ACTION_UPDATE, ACTION_DELETE};
    char text[PERMISSION_TEXT_MAX];

    for (int type = 0; type < _RESOURCE_TYPE_MAX; type++) {
        for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
            if (!(grant->actions[type] & actions[i]))
                continue;
            (void)snprintf(text, sizeof text, "%s:%s", resource_type_name((enum resource_type)type),
                           permission_action_name(actions[i]));
            (void)yyjson_mut_arr_add_strcpy(doc, list, text);
        }
    }
}

static int me(struct request *request, struct err *err)
{
    const struct caller *caller = request->caller;
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *grants;

    (void)err;
    request->answer = yyjson_mut_obj(doc);
    put_text(doc, request->answer, "id", caller->id);
    put_text(doc, request->answer, "name", caller->name);
    put_text(doc, request->answer, "type", caller->is_user ? "user" : "service-account");
    (void)yyjson_mut_obj_add_bool(doc, request->answer, "mustChangePassword", caller->must_change_password);
    if (*caller->csrf)
        put_text(doc, request->answer, "csrfToken", caller->csrf);
    put_text(doc, request->answer, "clusterId", request->console->cluster_id);
    put_text(doc, request->answer, "clusterName", request->console->flags->cluster_name);
    grants = yyjson_mut_obj_add_arr(doc, request->answer, "grants");
    vec_foreach (&caller->access, grant) {
        yyjson_mut_val *to = yyjson_mut_arr_add_obj(doc, grants);

        put_text(doc, to, "scopeType", scope_name(grant->scope));
        put_text(doc, to, "scopeId", grant->scope_id);
        add_permissions(doc, yyjson_mut_obj_add_arr(doc, to, "permissions"), grant);
    }
    return 0;
}
READS(handle_me, me)
