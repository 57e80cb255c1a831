/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Signing in: tokens for secrets and passwords, sessions for browsers, and the setup of the first administrator. Passwords are
 * hashed in another thread, because that takes a fraction of a second on purpose.
 *
 * A wrong name and a wrong password get the same answer after the same work. Five wrong passwords in a row lock the user for
 * a quarter of an hour.
 */
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "frame/service.h"
#include "net/loop.h"
#include "net/rest/url.h"

enum { FAILURES_MAX = 5, NAME_MAX_BYTES = 254, COOKIE_TEXT_MAX = 256 };

#define TOKEN_LIFETIME (1 * NSEC_PER_HOUR)
#define REFRESH_LIFETIME (24 * NSEC_PER_HOUR)
#define SESSION_LIFETIME (12 * NSEC_PER_HOUR)
#define LOCK_TIME (15 * NSEC_PER_MIN)

/* A password nobody has: users that do not exist cost as much as those that do. */
#define NOBODY "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b5dWRWJTmaaJObGAAAAAAAAAAA"

/* What somebody signs in with, and for what. */
enum purpose { FOR_TOKEN, FOR_OAUTH_TOKEN, FOR_SESSION, FOR_CHANGE, FOR_SETUP };

struct signin {
    struct console *console;
    struct http_exchange *exchange;
    enum purpose purpose;
    char user[UUID_TEXT_MAX];
    char name[NAME_MAX_BYTES + 1];
    char hash[PASSWORD_HASH_MAX];
    char password[PASSWORD_MAX + 1];
    char new_password[PASSWORD_MAX + 1];  // "": none
    char new_hash[PASSWORD_HASH_MAX];
    bool is_right;
    int hash_error;
};

static const char *item_text(yyjson_val *item, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(item, key));

    return text ? text : "";
}

/* --- grants --- */

int grant_add(struct console *console, const struct grant_row *row, struct err *err)
{
    nsec_t now = nsec_now_wall();

    return db_run(console->db,
                  DB_CALL("INSERT INTO grants(id, kind, subject, expires, csrf, credential, used) "
                          "VALUES($1, $2, $3, $4, $5, $6, $7)",
                          db_text(row->id), db_text(row->kind), db_text(row->subject), db_number(now + row->lifetime),
                          db_text(row->csrf), db_text(row->credential), db_number(now)),
                  NULL, err);
}

/* An access token, and a refresh token that is good for one more. */
static int answer_tokens(struct request *request, enum purpose purpose, const char *subject, const char *credential,
                         struct err *err)
{
    bool is_oauth = purpose == FOR_OAUTH_TOKEN;
    char refresh[SECRET_TEXT_MAX];
    char digest[SECRET_TEXT_MAX];
    char text[TOKEN_TEXT_MAX];
    nsec_t now = nsec_now_wall();
    struct token token = {.issued = now, .expires = now + TOKEN_LIFETIME};
    int r;

    secret_make(token.grant);
    secret_make(refresh);
    secret_digest(refresh, digest);
    (void)snprintf(token.subject, sizeof token.subject, "%s", subject);
    r = grant_add(request->console, &(struct grant_row){"access", token.grant, subject, TOKEN_LIFETIME, "", credential},
                  err);
    if (r == 0)
        r = grant_add(request->console,
                      &(struct grant_row){"refresh", digest, subject, REFRESH_LIFETIME, "", credential}, err);
    if (r < 0)
        return r;
    token_write(request->console->token_key, &token, text);
    request->answer = yyjson_mut_obj(request->doc);
    put_text(request->doc, request->answer, is_oauth ? "access_token" : "accessToken", text);
    put_text(request->doc, request->answer, is_oauth ? "refresh_token" : "refreshToken", refresh);
    (void)yyjson_mut_obj_add_int(request->doc, request->answer, is_oauth ? "expires_in" : "expiresIn",
                                 TOKEN_LIFETIME / NSEC_PER_SEC);
    if (is_oauth)
        put_text(request->doc, request->answer, "token_type", "Bearer");
    return 0;
}

