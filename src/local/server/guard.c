/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who may send requests. A web page that a user looks at can reach every port of this machine, so names that are not ours
 * are refused (a name of the page's owner could resolve to 127.0.0.1), and so is whatever a browser sends for another page.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "base/macros.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "text/json.h"

enum { HOST_MAX = 256, ROOT_UID = 0 };

static const char *const names[] = {
    "localhost", "127.0.0.1", "[::1]", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
};

/* Whether "host" or "host:port" is one of our names. */
static bool is_own_name(const struct server *server, const char *text)
{
    const char *bracket = strchr(text, ']');
    size_t len = bracket ? (size_t)(bracket - text) + 1 : strcspn(text, ":");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strlen(names[i]) == len && strncasecmp(names[i], text, len) == 0)
            return true;
    }
    return server->address && strlen(server->address) == len && strncasecmp(server->address, text, len) == 0;
}

static int check_names(const struct server *server, struct http_exchange *exchange, struct err *err)
{
    const char *host = http_exchange_header(exchange, "Host");
    const char *origin = http_exchange_header(exchange, "Origin");
    const char *origin_host = origin ? strstr(origin, "://") : NULL;

    if (host && !is_own_name(server, host))
        return err_set(err, -EADDRNOTAVAIL, "this server is not %.100s", host);
    if (origin && (!origin_host || !is_own_name(server, origin_host + strlen("://"))))
        return err_set(err, -EACCES, "requests of web pages are refused");
    return 0;
}

static int identify(const struct server *server, struct http_exchange *exchange, uid_t *ret_uid)
{
    static const char scheme[] = "Bearer ";
    const struct http_peer *peer = http_exchange_peer(exchange);
    const char *header = http_exchange_header(exchange, "Authorization");

    if (peer && peer->has_credentials) {
        *ret_uid = peer->uid;
        return 0;
    }
    if (!header || strncasecmp(header, scheme, strlen(scheme)) != 0)
        return -ENOKEY;
    return tokens_find(&server->tokens, header + strlen(scheme), nsec_now_wall(), ret_uid);
}

/* The daemon serves the user whose process it is. */
static bool is_owner(uid_t uid)
{
    return uid == geteuid() || uid == ROOT_UID;
}

int guard_allows(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err)
{
    const struct server *server = arg;
    const struct http_peer *peer = http_exchange_peer(exchange);
    uid_t uid = 0;
    int r = check_names(server, exchange, err);

    if (r < 0)
        return r;
    if (route->role && strcmp(route->role, ROLE_ANYONE) == 0)
        return 0;
    r = identify(server, exchange, &uid);
    if (r < 0)
        return err_set(err, r, "Unauthorized");
    if (!is_owner(uid))
        return err_set(err, -EACCES, "this server belongs to another user");
    if (route->role && strcmp(route->role, ROLE_LOCAL) == 0 && !(peer && peer->has_credentials))
        return err_set(err, -EACCES, "tokens are given out over the Unix socket alone");
    return 0;
}

/* A token for the user at the other end of the socket, in the form that kubectl's plugins print. */
void serve_token(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    const struct http_peer *peer = http_exchange_peer(exchange);
    nsec_t now = nsec_now_wall();
    nsec_t expires = now + TOKEN_LIFETIME;
    char token[TOKEN_TEXT_MAX];
    char until[TIME_TEXT_MAX];
    char text[512];

    if (!peer || tokens_make(&server->tokens, peer->uid, now, token) < 0) {
        rest_fail(exchange, -EUSERS, "too many tokens are in use; try again later");
        return;
    }
    int len = snprintf(text, sizeof text,
                       "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{"
                       "\"token\":\"%s\",\"expirationTimestamp\":\"%s\"}}",
                       token, time_format(expires - expires % NSEC_PER_SEC, until));

    http_reply(exchange, 200, "application/json", text, (size_t)len);
}
