/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sign-in by an identity provider: OpenID Connect's code flow with PKCE. The login begins with a secret in a cookie of the
 * browser, from which state, nonce and verifier follow, and with a grant that its return uses up: a login ends once, within ten
 * minutes, in the browser that began it. The token comes from the provider itself and is checked against its keys.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/identity/jwks.h"
#include "console/rest/handlers.h"
#include "console/rest/idps.h"
#include "console/rest/sso_user.h"
#include "console/signin/grants.h"
#include "net/http.h"

enum { ANSWER_MAX = 512 << 10, CODE_MAX = 4096, COOKIE_TEXT_MAX = 256 };

#define LOGIN_LIFETIME (10 * NSEC_PER_MIN)
#define CALL_TIMEOUT (10 * NSEC_PER_SEC)
#define DISCOVERY_LIFETIME (1 * NSEC_PER_HOUR)
#define KEYS_LIFETIME (10 * NSEC_PER_MIN)
#define LOGIN_COOKIE "muster-login"

/* What a provider has published, kept for a while. */
struct known {
    char alias[OIDC_NAME_MAX + 1];
    char url[OIDC_URL_MAX];  // of the discovery document
    struct oidc_provider provider;
    nsec_t provider_since;
    struct jwks *jwks;
    nsec_t jwks_since;
};

/* One request of a browser, on its way. */
struct sso {
    struct console *console;
    struct http_exchange *exchange;
    struct idp idp;
    struct known *known;
    struct oidc_login login;
    char *code;                    // NULL: the login begins
    char secret[SECRET_TEXT_MAX];  // of a login that begins
    char *token;
    bool has_new_keys;
};

static void next_step(struct sso *sso);

/* --- what is known of providers --- */

static struct known *find_known(struct console *console, const struct idp *idp)
{
    struct known *known = strmap_get(&console->providers, "", idp->alias);

    if (!known) {
        known = xcalloc(1, sizeof *known);
        (void)snprintf(known->alias, sizeof known->alias, "%s", idp->alias);
        (void)strmap_put(&console->providers, "", known->alias, known);
    }
    if (strcmp(known->url, idp->discovery) != 0) {
        jwks_free(known->jwks);
        known->jwks = NULL;
        known->provider_since = known->jwks_since = 0;
        (void)snprintf(known->url, sizeof known->url, "%s", idp->discovery);
    }
    return known;
}

void sso_free_all(struct console *console)
{
    struct known *known;

    for (size_t cursor = 0; (known = strmap_next(&console->providers, &cursor));) {
        jwks_free(known->jwks);
        free(known);
    }
    strmap_done(&console->providers);
}

/* --- the end --- */

static void sso_free(struct sso *sso)
{
    struct console *console = sso->console;

    idp_done(&sso->idp);
    free(sso->code);
    free(sso->token);
    sodium_memzero(sso, sizeof *sso);
    free(sso);
    console->works--;
    console_work_done(console);
}

static void set_cookie(const struct console *console, struct http_exchange *exchange, const char *value,
                       nsec_t lifetime)
{
    char text[COOKIE_TEXT_MAX];

    /* Lax: the return is a navigation from the provider's page, with which a browser sends no Strict cookie. */
    (void)snprintf(text, sizeof text,
                   LOGIN_COOKIE "=%s; Path=/api/muster/v1/sso; Max-Age=%lld; HttpOnly; SameSite=Lax%s", value,
                   (long long)(lifetime / NSEC_PER_SEC), console_is_secure(console) ? "; Secure" : "");
    http_reply_header(exchange, "Set-Cookie", text);
}

static void redirect(struct http_exchange *exchange, const char *url)
{
    http_reply_header(exchange, "Location", url);
    http_reply(exchange, 303, NULL, NULL, 0);
}