int session_begin(struct request *request, const char *subject, const char *credential, struct err *err)
{
    const struct console *console = request->console;
    char secret[SECRET_TEXT_MAX], digest[SECRET_TEXT_MAX], csrf[SECRET_TEXT_MAX];
    char cookie[COOKIE_TEXT_MAX];
    int r;

    secret_make(secret);
    secret_make(csrf);
    secret_digest(secret, digest);
    r = grant_add(request->console, &(struct grant_row){"session", digest, subject, SESSION_LIFETIME, csrf, credential},
                  err);
    if (r < 0)
        return r;
    (void)snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s", session_cookie(console), secret,
                   console_is_secure(console) ? "; Secure" : "");
    http_reply_header(request->exchange, "Set-Cookie", cookie);
    request->answer = yyjson_mut_obj(request->doc);
    put_text(request->doc, request->answer, "csrfToken", csrf);
    return 0;
}

/* --- the link for the first administrator --- */

/* All consoles of a database know the newest link by its digest. */
#define SETUP_KEY "setup-code"

int setup_offer(struct console *console, const char *code, struct err *err)
{
    char digest[SECRET_TEXT_MAX];

    secret_digest(code, digest);
    return db_run(console->db,
                  DB_CALL("INSERT INTO meta(key, value) VALUES($1, $2) ON CONFLICT(key) DO UPDATE SET value = "
                          "excluded.value",
                          db_text(SETUP_KEY), db_text(digest)),
                  NULL, err);
}

int setup_check(struct console *console, const char *code, struct err *err)
{
    _cleanup_(freep) char *wanted = NULL;
    char digest[SECRET_TEXT_MAX];
    int r =
        db_query_text(console->db, DB_CALL("SELECT value FROM meta WHERE key = $1", db_text(SETUP_KEY)), &wanted, err);

    if (r < 0 && r != -ENOENT)
        return r;
    secret_digest(code ? code : "", digest);
    if (r == -ENOENT || !secret_equals(digest, wanted))
        return err_set(err, -ENOKEY, "the link was used already or is wrong: the console's log has the current one");
    return 0;
}

/* In a transaction: nobody else uses the link after this. */
static int setup_take(struct console *console, struct err *err)
{
    int64_t changed = 0;
    int r = db_run(console->db, DB_CALL("DELETE FROM meta WHERE key = $1", db_text(SETUP_KEY)), &changed, err);

    return r == 0 && changed == 0 ? err_set(err, -ENOKEY, "the link was used already") : r;
}

/* --- passwords --- */

struct secret_row {
    char hash[PASSWORD_HASH_MAX];
    int64_t failures, locked_until;
};

static int take_secret(void *arg, const struct db_value *columns, size_t count)
{
    struct secret_row *row = arg;

    (void)count;
    (void)snprintf(row->hash, sizeof row->hash, "%s", columns[0].text);
    row->failures = columns[1].number;
    row->locked_until = columns[2].number;
    return 0;
}

static int read_secret(struct console *console, const char *subject, struct secret_row *ret_row, struct err *err)
{
    return db_query(console->db,
                    DB_CALL("SELECT hash, failures, locked_until FROM secrets WHERE subject = $1", db_text(subject)),
                    take_secret, ret_row, err);
}

int set_secret(struct console *console, const char *subject, const char *hash, bool must_change, struct err *err)
{
    return db_run(
        console->db,
        DB_CALL("INSERT INTO secrets(subject, hash, failures, locked_until, must_change) VALUES($1, $2, 0, 0, $3) "
                "ON CONFLICT(subject) DO UPDATE SET hash = excluded.hash, failures = 0, locked_until = 0, "
                "must_change = excluded.must_change",
                db_text(subject), db_text(hash), db_number(must_change)),
        NULL, err);
}

int delete_secret(struct console *console, const char *subject, struct err *err)
{
    return db_run(console->db, DB_CALL("DELETE FROM secrets WHERE subject = $1", db_text(subject)), NULL, err);
}

