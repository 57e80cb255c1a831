/* SPDX-License-Identifier: Apache-2.0 */

/* Tokens for programs: for client secrets, access keys and refresh tokens, in Run:ai's words and in those of OAuth. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/signin/grants.h"
#include "console/signin/secret_rows.h"
#include "console/signin/signin.h"
#include "net/rest/url.h"

static const char *item_text(yyjson_val *item, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(item, key));

    return text ? text : "";
}

static int find_credential(struct console *console, const char *id, char credential[static UUID_TEXT_MAX],
                           char subject[static UUID_TEXT_MAX], const char **ret_kind, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = item_find(console->db, ITEM_SERVICE_ACCOUNT, "", id, &doc, err);

    *ret_kind = ITEM_SERVICE_ACCOUNT;
    if (r == -ENOENT) {
        *ret_kind = ITEM_ACCESS_KEY;
        r = item_get(console->db, ITEM_ACCESS_KEY, id, &doc, err);
    }
    if (r < 0)
        return r;
    yyjson_val *item = yyjson_doc_get_root(doc);
    const char *owner = yyjson_get_str(yyjson_obj_get(item, "owner"));
    (void)snprintf(credential, UUID_TEXT_MAX, "%s", item_text(item, "id"));
    (void)snprintf(subject, UUID_TEXT_MAX, "%s", owner ? owner : credential);
    if (!owner && !yyjson_get_bool(yyjson_obj_get(item, "enabled")))
        return err_set(err, -ENOENT, "the service account is disabled");
    return 0;
}

static int grant_for_secret(struct request *request, bool is_oauth, const char *id, const char *secret, struct err *err)
{
    char credential[UUID_TEXT_MAX] = "";
    char subject[UUID_TEXT_MAX] = "";
    char digest[SECRET_TEXT_MAX];
    struct secret_row row = {0};
    const char *kind;
    int r = find_credential(request->console, id, credential, subject, &kind, err);

    if (r == 0)
        r = read_secret(request->console, credential, &row, err);
    if (r < 0 && r != -ENOENT)
        return r;
    secret_digest(secret, digest);
    if (r == -ENOENT || !secret_equals(digest, row.hash))
        return err_set(err, -ENOKEY, "the client's id or secret is wrong");
    request->action = "sign-in";
    request->type = "application";
    (void)snprintf(request->name, sizeof request->name, "%s", id);
    (void)snprintf(request->id, sizeof request->id, "%s", subject);
    r = note_login(request->console, kind, credential, err);
    return r < 0 ? r : tokens_begin(request, is_oauth, subject, credential, err);
}

struct refresh {
    char subject[UUID_TEXT_MAX], credential[UUID_TEXT_MAX];
};

static int take_refresh(void *arg, const struct db_value *columns, size_t count)
{
    struct refresh *refresh = arg;

    (void)count;
    (void)snprintf(refresh->subject, sizeof refresh->subject, "%s", columns[0].text);
    (void)snprintf(refresh->credential, sizeof refresh->credential, "%s", columns[1].text);
    return 0;
}

/* A refresh token is used once. */
static int grant_for_refresh(struct request *request, bool is_oauth, const char *text, struct err *err)
{
    struct db *db = request->console->db;
    char digest[SECRET_TEXT_MAX];
    struct refresh refresh = {0};
    int r;

    secret_digest(text, digest);
    r = db_query(db,
                 DB_CALL("SELECT subject, credential FROM grants WHERE id = $1 AND kind = 'refresh' AND expires > $2",
                         db_text(digest), db_number(nsec_now_wall())),
                 take_refresh, &refresh, err);
    if (r == 0 && !*refresh.subject)
        r = err_set(err, -ENOKEY, "the refresh token was used or has expired");
    if (r == 0)
        r = db_run(db, DB_CALL("DELETE FROM grants WHERE id = $1", db_text(digest)), NULL, err);
    return r < 0 ? r : tokens_begin(request, is_oauth, refresh.subject, refresh.credential, err);
}