/* A refused sign-in is an entry of the audit log. */
static void fail(struct sso *sso, const struct err *why)
{
    struct request request = {
        .console = sso->console, .exchange = sso->exchange, .status = 401, .action = "sign-in", .type = "user"};
    struct err err = {0};

    (void)snprintf(request.name, sizeof request.name, "%s", sso->idp.alias ? sso->idp.alias : "");
    if (sso->code && db_begin(sso->console->db, &err) == 0) {
        if (request_audit(&request, &err) < 0 || request_commit(&request, &err) < 0)
            db_rollback(sso->console->db);
    }
    rest_fail_err(sso->exchange, why);
    sso_free(sso);
}

/* What goes wrong at the provider is no fault of this server's or of the request's. */
static void fail_outside(struct sso *sso, const char *what, const struct err *why)
{
    struct err err = {0};

    (void)err_set(&err, -ESHUTDOWN, "%s of the identity provider '%s': %s", what, sso->idp.alias, why->text);
    fail(sso, &err);
}

/* --- calls --- */

static void call(struct sso *sso, const char *url, const char *form, const char *header, http_done_fn on_done)
{
    struct console *console = sso->console;
    bool is_plain = strncmp(url, "http://", 7) == 0;
    const char *headers[] = {"Accept: application/json",
                             form ? "Content-Type: application/x-www-form-urlencoded" : header, form ? header : NULL,
                             NULL};
    struct err err = {0};

    if (reach_check_url(&console->reach, url, &err) < 0) {
        fail_outside(sso, "an address", &err);
        return;
    }
    (void)http_start(console->outside, &(struct http_request){
                                           .method = form ? "POST" : "GET",
                                           .url = url,
                                           .headers = headers,
                                           .body = form,
                                           .body_len = form ? strlen(form) : 0,
                                           .may_connect = is_plain ? reach_allows_plain : reach_allows_tls,
                                           .may_connect_arg = &console->reach,
                                           .timeout = CALL_TIMEOUT,
                                           .body_max = ANSWER_MAX,
                                           .on_done = on_done,
                                           .arg = sso,
                                       });
}

static bool is_good(const struct http_response *response, struct err *err)
{
    if (response->err.code)
        *err = response->err;
    else if (response->status != 200)
        (void)err_set(err, -EIO, "it answered with status %d", response->status);
    return err->code == 0;
}

static void on_discovery(void *arg, const struct http_response *response)
{
    struct sso *sso = arg;
    struct known *known = sso->known;
    struct err err = {0};

    if (!is_good(response, &err) ||
        oidc_parse_provider(response->body, response->body_len, known->url, &known->provider, &err) < 0) {
        known->provider_since = 0;
        fail_outside(sso, "the discovery document", &err);
        return;
    }
    known->provider_since = nsec_now_monotonic();
    next_step(sso);
}

static void on_keys(void *arg, const struct http_response *response)
{
    struct sso *sso = arg;
    struct jwks *jwks = NULL;
    struct err err = {0};

    if (!is_good(response, &err) || jwks_parse(response->body, response->body_len, &jwks, &err) < 0) {
        fail_outside(sso, "the keys", &err);
        return;
    }
    jwks_free(sso->known->jwks);
    sso->known->jwks = jwks;
    sso->known->jwks_since = nsec_now_monotonic();
    sso->has_new_keys = true;
    next_step(sso);
}

static void on_token(void *arg, const struct http_response *response)
{
    struct sso *sso = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *token = NULL;
    struct err err = {0};

    if (!response->err.code && response->status / 100 == 4) {
        (void)err_set(&err, -ENOKEY, "the identity provider '%s' refused the code", sso->idp.alias);
        fail(sso, &err);
        return;
    }
    if (is_good(response, &err) && json_parse(response->body, response->body_len, "token", &doc, &err) == 0) {
        struct json_at root = json_root(doc);

        if (json_member_str(&root, "id_token", JSON_REQUIRED, &token, &err) < 0)
            token = NULL;
    }
    if (!token) {
        fail_outside(sso, "the token", &err);
        return;
    }
    sso->token = xstrdup(token);
    next_step(sso);
}

