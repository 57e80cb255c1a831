/* SPDX-License-Identifier: Apache-2.0 */

/* Identity providers as administrators set them up. The client secret is kept encrypted, and is never shown again. */
#include "console/rest/idps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/assets/vault.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/signin/grants.h"

enum { ALIAS_MAX = 63, TEXT_MAX = 255, SCOPES_MAX = 32, IDPS_MAX = 16, OWNER_MAX = ALIAS_MAX + 8 };

/* Stands for the secret in answers; sent back, it leaves the secret as it is. */
#define HIDDEN "********"
#define OPENID "openid"

static const struct {
    const char *name;
    const char *usual;  // the claim, where nothing else is said
} mappers[] = {
    {"email", "email"},
    {"groups", "groups"},
    {"uid", "uid"},
    {"gid", "gid"},
    {"supplementaryGroups", "supplementarygroups"},
};

void idp_redirect_uri(struct console *console, const char *alias, char uri[static OIDC_URL_MAX])
{
    char base[OIDC_URL_MAX / 2];

    console_url(console, base, sizeof base);
    (void)snprintf(uri, OIDC_URL_MAX, "%s/api/muster/v1/sso/%s/callback", base, alias);
}

/* Under which the client secret is kept, and the name of the credential that its users sign in with. */
static const char *owner_of(const char *alias, char owner[static OWNER_MAX])
{
    (void)snprintf(owner, OWNER_MAX, "idp/%.*s", ALIAS_MAX, alias);
    return owner;
}

/* --- what is read back --- */

static const char *mapper(yyjson_val *item, size_t i)
{
    const char *claim = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(item, "mappers"), mappers[i].name));

    return claim ? claim : mappers[i].usual;
}

static char *join_scopes(yyjson_val *scopes)
{
    struct strbuf text;
    size_t i, count;
    yyjson_val *scope;

    strbuf_init(&text, (size_t)SCOPES_MAX * (TEXT_MAX + 1));
    strbuf_addstr(&text, OPENID);
    yyjson_arr_foreach(scopes, i, count, scope)
    {
        if (!yyjson_equals_str(scope, OPENID))
            strbuf_addf(&text, " %s", yyjson_get_str(scope));
    }
    if (yyjson_arr_size(scopes) == 0)
        strbuf_addstr(&text, " email profile");
    return strbuf_take(&text);
}

int idp_load(struct console *console, const char *alias, struct idp *ret_idp, struct err *err)
{
    struct idp idp = {0};
    char owner[OWNER_MAX];
    int r = item_get(console->db, ITEM_IDP, alias, &idp.doc, err);

    if (r < 0)
        return r;
    yyjson_val *item = yyjson_doc_get_root(idp.doc);
    yyjson_val *data = yyjson_obj_get(item, "oidcData");
    yyjson_val *mandatory = yyjson_obj_get(data, "mandatoryClaim");
    r = vault_get(console->vault, owner_of(alias, owner), &idp.client_secret, err);
    if (r < 0) {
        yyjson_doc_free(idp.doc);
        return r;
    }
    idp.alias = yyjson_get_str(yyjson_obj_get(item, "alias"));
    idp.discovery = yyjson_get_str(yyjson_obj_get(data, "discoverDocumentUrl"));
    idp.client = yyjson_get_str(yyjson_obj_get(data, "clientId"));
    idp.scopes = join_scopes(yyjson_obj_get(data, "scopes"));
    idp.mapping = (struct oidc_mapping){
        .email = mapper(item, 0),
        .groups = mapper(item, 1),
        .uid = mapper(item, 2),
        .gid = mapper(item, 3),
        .supplementary_groups = mapper(item, 4),
        .mandatory_claim = yyjson_get_str(yyjson_obj_get(mandatory, "claim")),
        .mandatory_values = yyjson_obj_get(mandatory, "values"),
    };
    *ret_idp = idp;
    return 0;
}

void idp_done(struct idp *idp)
{
    if (idp->client_secret)
        memset(idp->client_secret, 0, strlen(idp->client_secret));
    free(idp->client_secret);
    free(idp->scopes);
    yyjson_doc_free(idp->doc);
    *idp = (struct idp){0};
}