static int count_failure(struct console *console, const char *subject, struct err *err)
{
    return db_run(
        console->db,
        DB_CALL("UPDATE secrets SET locked_until = CASE WHEN failures + 1 >= $2 THEN $3 ELSE locked_until END, "
                "failures = CASE WHEN failures + 1 >= $2 THEN 0 ELSE failures + 1 END WHERE subject = $1",
                db_text(subject), db_number(FAILURES_MAX), db_number(nsec_now_wall() + LOCK_TIME)),
        NULL, err);
}

static int note_login(struct console *console, const char *kind, const char *id, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *item = NULL;
    int r = item_get(console->db, kind, id, &item, err);

    if (r < 0)
        return r;
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(item, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    (void)yyjson_mut_obj_remove_key(root, "lastLogin");
    put_now(doc, root, "lastLogin");
    r = item_update(console->db, kind, id, root, err);
    yyjson_mut_doc_free(doc);
    return r;
}

/* Passwords that the console has made itself are secrets of 256 bits, of which a digest is kept. */
static bool is_password_right(const char *hash, const char *password)
{
    char digest[SECRET_TEXT_MAX];

    if (*hash == '$')
        return password_matches(hash, password);
    secret_digest(password, digest);
    return secret_equals(digest, hash);
}

static void look_at_password(void *arg)
{
    struct signin *signin = arg;

    if (*signin->hash)
        signin->is_right = is_password_right(signin->hash, signin->password);
    if (*signin->new_password && (!*signin->hash || signin->is_right))
        signin->hash_error = password_hash(signin->new_password, signin->new_hash);
}

/* In a transaction; fills the answer in. */
static int finish_change(struct request *request, struct signin *signin, struct err *err)
{
    int r = signin->hash_error < 0 ? err_set(err, -ESHUTDOWN, "there is not enough memory to hash a password") : 0;

    if (r == 0)
        r = set_secret(request->console, signin->user, signin->new_hash, false, err);
    if (r == 0)
        r = grants_revoke(request->console, signin->user, err);
    request->action = "reset-password";
    return r;
}

static int make_administrator(struct request *request, struct signin *signin, struct err *err)
{
    struct console *console = request->console;
    int r;

    /* Two may have used the link at the same time. */
    r = setup_take(console, err);
    if (r == 0)
        r = user_create(request, signin->name, "system", signin->user, err);
    if (r == 0)
        r = rule_create(request, signin->user, "user", 1, SCOPE_TENANT, TENANT_ID_TEXT, "system", err);
    if (r == 0)
        r = finish_change(request, signin, err);
    request->action = "create";
    request->status = 201;
    return r;
}

static int finish(struct request *request, struct signin *signin, struct err *err)
{
    int r = 0;

    request->action = "sign-in";
    if (signin->purpose == FOR_SETUP)
        return make_administrator(request, signin, err);
    if (signin->purpose == FOR_CHANGE)
        return finish_change(request, signin, err);
    r = db_run(request->console->db,
               DB_CALL("UPDATE secrets SET failures = 0, locked_until = 0 WHERE subject = $1", db_text(signin->user)),
               NULL, err);
    if (r == 0)
        r = note_login(request->console, ITEM_USER, signin->user, err);
    if (r < 0)
        return r;
    return signin->purpose == FOR_SESSION ? session_begin(request, signin->user, "", err)
                                          : answer_tokens(request, signin->purpose, signin->user, "", err);
}

/* A failure is counted and recorded, and committed with that. */
static int refuse(struct request *request, struct signin *signin, struct err *err)
{
    int r = 0;

    request->action = "sign-in";
    request->status = 401;
    if (*signin->user)
        r = count_failure(request->console, signin->user, err);
    return r;
}

static void answer_signin(struct signin *signin)
{
    struct request request = {
        .console = signin->console,
        .exchange = signin->exchange,
        .caller = rest_attached(signin->exchange),
        .doc = yyjson_mut_doc_new(NULL),
        .status = 200,
        .type = "user",
    };
    bool is_fine = signin->is_right || signin->purpose == FOR_SETUP;
    struct err err = {0};
    int r = db_begin(signin->console->db, &err);

    (void)snprintf(request.name, sizeof request.name, "%s", signin->name);
    (void)snprintf(request.id, sizeof request.id, "%s", signin->user);
    if (r == 0)
        r = is_fine ? finish(&request, signin, &err) : refuse(&request, signin, &err);
    if (r == 0)
        r = request_audit(&request, &err);
    if (r == 0)
        r = request_commit(&request, &err);
    else
        db_rollback(signin->console->db);
    if (r == 0 && !is_fine)
        r = signin->purpose == FOR_CHANGE ? err_set(&err, -EACCES, "the current password is wrong")
                                          : err_set(&err, -ENOKEY, "the name or the password is wrong");
    request_reply(&request, r, &err);
}

static void looked_at_password(void *arg)
{
    struct signin *signin = arg;
    struct console *console = signin->console;

    answer_signin(signin);
    sodium_memzero(signin, sizeof *signin);
    free(signin);
    console->works--;
    console_work_done(console);
}

/* Takes ownership. */
static void start(struct signin *signin)
{
    signin->console->works++;
    loop_work(signin->console->service->loop, look_at_password, looked_at_password, signin);
}

static struct signin *signin_new(struct console *console, struct http_exchange *exchange, enum purpose purpose)
{
    struct signin *signin = xcalloc(1, sizeof *signin);

    *signin = (struct signin){.console = console, .exchange = exchange, .purpose = purpose};
    return signin;
}

/* Copies a text that has to fit; -EINVAL otherwise. */
static int take_text(char *to, size_t size, const char *text, const char *what, struct err *err)
{
    if (strlen(text) >= size)
        return err_set(err, -EINVAL, "%s: longer than %zu bytes", what, size - 1);
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

static int check_new_password(const char *password, struct err *err)
{
    size_t len = strlen(password);

    if (len < PASSWORD_MIN || len > PASSWORD_MAX)
        return err_set(err, -EINVAL, "a password has %d to %d bytes", PASSWORD_MIN, PASSWORD_MAX);
    return 0;
}

static int start_password(struct console *console, struct http_exchange *exchange, enum purpose purpose,
                          const char *name, const char *password, struct err *err)
{
    struct signin *signin = signin_new(console, exchange, purpose);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct secret_row row = {.hash = NOBODY};
    int r;

    if ((r = take_text(signin->name, sizeof signin->name, name, "the name", err)) < 0 ||
        (r = take_text(signin->password, sizeof signin->password, password, "the password", err)) < 0) {
        free(signin);
        return r;
    }
    r = item_find(console->db, ITEM_USER, "", name, &doc, err);
    if (r == 0) {
        (void)snprintf(signin->user, sizeof signin->user, "%s", item_text(yyjson_doc_get_root(doc), "id"));
        r = read_secret(console, signin->user, &row, err);
    }
    if (r == 0 && row.locked_until > nsec_now_wall())
        r = err_set(err, -EUSERS, "too many wrong passwords: try again in %d minutes", (int)(LOCK_TIME / NSEC_PER_MIN));
    if (r < 0 && r != -ENOENT) {
        free(signin);
        return r;
    }
    (void)snprintf(signin->hash, sizeof signin->hash, "%s", row.hash);
    start(signin);
    return 0;
}

/* --- client secrets and refresh tokens --- */

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

static int grant_for_secret(struct request *request, enum purpose purpose, const char *id, const char *secret,
                            struct err *err)
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
    return r < 0 ? r : answer_tokens(request, purpose, subject, credential, err);
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
static int grant_for_refresh(struct request *request, enum purpose purpose, const char *text, struct err *err)
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
    return r < 0 ? r : answer_tokens(request, purpose, refresh.subject, refresh.credential, err);
}

/* --- the requests --- */

struct token_words {
    const char *grant, *id, *secret, *username, *password, *refresh;
};

struct token_call {
    const struct token_words *words;
    enum purpose purpose;
};

static int grant(struct request *request, const struct token_words *words, enum purpose purpose, struct err *err)
{
    bool is_secret = strcmp(words->grant, "app_token") == 0 || strcmp(words->grant, "client_credentials") == 0;

    if (is_secret && words->id && words->secret)
        return grant_for_secret(request, purpose, words->id, words->secret, err);
    if (strcmp(words->grant, "refresh_token") == 0 && words->refresh)
        return grant_for_refresh(request, purpose, words->refresh, err);
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
        r = start_password(console, exchange, purpose, words->username, words->password, &err);
        if (r < 0)
            rest_fail_err(exchange, &err);
        return;
    }
    r = db_begin(console->db, &err);
    if (r == 0)
        r = grant(&request, words, purpose, &err);
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

void handle_login(void *arg, struct http_exchange *exchange)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *name = NULL;
    const char *password = NULL;
    struct err err = {0};
    size_t len = 0;
    const char *text = http_exchange_body(exchange, &len);
    int r = json_parse(text, len, "the body", &doc, &err);
    struct json_at root = json_root(doc);

    if (r < 0 || json_member_str(&root, "username", JSON_REQUIRED, &name, &err) < 0 ||
        json_member_str(&root, "password", JSON_REQUIRED, &password, &err) < 0 ||
        start_password(arg, exchange, FOR_SESSION, name, password, &err) < 0)
        rest_fail_err(exchange, &err);
}