struct token_words {
    const char *grant, *id, *secret, *username, *password, *refresh;
};

static int grant(struct request *request, const struct token_words *words, bool is_oauth, struct err *err)
{
    bool is_secret = strcmp(words->grant, "app_token") == 0 || strcmp(words->grant, "client_credentials") == 0;

    if (is_secret && words->id && words->secret)
        return grant_for_secret(request, is_oauth, words->id, words->secret, err);
    if (strcmp(words->grant, "refresh_token") == 0 && words->refresh)
        return grant_for_refresh(request, is_oauth, words->refresh, err);
    if (strcmp(words->grant, "exchange_token") == 0 || strcmp(words->grant, "external_token_exchange") == 0 ||
        strcmp(words->grant, "authorization_code") == 0)
        return err_set(err, -ENOSYS, "the grant '%s' is not supported yet", words->grant);
    return err_set(err, -EINVAL, "the grant '%.50s' needs other members, or is unknown", words->grant);
}

/* Everything but passwords is answered at once. */
static void answer_grant(struct console *console, struct http_exchange *exchange, const struct token_words *words,
                         enum purpose purpose)
{
    struct request request = {
        .console = console, .exchange = exchange, .doc = yyjson_mut_doc_new(NULL), .status = 200, .type = "token"};
    struct err err = {0};
    int r;

    if (strcmp(words->grant, "password") == 0 && words->username && words->password) {
        yyjson_mut_doc_free(request.doc);
        r = signin_begin(console, exchange, purpose, words->username, words->password, &err);
        if (r < 0)
            rest_fail_err(exchange, &err);
        return;
    }
    r = db_begin(console->db, &err);
    if (r == 0)
        r = grant(&request, words, purpose == FOR_OAUTH_TOKEN, &err);
    if (r == 0 && request.action)
        r = request_audit(&request, &err);
    if (r == 0)
        r = request_commit(&request, &err);
    else
        db_rollback(console->db);
    request_reply(&request, r, &err);
}

/* Clients differ in how they write the members: "appID", "AppId". */
static const char *member(yyjson_val *object, const char *name)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);

    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        if (strcasecmp(yyjson_get_str(key), name) == 0)
            return yyjson_get_str(yyjson_obj_iter_get_val(key));
    }
    return NULL;
}

void handle_token(void *arg, struct http_exchange *exchange)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};
    size_t len = 0;
    const char *text = http_exchange_body(exchange, &len);

    if (json_parse(text, len, "the body", &doc, &err) < 0 || !yyjson_is_obj(yyjson_doc_get_root(doc))) {
        rest_fail(exchange, -EINVAL, "the body is not a JSON object");
        return;
    }
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *app = member(root, "appID");
    const char *secret = member(root, "appSecret");
    struct token_words words = {
        .grant = member(root, "grantType"),
        .id = app ? app : member(root, "clientID"),
        .secret = secret ? secret : member(root, "clientSecret"),
        .username = member(root, "username"),
        .password = member(root, "password"),
        .refresh = member(root, "refreshToken"),
    };
    if (!words.grant)
        words.grant = "";
    answer_grant(arg, exchange, &words, FOR_TOKEN);
}

void handle_oauth_token(void *arg, struct http_exchange *exchange)
{
    struct url_query query = {0};
    const char *grant_type;

    if (url_query_parse(http_exchange_body(exchange, NULL), &query) < 0) {
        rest_fail(exchange, -EINVAL, "the body is not a form");
    } else {
        grant_type = url_query_get(&query, "grant_type");
        struct token_words words = {
            .grant = grant_type ? grant_type : "",
            .id = url_query_get(&query, "client_id"),
            .secret = url_query_get(&query, "client_secret"),
            .username = url_query_get(&query, "username"),
            .password = url_query_get(&query, "password"),
            .refresh = url_query_get(&query, "refresh_token"),
        };
        answer_grant(arg, exchange, &words, FOR_OAUTH_TOKEN);
    }
    url_query_done(&query);
}
