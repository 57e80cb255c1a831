/* SPDX-License-Identifier: Apache-2.0 */

/* Users, service accounts (formerly applications) and the access keys of users. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/rest/listing_source.h"
#include "console/signin/grants.h"
#include "console/signin/secret_rows.h"

enum { EMAIL_MAX = 254, HANDLE_MAX = 63, KEYS_MAX = 20 };

int check_email(const char *text, struct err *err)
{
    static const char local[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-";
    static const char domain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    size_t at = strspn(text, local);
    size_t rest = text[at] == '@' ? strspn(text + at + 1, domain) : 0;
    const char *dot = strrchr(text, '.');

    if (at > 0 && rest > 0 && text[at + 1 + rest] == '\0' && dot && dot > text + at + 1 && strlen(dot) >= 3 &&
        strlen(text) <= EMAIL_MAX)
        return 0;
    return err_set(err, -EINVAL, "email: '%.100s' is not an e-mail address", text);
}

int check_handle(const char *text, struct err *err)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

    if (len >= 2 && len <= HANDLE_MAX && text[len] == '\0' && islower((unsigned char)text[0]) && text[len - 1] != '-' &&
        text[len - 1] != '_')
        return 0;
    return err_set(err, -EINVAL,
                   "name: 2 to %d lower-case letters, digits, '-' and '_' are allowed, the first a letter, the last a "
                   "letter or digit",
                   HANDLE_MAX);
}

static int add_row(void *arg, yyjson_val *item)
{
    void **args = arg;
    struct listing_rows *rows = args[1];

    vec_push(rows, copy_item(args[0], item));
    return 0;
}

int load_rows(struct request *request, const char *kind, const char *place, struct listing_rows *ret_rows,
              struct err *err)
{
    void *args[] = {request->doc, ret_rows};

    return items_each(request->console->db, kind, place, add_row, args, err);
}

void answer_count(struct request *request, int64_t count)
{
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "count", count);
}

yyjson_mut_val *rows_array(struct request *request, const struct listing_rows *rows)
{
    yyjson_mut_val *array = yyjson_mut_arr(request->doc);

    vec_foreach (rows, row)
        (void)yyjson_mut_arr_append(array, *row);
    return array;
}

/* --- users --- */

static const struct listing_field user_fields[] = {
    {"username", "/username"},
    {"createdBy", "/createdBy"},
    {"lastLogin", "/lastLogin"},
    {"creationTime", "/createdAt"},
    {"lastUpdated", "/updatedAt"},
    {"isLocal", "/isLocal"},
    {NULL, NULL},
};
static const struct listing_kind user_kind = {user_fields, "/username", 500, 500};

static int load_users(struct request *request, struct listing_rows *rows, struct listing_found *ret_found,
                      struct err *err)
{
    const struct listing_source source = {LISTING_ITEMS(ITEM_USER, "")};

    return listing_load(request, &user_kind, &source, rows, ret_found, err);
}

static int list_users(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    struct listing_found found;
    int r = load_users(request, &rows, &found, err);

    if (r == 0)
        request->answer = rows_array(request, &rows);
    vec_done(&rows);
    return r;
}
READS(handle_list_users, list_users)

static int count_users(struct request *request, struct err *err)
{
    struct listing_found found = {0};
    int r = load_users(request, NULL, &found, err);

    answer_count(request, found.total);
    return r;
}
READS(handle_count_users, count_users)

int user_create(struct request *request, const char *email, const char *created_by, const char *id, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);

    put_text(doc, item, "id", id);
    put_text(doc, item, "username", email);
    put_text(doc, item, "createdBy", created_by);
    put_now(doc, item, "createdAt");
    put_now(doc, item, "updatedAt");
    (void)yyjson_mut_obj_add_null(doc, item, "lastLogin");
    (void)yyjson_mut_obj_add_bool(doc, item, "isLocal", true);
    (void)yyjson_mut_obj_add_arr(doc, item, "groups");
    return item_insert(request->console->db, &(struct item_key){ITEM_USER, id, "", email}, item, err);
}

static void note(struct request *request, const char *action, const char *type, const char *id, const char *name)
{
    request->action = action;
    request->type = type;
    (void)snprintf(request->id, sizeof request->id, "%s", id);
    (void)snprintf(request->name, sizeof request->name, "%s", name);
}