static void add_basic(struct strbuf *header, const struct idp *idp)
{
    struct strbuf pair;
    size_t size;

    strbuf_init(&pair, (size_t)8 * OIDC_NAME_MAX);
    oidc_add_form(&pair, "", idp->client);
    strbuf_addch(&pair, ':');
    oidc_add_form(&pair, "", idp->client_secret);
    size = sodium_base64_ENCODED_LEN(pair.len, sodium_base64_VARIANT_ORIGINAL);
    _cleanup_(freep) char *text = xmalloc(size);
    (void)sodium_bin2base64(text, size, (const unsigned char *)pair.text, pair.len, sodium_base64_VARIANT_ORIGINAL);
    strbuf_addf(header, "Authorization: Basic %s", text);
    strbuf_done(&pair);
}

static void ask_token(struct sso *sso)
{
    struct strbuf form, header;
    char uri[OIDC_URL_MAX];

    idp_redirect_uri(sso->console, sso->idp.alias, uri);
    strbuf_init(&form, (size_t)32 * 1024);
    strbuf_init(&header, (size_t)8 * 1024);
    oidc_add_form(&form, "grant_type", "authorization_code");
    oidc_add_form(&form, "code", sso->code);
    oidc_add_form(&form, "redirect_uri", uri);
    oidc_add_form(&form, "code_verifier", sso->login.verifier);
    if (sso->known->provider.posts_secret) {
        oidc_add_form(&form, "client_id", sso->idp.client);
        oidc_add_form(&form, "client_secret", sso->idp.client_secret);
    } else {
        add_basic(&header, &sso->idp);
    }
    call(sso, sso->known->provider.token, form.text, header.len ? header.text : NULL, on_token);
    strbuf_done(&form);
    strbuf_done(&header);
}

/* --- steps --- */

/* The browser goes to the provider. */
static void begin(struct sso *sso)
{
    char uri[OIDC_URL_MAX], digest[SECRET_TEXT_MAX];
    struct err err = {0};

    idp_redirect_uri(sso->console, sso->idp.alias, uri);
    secret_digest(sso->login.state, digest);
    if (grant_add(sso->console, &(struct grant_row){"login", digest, sso->idp.alias, LOGIN_LIFETIME, "", ""}, &err) <
        0) {
        fail(sso, &err);
        return;
    }
    _cleanup_(freep) char *url =
        oidc_authorize_url(&sso->known->provider, sso->idp.client, sso->idp.scopes, uri, &sso->login);
    set_cookie(sso->console, sso->exchange, sso->secret, LOGIN_LIFETIME);
    redirect(sso->exchange, url);
    sso_free(sso);
}

static void sign_in(struct sso *sso, yyjson_val *claims)
{
    struct console *console = sso->console;
    struct request request = {.console = console,
                              .exchange = sso->exchange,
                              .doc = yyjson_mut_doc_new(NULL),
                              .status = 303,
                              .action = "sign-in",
                              .type = "user"};
    char credential[OIDC_NAME_MAX + 8];
    struct oidc_person *person = xcalloc(1, sizeof *person);
    struct err err = {0};
    int r;

    (void)snprintf(credential, sizeof credential, "idp/%s", sso->idp.alias);
    r = oidc_check_claims(claims, sso->known->provider.issuer, sso->idp.client, sso->login.nonce, nsec_now_wall(),
                          &err);
    if (r == 0)
        r = oidc_read_person(claims, &sso->idp.mapping, person, &err);
    if (r == 0)
        r = db_begin(console->db, &err);
    if (r == 0 && ((r = sso_user_keep(&request, sso->idp.alias, person, &err)) < 0 ||
                   (r = session_begin(&request, request.id, credential, &err)) < 0 ||
                   (r = request_audit(&request, &err)) < 0 || (r = request_commit(&request, &err)) < 0))
        db_rollback(console->db);
    free(person);
    yyjson_mut_doc_free(request.doc);
    if (r < 0) {
        fail(sso, &err);
        return;
    }
    set_cookie(sso->console, sso->exchange, "", 0);
    redirect(sso->exchange, "/");
    sso_free(sso);
}