void handle_change_password(void *arg, struct http_exchange *exchange)
{
    const struct caller *caller = rest_attached(exchange);
    struct signin *signin = signin_new(arg, exchange, FOR_CHANGE);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *current = NULL;
    const char *fresh = NULL;
    struct secret_row row = {.hash = NOBODY};
    struct err err = {0};
    size_t len = 0;
    const char *text = http_exchange_body(exchange, &len);
    int r = json_parse(text, len, "the body", &doc, &err);
    struct json_at root = json_root(doc);

    if (r < 0 || json_member_str(&root, "currentPassword", JSON_REQUIRED, &current, &err) < 0 ||
        json_member_str(&root, "newPassword", JSON_REQUIRED, &fresh, &err) < 0 || check_new_password(fresh, &err) < 0 ||
        take_text(signin->password, sizeof signin->password, current, "currentPassword", &err) < 0 ||
        take_text(signin->new_password, sizeof signin->new_password, fresh, "newPassword", &err) < 0 ||
        read_secret(arg, caller->id, &row, &err) < 0) {
        rest_fail_err(exchange, &err);
        free(signin);
        return;
    }
    (void)snprintf(signin->user, sizeof signin->user, "%s", caller->id);
    (void)snprintf(signin->name, sizeof signin->name, "%.254s", caller->name);
    (void)snprintf(signin->hash, sizeof signin->hash, "%s", row.hash);
    start(signin);
}

