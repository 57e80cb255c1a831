/* SPDX-License-Identifier: Apache-2.0 */
#include "console/rest/sso_user.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/data/db.h"
#include "console/data/items.h"
#include "console/identity/oidc.h"
#include "console/rest/handlers.h"

static int make_user(struct request *request, const char *alias, const struct oidc_person *person, struct err *err)
{
    yyjson_mut_val *link = yyjson_mut_obj(request->doc);
    int r = check_email(person->email, err);

    if (r < 0)
        return err_set(err, -ENOKEY, "the identity provider '%s' sent no e-mail address that can be used", alias);
    uuid_make(request->id);
    r = user_create(request, person->email, alias, request->id, err);
    if (r == -EEXIST)
        return err_set(err, -EACCES,
                       "a user '%.100s' exists already, and did not come from '%s': an administrator can delete it",
                       person->email, alias);
    if (r < 0)
        return r;
    put_text(request->doc, link, "id", request->id);
    return item_insert(request->console->db, &(struct item_key){ITEM_USER_LINK, request->id, alias, person->subject},
                       link, err);
}

static void set_number(yyjson_mut_doc *doc, yyjson_mut_val *item, const char *key, int64_t number)
{
    (void)yyjson_mut_obj_remove_key(item, key);
    if (number >= 0)
        (void)yyjson_mut_obj_add_sint(doc, item, key, number);
}

static void set_claims(yyjson_mut_doc *doc, yyjson_mut_val *item, const char *alias, const struct oidc_person *person)
{
    static const char *const replaced[] = {"isLocal",   "identityProvider", "groups", "supplementaryGroups",
                                           "lastLogin", "updatedAt"};

    for (size_t i = 0; i < ARRAY_LEN(replaced); i++)
        (void)yyjson_mut_obj_remove_key(item, replaced[i]);
    (void)yyjson_mut_obj_add_bool(doc, item, "isLocal", false);
    put_text(doc, item, "identityProvider", alias);
    put_now(doc, item, "lastLogin");
    put_now(doc, item, "updatedAt");
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, item, "groups");
    for (size_t i = 0; i < person->group_count; i++)
        (void)yyjson_mut_arr_add_strcpy(doc, groups, person->groups[i]);
    yyjson_mut_val *more = yyjson_mut_obj_add_arr(doc, item, "supplementaryGroups");
    for (size_t i = 0; i < person->supplementary_count; i++)
        (void)yyjson_mut_arr_add_sint(doc, more, person->supplementary[i]);
    set_number(doc, item, "uid", person->uid);
    set_number(doc, item, "gid", person->gid);
}

int sso_user_keep(struct request *request, const char *alias, const struct oidc_person *person, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *link = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *user = NULL;
    struct db *db = request->console->db;
    int r = item_find(db, ITEM_USER_LINK, alias, person->subject, &link, err);

    if (r == 0)
        (void)snprintf(request->id, sizeof request->id, "%s",
                       yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(link), "id")));
    else if (r == -ENOENT)
        r = make_user(request, alias, person, err);
    if (r < 0 || (r = item_get(db, ITEM_USER, request->id, &user, err)) < 0)
        return r;
    yyjson_mut_val *item = copy_item(request->doc, yyjson_doc_get_root(user));
    (void)snprintf(request->name, sizeof request->name, "%s", yyjson_mut_get_str(yyjson_mut_obj_get(item, "username")));
    set_claims(request->doc, item, alias, person);
    return item_update(db, ITEM_USER, request->id, item, err);
}