/* --- what is written --- */

static int check_alias(const char *alias, struct err *err)
{
    size_t len = strspn(alias, "abcdefghijklmnopqrstuvwxyz0123456789_-");

    if (len > 0 && len <= ALIAS_MAX && !alias[len])
        return 0;
    return err_set(err, -EINVAL, "name: 1 to %d lower-case letters, digits, '-' and '_' are allowed", ALIAS_MAX);
}

static int take_member(const struct json_at *at, const char *key, enum json_need need, const char **ret_text,
                       struct err *err)
{
    int r = json_member_str(at, key, need, ret_text, err);

    if (r > 0 && (!**ret_text || strlen(*ret_text) > TEXT_MAX))
        return json_fail(at, err, -EINVAL, "%s: expected 1 to %d bytes", key, TEXT_MAX);
    return r;
}

/* A list of texts, copied; none has spaces or control characters. */
static int copy_texts(struct request *request, const struct json_at *list, yyjson_mut_val *to, const char *key,
                      struct err *err)
{
    yyjson_mut_val *copy = yyjson_mut_obj_add_arr(request->doc, to, key);
    const char *text = NULL;
    int r;

    if (yyjson_arr_size(list->val) > SCOPES_MAX)
        return json_fail(list, err, -EINVAL, "more than %d", SCOPES_MAX);
    for (struct json_at item = {0}; json_next(list, &item);) {
        if ((r = json_str(&item, &text, err)) < 0)
            return r;
        if (!*text || strlen(text) > TEXT_MAX || strpbrk(text, " \t\r\n\"\\"))
            return json_fail(&item, err, -EINVAL, "expected a word");
        (void)yyjson_mut_arr_add_strcpy(request->doc, copy, text);
    }
    return 0;
}

static int copy_mandatory(struct request *request, const struct json_at *data, yyjson_mut_val *to, struct err *err)
{
    struct json_at claim, values;
    const char *name = NULL;
    int r = json_member_object(data, "mandatoryClaim", JSON_OPTIONAL, &claim, err);

    if (r <= 0)
        return r;
    if ((r = take_member(&claim, "claim", JSON_REQUIRED, &name, err)) < 0 ||
        (r = json_member_array(&claim, "values", JSON_REQUIRED, &values, err)) < 0)
        return r;
    if (yyjson_arr_size(values.val) == 0)
        return json_fail(&values, err, -EINVAL, "expected at least one");
    yyjson_mut_val *copy = yyjson_mut_obj_add_obj(request->doc, to, "mandatoryClaim");
    put_text(request->doc, copy, "claim", name);
    return copy_texts(request, &values, copy, "values", err);
}

/* HIDDEN leaves the secret of a provider that there is already as it is. */
static int copy_data(struct request *request, const char *alias, bool is_new, yyjson_mut_val *to, struct err *err)
{
    struct json_at data, scopes;
    const char *client = NULL, *secret = NULL, *url = NULL;
    char owner[OWNER_MAX];
    int r;

    if ((r = json_member_object(&request->body, "oidcData", JSON_REQUIRED, &data, err)) < 0 ||
        (r = take_member(&data, "clientId", JSON_REQUIRED, &client, err)) < 0 ||
        (r = take_member(&data, "clientSecret", JSON_REQUIRED, &secret, err)) < 0 ||
        (r = json_member_str(&data, "discoverDocumentUrl", JSON_REQUIRED, &url, err)) < 0 ||
        (r = json_member_array(&data, "scopes", JSON_OPTIONAL, &scopes, err)) < 0 ||
        (r = reach_check_url(&request->console->reach, url, err)) < 0)
        return r;
    put_text(request->doc, to, "clientId", client);
    put_text(request->doc, to, "discoverDocumentUrl", url);
    if (is_new || strcmp(secret, HIDDEN) != 0)
        r = vault_put(request->console->vault, owner_of(alias, owner), secret, err);
    if (r == 0)
        r = copy_texts(request, &scopes, to, "scopes", err);
    return r < 0 ? r : copy_mandatory(request, &data, to, err);
}