/* Keys that have changed since they were read are read again, once. */
static void check_token(struct sso *sso)
{
    _cleanup_(json_doc_freep) yyjson_doc *claims = NULL;
    struct err err = {0};
    int r = jwks_verify(sso->known->jwks, sso->token, &claims, &err);

    if (r == -ESRCH && !sso->has_new_keys) {
        call(sso, sso->known->provider.keys, NULL, NULL, on_keys);
    } else if (r < 0) {
        err.code = -ENOKEY;
        fail(sso, &err);
    } else {
        sign_in(sso, yyjson_doc_get_root(claims));
    }
}

static bool is_old(nsec_t since, nsec_t lifetime)
{
    return since == 0 || nsec_now_monotonic() - since > lifetime;
}

static void next_step(struct sso *sso)
{
    struct known *known = sso->known;

    if (is_old(known->provider_since, DISCOVERY_LIFETIME))
        call(sso, known->url, NULL, NULL, on_discovery);
    else if (!sso->code)
        begin(sso);
    else if (!sso->token)
        ask_token(sso);
    else if (!known->jwks || is_old(known->jwks_since, KEYS_LIFETIME))
        call(sso, known->provider.keys, NULL, NULL, on_keys);
    else
        check_token(sso);
}

/* NULL: the request was answered. */
static struct sso *sso_new(struct console *console, struct http_exchange *exchange)
{
    struct sso *sso = xcalloc(1, sizeof *sso);
    struct err err = {0};

    *sso = (struct sso){.console = console, .exchange = exchange};
    console->works++;
    if (idp_load(console, rest_param(exchange, "idp"), &sso->idp, &err) < 0) {
        fail(sso, &err);
        return NULL;
    }
    sso->known = find_known(console, &sso->idp);
    return sso;
}

void handle_sso_login(void *arg, struct http_exchange *exchange)
{
    struct sso *sso = sso_new(arg, exchange);

    if (!sso)
        return;
    secret_make(sso->secret);
    oidc_login_from(sso->secret, &sso->login);
    next_step(sso);
}

/* The grant of the login is used up, whatever comes of the code. */
static int use_up(struct sso *sso, struct err *err)
{
    char digest[SECRET_TEXT_MAX];
    int64_t changed = 0;
    int r;

    secret_digest(sso->login.state, digest);
    r = db_run(sso->console->db,
               DB_CALL("DELETE FROM grants WHERE id = $1 AND kind = $2 AND subject = $3 AND expires > $4",
                       db_text(digest), db_text("login"), db_text(sso->idp.alias), db_number(nsec_now_wall())),
               &changed, err);
    return r == 0 && changed == 0 ? err_set(err, -ENOKEY, "this login has expired: sign in again") : r;
}

static int read_return(struct sso *sso, struct err *err)
{
    const char *state = rest_query(sso->exchange, "state");
    const char *code = rest_query(sso->exchange, "code");
    const char *issuer = rest_query(sso->exchange, "iss");
    const char *error = rest_query(sso->exchange, "error");
    char secret[SECRET_TEXT_MAX];
    int r;

    sso->code = xstrdup(code && strlen(code) <= CODE_MAX ? code : "");
    if (!find_cookie(sso->exchange, LOGIN_COOKIE, secret))
        return err_set(err, -ENOKEY, "this login was not started in this browser, or has expired: sign in again");
    oidc_login_from(secret, &sso->login);
    if (!state || !secret_equals(state, sso->login.state))
        return err_set(err, -ENOKEY, "this login was not started in this browser, or has expired: sign in again");
    if ((r = use_up(sso, err)) < 0)
        return r;
    if (error)
        return err_set(err, -ENOKEY, "the identity provider '%s' refused the login: %.100s", sso->idp.alias, error);
    if (!*sso->code)
        return err_set(err, -ENOKEY, "the identity provider sent no code");
    if (issuer && sso->known->provider_since && strcmp(issuer, sso->known->provider.issuer) != 0)
        return err_set(err, -ENOKEY, "the code comes from another identity provider");
    return 0;
}

void handle_sso_callback(void *arg, struct http_exchange *exchange)
{
    struct sso *sso = sso_new(arg, exchange);
    struct err err = {0};

    if (!sso)
        return;
    if (read_return(sso, &err) < 0)
        fail(sso, &err);
    else
        next_step(sso);
}
