/* SPDX-License-Identifier: Apache-2.0 */
#include "console/signin/grants.h"

#include <stdio.h>

#include "console/data/db.h"

enum { COOKIE_TEXT_MAX = 256 };

#define TOKEN_LIFETIME (1 * NSEC_PER_HOUR)
#define REFRESH_LIFETIME (24 * NSEC_PER_HOUR)
#define SESSION_LIFETIME (12 * NSEC_PER_HOUR)

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

int tokens_begin(struct request *request, bool is_oauth, const char *subject, const char *credential, struct err *err)
{
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

int grants_revoke(struct console *console, const char *subject, struct err *err)
{
    return db_run(
        console->db,
        DB_CALL("DELETE FROM grants WHERE subject = $1 OR expires <= $2", db_text(subject), db_number(nsec_now_wall())),
        NULL, err);
}

int grants_revoke_credential(struct console *console, const char *credential, struct err *err)
{
    return db_run(console->db, DB_CALL("DELETE FROM grants WHERE credential = $1", db_text(credential)), NULL, err);
}