static int copy_mappers(struct request *request, const struct json_at *from, yyjson_mut_val *item, struct err *err)
{
    yyjson_mut_val *copy = yyjson_mut_obj(request->doc);

    for (size_t i = 0; i < ARRAY_LEN(mappers); i++) {
        const char *claim = mappers[i].usual;
        int r = from->val ? json_member_str(from, mappers[i].name, JSON_OPTIONAL, &claim, err) : 0;

        if (r < 0)
            return r;
        if (strlen(claim) > TEXT_MAX || (i == 0 && !*claim))
            return json_fail(from, err, -EINVAL, "%s: expected the name of a claim", mappers[i].name);
        put_text(request->doc, copy, mappers[i].name, claim);
    }
    (void)yyjson_mut_obj_remove_key(item, "mappers");
    (void)yyjson_mut_obj_add_val(request->doc, item, "mappers", copy);
    return 0;
}

/* The item from the body. */
static int read_idp(struct request *request, const char *alias, bool is_new, yyjson_mut_val **ret_item, struct err *err)
{
    yyjson_mut_val *item = yyjson_mut_obj(request->doc);
    struct json_at from;
    const char *type = NULL;
    int r;

    if ((r = json_member_str(&request->body, "type", JSON_REQUIRED, &type, err)) < 0)
        return r;
    if (strcmp(type, "saml") == 0 || strcmp(type, "openshift-v4") == 0)
        return err_set(err, -ENOSYS, "type: '%s' is not supported yet; 'oidc' is", type);
    if (strcmp(type, "oidc") != 0)
        return err_set(err, -EINVAL, "type: expected 'oidc'");
    if ((r = json_member_object(&request->body, "mappers", JSON_OPTIONAL, &from, err)) < 0)
        return r;
    put_text(request->doc, item, "alias", alias);
    put_text(request->doc, item, "type", type);
    r = copy_data(request, alias, is_new, yyjson_mut_obj_add_obj(request->doc, item, "oidcData"), err);
    if (r == 0)
        r = copy_mappers(request, &from, item, err);
    *ret_item = item;
    return r;
}

/* As clients see it. */
static yyjson_mut_val *shown(struct request *request, yyjson_mut_val *item)
{
    yyjson_mut_val *data = yyjson_mut_obj_get(item, "oidcData");
    const char *alias = yyjson_mut_get_str(yyjson_mut_obj_get(item, "alias"));
    char uri[OIDC_URL_MAX];

    idp_redirect_uri(request->console, alias, uri);
    put_text(request->doc, item, "redirectUri", uri);
    put_text(request->doc, data, "clientSecret", HIDDEN);
    (void)yyjson_mut_obj_add_strcpy(request->doc, yyjson_mut_obj_get(item, "mappers"), "alias", alias);
    return item;
}

static void note(struct request *request, const char *action, const char *alias)
{
    request->action = action;
    request->type = "identity-provider";
    (void)snprintf(request->id, sizeof request->id, "%.36s", alias);
    (void)snprintf(request->name, sizeof request->name, "%s", alias);
}

/* The item of the path's parameter. */
static int take_idp(struct request *request, yyjson_mut_val **ret_item, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = item_get(request->console->db, ITEM_IDP, rest_param(request->exchange, "idp"), &doc, err);

    if (r == 0)
        *ret_item = copy_item(request->doc, yyjson_doc_get_root(doc));
    return r;
}

static int add_shown(void *arg, yyjson_val *item)
{
    struct request *request = arg;

    (void)yyjson_mut_arr_append(request->answer, shown(request, copy_item(request->doc, item)));
    return 0;
}

static int list_idps(struct request *request, struct err *err)
{
    request->answer = yyjson_mut_arr(request->doc);
    return items_each(request->console->db, ITEM_IDP, NULL, add_shown, request, err);
}
READS(handle_list_idps, list_idps)

static int get_idp(struct request *request, struct err *err)
{
    int r = take_idp(request, &request->answer, err);

    return r < 0 ? r : (shown(request, request->answer), 0);
}
READS(handle_get_idp, get_idp)

