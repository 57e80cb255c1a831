/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who may send requests. A web page that a user looks at can reach every port of this machine, so names that are not ours
 * are refused (a name of the page's owner could resolve to 127.0.0.1), and so is whatever a browser sends for another page.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/macros.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "text/json.h"

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
        return err_set(err, -EADDRNOTAVAIL, "the Host header '%.100s' is not an address of this server", host);
    if (origin && (!origin_host || !is_own_name(server, origin_host + strlen("://"))))
        return err_set(err, -EACCES, "requests from web pages of other origins are refused");
    return 0;
}

/* Headers by which a client would act as somebody else. To ignore them would do as oneself what was meant for others. */
static bool wants_to_be_another(struct http_exchange *exchange)
{
    static const char *const headers[] = {"Impersonate-User", "Impersonate-Group", "Impersonate-Uid"};

    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        if (http_exchange_header(exchange, headers[i]))
            return true;
    }
    return false;
}

static int check_identity(struct server *server, struct http_exchange *exchange, const char *role, struct err *err)
{
    _cleanup_(identity_unrefp) struct identity *identity = NULL;
    int r = rights_identify(server->rights, exchange, &identity);

    if (r < 0)
        return err_set(err, r, "Unauthorized");
    /* A daemon of a plain user serves that user. */
    if (!identity->is_admin && !identity->account && !identity->node && !rights_serve_all(server->rights))
        return err_set(err, -EACCES, "this server belongs to another user");
    if (strcmp(role, ROLE_LOCAL) == 0 && !identity->is_admin)
        return err_set(err, -EACCES, "only administrators of this machine may do this");
    if (strcmp(role, ROLE_NODE) == 0 && !identity->node)
        return err_set(err, -EACCES, "only machines that have joined may do this");
    if (wants_to_be_another(exchange))
        return err_set(err, -EACCES, "impersonation is not supported: leave out --as, and use a token of the account");
    return 0;
}

int guard_allows(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err)
{
    struct server *server = arg;
    const struct http_peer *peer = http_exchange_peer(exchange);
    const char *role = route->role ? route->role : "";
    int r = check_names(server, exchange, err);

    if (r < 0)
        return r;
    if (strcmp(role, ROLE_ANYONE) == 0)
        return 0;
    r = check_identity(server, exchange, role, err);
    if (r < 0)
        return r;
    bool is_local = strcmp(role, ROLE_LOCAL) == 0 || strcmp(role, ROLE_USER) == 0;

    if (is_local && !(peer && peer->has_credentials))
        return err_set(err, -EACCES, "this request is answered over the Unix socket only");
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
