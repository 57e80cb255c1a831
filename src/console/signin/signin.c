/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Signing in by a password, sessions for browsers, and the setup of the first administrator. Passwords are hashed in another
 * thread, because that takes a fraction of a second on purpose.
 *
 * A wrong name and a wrong password get the same answer after the same work.
 */
#include "console/signin/signin.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/signin/grants.h"
#include "console/signin/secret_rows.h"
#include "console/signin/setup_link.h"
#include "frame/service.h"
#include "net/loop.h"
#include "net/rest/url.h"

enum { NAME_MAX_BYTES = 254 };

/* A password nobody has: users that do not exist cost as much as those that do. */
#define NOBODY "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b5dWRWJTmaaJObGAAAAAAAAAAA"

/* What somebody signs in with. */
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

static void signin_free(struct signin *signin)
{
    sodium_memzero(signin, sizeof *signin);
    free(signin);
}

int note_login(struct console *console, const char *kind, const char *id, struct err *err)
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
    r = forget_failures(request->console, signin->user, err);
    if (r == 0)
        r = note_login(request->console, ITEM_USER, signin->user, err);
    if (r < 0)
        return r;
    return signin->purpose == FOR_SESSION
               ? session_begin(request, signin->user, "", err)
               : tokens_begin(request, signin->purpose == FOR_OAUTH_TOKEN, signin->user, "", err);
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
    signin_free(signin);
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

int signin_begin(struct console *console, struct http_exchange *exchange, enum purpose purpose, const char *name,
                 const char *password, struct err *err)
{
    struct signin *signin = signin_new(console, exchange, purpose);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct secret_row row = {.hash = NOBODY};
    int r;

    if ((r = take_text(signin->name, sizeof signin->name, name, "the name", err)) < 0 ||
        (r = take_text(signin->password, sizeof signin->password, password, "the password", err)) < 0) {
        signin_free(signin);
        return r;
    }
    r = item_find(console->db, ITEM_USER, "", name, &doc, err);
    if (r == 0) {
        const char *id = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "id"));
        (void)snprintf(signin->user, sizeof signin->user, "%s", id ? id : "");
        r = read_secret(console, signin->user, &row, err);
    }
    if (r == 0 && row.locked_until > nsec_now_wall())
        r = err_set(err, -EUSERS, "too many wrong passwords: try again in %d minutes", (int)(LOCK_TIME / NSEC_PER_MIN));
    if (r < 0 && r != -ENOENT) {
        signin_free(signin);
        return r;
    }
    (void)snprintf(signin->hash, sizeof signin->hash, "%s", row.hash);
    start(signin);
    return 0;
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
        signin_begin(arg, exchange, FOR_SESSION, name, password, &err) < 0)
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
        signin_free(signin);
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
        signin_free(signin);
        return;
    }
    start(signin);
}
