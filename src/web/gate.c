/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who may look. Every program on this machine can reach the page's port, and so can every web page that its user looks at:
 * a name of that page's owner may resolve to 127.0.0.1. So only our own names are answered, requests of other pages are
 * refused, and everything but the login needs a session. On the socket the kernel says who asks.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "base/macros.h"
#include "web/web_internal.h"

enum { ROOT_UID = 0, COOKIE_TEXT_MAX = 512, BODY_TEXT_MAX = 256 };

#define COOKIE_NAME "muster-session"

static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

/* Sent with every answer. Nothing is loaded from elsewhere, framed, kept, or named to other sites. */
static const char *const headers[][2] = {
    {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                                "font-src 'self'; connect-src 'self'; "
                                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

/* Whether "host" or "host:port" is this machine. The port may be another one: that of a tunnel. */
static bool is_own_name(const char *host)
{
    const char *bracket = strchr(host, ']');
    size_t len = bracket ? (size_t)(bracket - host) + 1 : strcspn(host, ":");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strlen(names[i]) == len && strncasecmp(names[i], host, len) == 0)
            return true;
    }
    return false;
}

/* A page of the same host on another port is another page. */
static bool is_own_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";

    return strncasecmp(origin, scheme, strlen(scheme)) == 0 && strcasecmp(origin + strlen(scheme), host) == 0;
}

static int check_names(struct http_exchange *exchange, struct err *err)
{
    const char *host = http_exchange_header(exchange, "Host");
    const char *origin = http_exchange_header(exchange, "Origin");
    const char *site = http_exchange_header(exchange, "Sec-Fetch-Site");

    if (!host || !is_own_name(host))
        return err_set(err, -EADDRNOTAVAIL, "this server is not %.100s", host ? host : "a server without a name");
    if (origin && !is_own_origin(origin, host))
        return err_set(err, -EACCES, "requests from other pages are refused");
    if (site && (strcmp(site, "cross-site") == 0 || strcmp(site, "same-site") == 0))
        return err_set(err, -EACCES, "requests from other pages are refused");
    return 0;
}

/* The value of our cookie: there may be others of this host, from other ports. */
static bool find_cookie(const struct http_exchange *exchange, char value[static LOGIN_TEXT_MAX])
{
    const char *at = http_exchange_header(exchange, "Cookie");
    size_t name_len = strlen(COOKIE_NAME);

    for (; at && *at; at += strspn(at, "; ")) {
        size_t len = strcspn(at, ";");

        if (len > name_len && strncmp(at, COOKIE_NAME, name_len) == 0 && at[name_len] == '=' &&
            len - name_len - 1 < LOGIN_TEXT_MAX) {
            memcpy(value, at + name_len + 1, len - name_len - 1);
            value[len - name_len - 1] = '\0';
            return true;
        }
        at += len;
    }
    return false;
}

static int check_session(struct web *web, const struct http_exchange *exchange, struct err *err)
{
    char key[LOGIN_TEXT_MAX];

    if (!find_cookie(exchange, key) ||
        logins_check(&web->logins, rest_param(exchange, "session"), key, nsec_now_wall()) < 0)
        return err_set(err, -ENOKEY, "this needs a session: run 'muster ui' for a link");
    return 0;
}

static int check_peer(const struct http_peer *peer, struct err *err)
{
    if (peer && peer->has_credentials && (peer->uid == geteuid() || peer->uid == ROOT_UID))
        return 0;
    return err_set(err, -EACCES, "this server belongs to another user");
}

int gate_allows(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err)
{
    int r;

    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        http_reply_header(exchange, headers[i][0], headers[i][1]);
    if (strcmp(route->role, ROLE_LOCAL) == 0)
        return check_peer(http_exchange_peer(exchange), err);
    r = check_names(exchange, err);
    if (r < 0 || strcmp(route->role, ROLE_ANYONE) == 0)
        return r;
    return check_session(arg, exchange, err);
}

/* A link that opens the page once, for the user at the other end of the socket. */
void serve_link(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;
    const struct http_peer *peer = http_exchange_peer(exchange);
    char code[LOGIN_TEXT_MAX];
    char text[BODY_TEXT_MAX];

    if (!web->page) {
        rest_fail(exchange, -ESHUTDOWN, "the page is switched off by --ui-listen=0");
        return;
    }
    if (!peer || logins_make_code(&web->logins, peer->uid, nsec_now_wall(), code) < 0) {
        rest_fail(exchange, -EUSERS, "too many links have not been opened yet; try again in %d minutes",
                  (int)(LOGIN_CODE_LIFETIME / NSEC_PER_MIN));
        return;
    }
    /* The code is behind a #, which browsers send to nobody. */
    int len = snprintf(text, sizeof text, "{\"url\":\"http://127.0.0.1:%u/#%s\",\"minutes\":%d}",
                       http_server_port(web->page), code, (int)(LOGIN_CODE_LIFETIME / NSEC_PER_MIN));

    http_reply(exchange, 200, "application/json", text, (size_t)len);
}

/* Exchanges a code, the whole body, for a session. */
void serve_login(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;
    const struct session *session = NULL;
    char cookie[COOKIE_TEXT_MAX];
    char text[BODY_TEXT_MAX];

    if (logins_begin(&web->logins, http_exchange_body(exchange, NULL), nsec_now_wall(), &session) < 0) {
        rest_fail(exchange, -ENOKEY, "the link was used or has expired: run 'muster ui' for a new one");
        return;
    }
    (void)snprintf(cookie, sizeof cookie, COOKIE_NAME "=%s; Path=/p/%s/; HttpOnly; SameSite=Strict", session->key,
                   session->path);
    http_reply_header(exchange, "Set-Cookie", cookie);
    int len = snprintf(text, sizeof text, "{\"path\":\"/p/%s/\"}", session->path);

    http_reply(exchange, 200, "application/json", text, (size_t)len);
}

void serve_logout(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;

    logins_end(&web->logins, rest_param(exchange, "session"));
    http_reply(exchange, 200, "application/json", "{}", 2);
}