static int logout(struct request *request, struct err *err)
{
    request->action = "sign-out";
    request->type = "user";
    request->status = 204;
    (void)snprintf(request->id, sizeof request->id, "%s", request->caller->id);
    return db_run(request->console->db, DB_CALL("DELETE FROM grants WHERE id = $1", db_text(request->caller->grant)),
                  NULL, err);
}
CHANGES(handle_logout, logout)

/* --- the first administrator --- */

static int read_setup(struct console *console, const struct url_query *query, struct signin *signin, struct err *err)
{
    const char *code = url_query_get(query, "code");
    const char *email = url_query_get(query, "email");
    const char *password = url_query_get(query, "password");
    int r;

    if ((r = setup_check(console, code, err)) < 0)
        return r;
    if (!email || !password)
        return err_set(err, -EINVAL, "the form has the fields code, email and password");
    if ((r = check_email(email, err)) < 0 || (r = check_new_password(password, err)) < 0 ||
        (r = take_text(signin->name, sizeof signin->name, email, "email", err)) < 0)
        return r;
    uuid_make(signin->user);
    return take_text(signin->new_password, sizeof signin->new_password, password, "password", err);
}

void handle_setup(void *arg, struct http_exchange *exchange)
{
    struct signin *signin = signin_new(arg, exchange, FOR_SETUP);
    struct url_query query = {0};
    struct err err = {0};
    int r = url_query_parse(http_exchange_body(exchange, NULL), &query);

    r = r < 0 ? err_set(&err, -EINVAL, "the body is not a form") : read_setup(arg, &query, signin, &err);
    url_query_done(&query);
    if (r < 0) {
        rest_fail_err(exchange, &err);
        free(signin);
        return;
    }
    start(signin);
}