/* A secret that is shown once. */
static int make_secret(struct request *request, const char *subject, bool must_change, const char *member,
                       struct err *err)
{
    char secret[SECRET_TEXT_MAX], digest[SECRET_TEXT_MAX];

    secret_make(secret);
    secret_digest(secret, digest);
    put_text(request->doc, request->answer, member, secret);
    return set_secret(request->console, subject, digest, must_change, err);
}

static int create_user(struct request *request, struct err *err)
{
    const char *email = NULL;
    bool resets = true;
    char id[UUID_TEXT_MAX];
    int r;

    if ((r = json_member_str(&request->body, "email", JSON_REQUIRED, &email, err)) < 0 ||
        (r = json_member_bool(&request->body, "resetPassword", JSON_OPTIONAL, &resets, err)) < 0 ||
        (r = check_email(email, err)) < 0)
        return r;
    uuid_make(id);
    r = user_create(request, email, request->caller->name, id, err);
    if (r < 0)
        return r;
    request->status = 201;
    request->answer = yyjson_mut_obj(request->doc);
    put_text(request->doc, request->answer, "id", id);
    put_text(request->doc, request->answer, "username", email);
    note(request, "create", "user", id, email);
    return make_secret(request, id, resets, "tempPassword", err);
}
CHANGES(handle_create_user, create_user)

/* The item of the path's parameter, with its name in the request. */
static int take_item(struct request *request, const char *kind, const char *parameter, const char *name_member,
                     yyjson_mut_val **ret_item, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *id = rest_param(request->exchange, parameter);
    int r = item_get(request->console->db, kind, id, &doc, err);

    if (r < 0)
        return r;
    *ret_item = copy_item(request->doc, yyjson_doc_get_root(doc));
    const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(*ret_item, name_member));
    note(request, NULL, kind, id, name ? name : "");
    return 0;
}

static int get_user(struct request *request, struct err *err)
{
    return take_item(request, ITEM_USER, "userId", "username", &request->answer, err);
}
READS(handle_get_user, get_user)

static int delete_keys_of(struct console *console, const char *user, struct err *err)
{
    int r = db_run(console->db,
                   DB_CALL("DELETE FROM secrets WHERE subject IN (SELECT id FROM items WHERE kind = $1 AND place = $2)",
                           db_text(ITEM_ACCESS_KEY), db_text(user)),
                   NULL, err);

    if (r < 0)
        return r;
    return db_run(console->db,
                  DB_CALL("DELETE FROM items WHERE kind = $1 AND place = $2", db_text(ITEM_ACCESS_KEY), db_text(user)),
                  NULL, err);
}

static int delete_subject(struct request *request, const char *kind, struct err *err)
{
    struct console *console = request->console;
    int r;

    if (strcmp(request->id, request->caller->id) == 0)
        return err_set(err, -EINVAL, "users cannot delete themselves: ask another administrator");
    if ((r = item_delete(console->db, kind, request->id, err)) < 0 ||
        (r = delete_secret(console, request->id, err)) < 0 || (r = grants_revoke(console, request->id, err)) < 0 ||
        (r = delete_keys_of(console, request->id, err)) < 0 || (r = rules_delete_of(console, request->id, err)) < 0)
        return r;
    r = item_delete(console->db, ITEM_USER_LINK, request->id, err);
    if (r < 0 && r != -ENOENT)
        return r;
    request->action = "delete";
    request->answer = NULL;
    request->status = 204;
    return 0;
}

static int delete_user(struct request *request, struct err *err)
{
    int r = get_user(request, err);

    return r < 0 ? r : delete_subject(request, ITEM_USER, err);
}
CHANGES(handle_delete_user, delete_user)

static int logout_user(struct request *request, struct err *err)
{
    int r = get_user(request, err);

    request->action = "sign-out";
    request->answer = NULL;
    return r < 0 ? r : grants_revoke(request->console, request->id, err);
}
CHANGES(handle_logout_user, logout_user)