static int create_idp(struct request *request, struct err *err)
{
    const char *alias = "oidc";
    yyjson_mut_val *item = NULL;
    int64_t count = 0;
    int r;

    if ((r = json_member_str(&request->body, "name", JSON_OPTIONAL, &alias, err)) < 0 ||
        (r = check_alias(alias, err)) < 0 || (r = read_idp(request, alias, true, &item, err)) < 0 ||
        (r = db_query_number(request->console->db,
                             DB_CALL("SELECT count(*) FROM items WHERE kind = $1", db_text(ITEM_IDP)), &count, err)) <
            0)
        return r;
    if (count >= IDPS_MAX)
        return err_set(err, -EINVAL, "there are %d identity providers already", IDPS_MAX);
    r = item_insert(request->console->db, &(struct item_key){ITEM_IDP, alias, "", alias}, item, err);
    if (r < 0)
        return r;
    request->status = 201;
    request->answer = yyjson_mut_obj(request->doc);
    put_text(request->doc, request->answer, "alias", alias);
    note(request, "create", alias);
    return 0;
}
CHANGES(handle_create_idp, create_idp)

/* Whoever signed in by what the provider was before signs in again. */
static int end_sessions(struct request *request, const char *alias, struct err *err)
{
    char credential[OWNER_MAX];

    return grants_revoke_credential(request->console, owner_of(alias, credential), err);
}

static int update_idp(struct request *request, struct err *err)
{
    const char *alias = rest_param(request->exchange, "idp");
    yyjson_mut_val *old = NULL, *item = NULL;
    int r;

    if ((r = take_idp(request, &old, err)) < 0 || (r = read_idp(request, alias, false, &item, err)) < 0 ||
        (r = end_sessions(request, alias, err)) < 0)
        return r;
    note(request, "update", alias);
    return item_update(request->console->db, ITEM_IDP, alias, item, err);
}
CHANGES(handle_update_idp, update_idp)

static int delete_idp(struct request *request, struct err *err)
{
    const char *alias = rest_param(request->exchange, "idp");
    char owner[OWNER_MAX];
    int r = item_delete(request->console->db, ITEM_IDP, alias, err);

    if (r == 0)
        r = vault_delete(request->console->vault, owner_of(alias, owner), err);
    if (r < 0)
        return r;
    note(request, "delete", alias);
    return end_sessions(request, alias, err);
}
CHANGES(handle_delete_idp, delete_idp)

static int get_mappers(struct request *request, struct err *err)
{
    yyjson_mut_val *item = NULL;
    int r = take_idp(request, &item, err);

    if (r == 0)
        request->answer = yyjson_mut_obj_get(shown(request, item), "mappers");
    return r;
}
READS(handle_get_mappers, get_mappers)

static int update_mappers(struct request *request, struct err *err)
{
    const char *alias = rest_param(request->exchange, "idp");
    yyjson_mut_val *item = NULL;
    int r;

    if ((r = take_idp(request, &item, err)) < 0 || (r = json_object(&request->body, err)) < 0 ||
        (r = copy_mappers(request, &request->body, item, err)) < 0)
        return r;
    request->status = 202;
    note(request, "update", alias);
    return item_update(request->console->db, ITEM_IDP, alias, item, err);
}
CHANGES(handle_update_mappers, update_mappers)

/* For the page of those who have not signed in: names and links, and nothing else. */
static int add_choice(void *arg, yyjson_val *item)
{
    struct request *request = arg;
    yyjson_mut_val *choice = yyjson_mut_arr_add_obj(request->doc, request->answer);
    const char *alias = yyjson_get_str(yyjson_obj_get(item, "alias"));
    char path[ALIAS_MAX + 40];

    (void)snprintf(path, sizeof path, "/api/muster/v1/sso/%.*s/login", ALIAS_MAX, alias);
    put_text(request->doc, choice, "name", alias);
    put_text(request->doc, choice, "type", "oidc");
    put_text(request->doc, choice, "login", path);
    return 0;
}

static int list_sso(struct request *request, struct err *err)
{
    request->answer = yyjson_mut_arr(request->doc);
    return items_each(request->console->db, ITEM_IDP, NULL, add_choice, request, err);
}
READS(handle_list_sso, list_sso)