static int reset_password(struct request *request, struct err *err)
{
    int r = get_user(request, err);

    if (r == 0 && !yyjson_mut_get_bool(yyjson_mut_obj_get(request->answer, "isLocal")))
        r = err_set(err, -EINVAL, "'%.100s' has no password here, but signs in at an identity provider", request->name);
    if (r == 0)
        r = grants_revoke(request->console, request->id, err);
    request->action = "reset-password";
    request->answer = yyjson_mut_obj(request->doc);
    return r < 0 ? r : make_secret(request, request->id, true, "tempPassword", err);
}
CHANGES(handle_reset_password, reset_password)

/* --- service accounts --- */

static int list_accounts(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    int r = load_rows(request, ITEM_SERVICE_ACCOUNT, NULL, &rows, err);

    request->answer = rows_array(request, &rows);
    vec_done(&rows);
    return r;
}
READS(handle_list_accounts, list_accounts)
READS(handle_list_apps, list_accounts)

static int add_account(struct request *request, const char *secret_member, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    const char *name = NULL;
    char id[UUID_TEXT_MAX];
    int r;

    if ((r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = check_handle(name, err)) < 0)
        return r;
    uuid_make(id);
    put_text(doc, item, "id", id);
    put_text(doc, item, "name", name);
    put_text(doc, item, "clientId", name);
    put_text(doc, item, "createdBy", request->caller->name);
    put_now(doc, item, "createdAt");
    put_now(doc, item, "updatedAt");
    (void)yyjson_mut_obj_add_bool(doc, item, "enabled", true);
    put_text(doc, item, "tenantId", TENANT_ID_TEXT);
    (void)yyjson_mut_obj_add_null(doc, item, "lastLogin");
    r = item_insert(request->console->db, &(struct item_key){ITEM_SERVICE_ACCOUNT, id, "", name}, item, err);
    if (r < 0)
        return r;
    request->status = 201;
    request->answer = yyjson_mut_obj(doc);
    put_text(doc, request->answer, "id", id);
    put_text(doc, request->answer, "name", name);
    put_text(doc, request->answer, "clientId", name);
    note(request, "create", "service-account", id, name);
    return make_secret(request, id, false, secret_member, err);
}

static int create_account(struct request *request, struct err *err)
{
    return add_account(request, "clientSecret", err);
}
CHANGES(handle_create_account, create_account)

static int create_app(struct request *request, struct err *err)
{
    return add_account(request, "secret", err);
}
CHANGES(handle_create_app, create_app)

/* Applications have another name for the parameter: the last segment but one of the path is the same. */
static int take_account(struct request *request, struct err *err)
{
    bool is_app = strncmp(http_exchange_path(request->exchange), "/api/v1/apps/", 13) == 0;

    return take_item(request, ITEM_SERVICE_ACCOUNT, is_app ? "appId" : "serviceAccountId", "name", &request->answer,
                     err);
}
READS(handle_get_account, take_account)

static int patch_account(struct request *request, struct err *err)
{
    bool is_enabled = false;
    int r = take_account(request, err);

    if (r < 0 || (r = json_member_bool(&request->body, "enabled", JSON_REQUIRED, &is_enabled, err)) < 0)
        return r;
    (void)yyjson_mut_obj_remove_key(request->answer, "enabled");
    (void)yyjson_mut_obj_remove_key(request->answer, "updatedAt");
    (void)yyjson_mut_obj_add_bool(request->doc, request->answer, "enabled", is_enabled);
    put_now(request->doc, request->answer, "updatedAt");
    r = item_update(request->console->db, ITEM_SERVICE_ACCOUNT, request->id, request->answer, err);
    if (r == 0 && !is_enabled)
        r = grants_revoke(request->console, request->id, err);
    request->action = "update";
    request->answer = NULL;
    return r;
}
CHANGES(handle_patch_account, patch_account)

static int delete_account(struct request *request, struct err *err)
{
    int r = take_account(request, err);

    return r < 0 ? r : delete_subject(request, ITEM_SERVICE_ACCOUNT, err);
}
CHANGES(handle_delete_account, delete_account)

static int renew_secret(struct request *request, const char *member, struct err *err)
{
    int r = grants_revoke_credential(request->console, request->id, err);

    request->action = "update";
    request->answer = yyjson_mut_obj(request->doc);
    return r < 0 ? r : make_secret(request, request->id, false, member, err);
}

static int renew_account(struct request *request, struct err *err)
{
    int r = take_account(request, err);

    return r < 0 ? r : renew_secret(request, "clientSecret", err);
}
CHANGES(handle_renew_account, renew_account)

static int renew_app(struct request *request, struct err *err)
{
    int r = take_account(request, err);

    return r < 0 ? r : renew_secret(request, "secret", err);
}
CHANGES(handle_renew_app, renew_app)

/* --- access keys --- */

static int keys_of(struct request *request, const char *owner, struct err *err)
{
    struct listing_rows rows = {0};
    int r = load_rows(request, ITEM_ACCESS_KEY, owner, &rows, err);

    vec_foreach (&rows, row)
        (void)yyjson_mut_obj_remove_key(*row, "owner");
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "accessKeys", rows_array(request, &rows));
    vec_done(&rows);
    return r;
}

static int list_keys(struct request *request, struct err *err)
{
    return keys_of(request, request->caller->id, err);
}
READS(handle_list_keys, list_keys)

static int create_key(struct request *request, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    const char *name = NULL;
    char id[UUID_TEXT_MAX];
    int r;

    if ((r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = check_handle(name, err)) < 0)
        return r;
    if (!request->caller->is_user)
        return err_set(err, -EACCES, "access keys belong to users");
    if ((r = list_keys(request, err)) < 0)
        return r;
    if (yyjson_mut_arr_size(yyjson_mut_obj_get(request->answer, "accessKeys")) >= KEYS_MAX)
        return err_set(err, -EINVAL, "a user has at most %d access keys", KEYS_MAX);
    uuid_make(id);
    put_text(doc, item, "id", id);
    put_text(doc, item, "name", name);
    put_text(doc, item, "clientId", id);
    put_text(doc, item, "owner", request->caller->id);
    put_text(doc, item, "createdBy", request->caller->name);
    put_now(doc, item, "createdAt");
    (void)yyjson_mut_obj_add_null(doc, item, "lastLogin");
    r = item_insert(request->console->db, &(struct item_key){ITEM_ACCESS_KEY, id, request->caller->id, name}, item,
                    err);
    if (r < 0)
        return r;
    request->status = 201;
    request->answer = yyjson_mut_obj(doc);
    put_text(doc, request->answer, "id", id);
    put_text(doc, request->answer, "clientId", id);
    put_text(doc, request->answer, "name", name);
    put_now(doc, request->answer, "createdAt");
    note(request, "create", "access-key", id, name);
    return make_secret(request, id, false, "clientSecret", err);
}
CHANGES(handle_create_key, create_key)

/* Another one's key is not there. */
static int take_key(struct request *request, struct err *err)
{
    int r = take_item(request, ITEM_ACCESS_KEY, "accessKeyId", "name", &request->answer, err);

    if (r < 0)
        return r;
    if (strcmp(yyjson_mut_get_str(yyjson_mut_obj_get(request->answer, "owner")), request->caller->id) != 0)
        return err_set(err, -ENOENT, "there is no access key '%s'", request->id);
    (void)yyjson_mut_obj_remove_key(request->answer, "owner");
    return 0;
}
READS(handle_get_key, take_key)

static int drop_key(struct request *request, struct err *err)
{
    int r;

    if ((r = item_delete(request->console->db, ITEM_ACCESS_KEY, request->id, err)) < 0 ||
        (r = delete_secret(request->console, request->id, err)) < 0)
        return r;
    request->action = "delete";
    request->answer = NULL;
    request->status = 204;
    return grants_revoke_credential(request->console, request->id, err);
}

static int delete_key(struct request *request, struct err *err)
{
    int r = take_key(request, err);

    return r < 0 ? r : drop_key(request, err);
}
CHANGES(handle_delete_key, delete_key)

static int renew_key(struct request *request, struct err *err)
{
    int r = take_key(request, err);

    return r < 0 ? r : renew_secret(request, "clientSecret", err);
}
CHANGES(handle_renew_key, renew_key)

/* Of all users, for administrators. */
static int list_all_keys(struct request *request, struct err *err)
{
    return keys_of(request, NULL, err);
}
READS(handle_list_all_keys, list_all_keys)

static int delete_any_key(struct request *request, struct err *err)
{
    int r = take_item(request, ITEM_ACCESS_KEY, "accessKeyId", "name", &request->answer, err);

    return r < 0 ? r : drop_key(request, err);
}
CHANGES(handle_delete_any_key, delete_any_key)
