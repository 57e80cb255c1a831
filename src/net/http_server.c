/* SPDX-License-Identifier: Apache-2.0 */

/* The listening socket, its certificate and the table of routes. */
#include "net/http_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/http_server_internal.h"
#include "net/loop_internal.h"

static const struct http_server_options defaults = {
    .connections_max = 256, .body_max = 1 << 20, .idle_timeout = 60 * NSEC_PER_SEC};

static void on_listener_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_connection(uv_stream_t *listener, int status)
{
    if (status == 0)
        http_connection_accept(listener->data);
}

static int parse_address(const struct http_server_options *options, struct sockaddr_storage *ret_address)
{
    if (strchr(options->address, ':'))
        return uv_ip6_addr(options->address, options->port, (struct sockaddr_in6 *)ret_address);
    return uv_ip4_addr(options->address, options->port, (struct sockaddr_in *)ret_address);
}

/* libuv's handles for TCP serve any stream; what they do besides for TCP alone fails without harm. The permissions are
 * those of the socket before anybody can connect to it. */
static int listen_on_path(struct http_server *server, struct err *err)
{
    const char *path = server->options.unix_path;
    mode_t mode = server->options.unix_mode ? server->options.unix_mode : 0600;
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path)
        return err_set(err, -ENAMETOOLONG, "listening at %s: longer than %zu bytes", path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, -errno, "listening at %s: %s", path, strerror(errno));
    (void)unlink(path);
    int r = bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || chmod(path, mode) < 0 ? -errno : 0;
    if (r == 0)
        r = uv_tcp_open(&server->listener, fd);
    if (r < 0)
        (void)close(fd);
    if (r == 0)
        r = uv_listen((uv_stream_t *)&server->listener, 128, on_connection);
    return r < 0 ? err_set(err, r, "listening at %s: %s", path, uv_strerror(r)) : 0;
}

static int listen_at(struct http_server *server, struct err *err)
{
    const struct http_server_options *options = &server->options;
    struct sockaddr_storage address = {0};
    int r = parse_address(options, &address);

    if (r == 0)
        r = uv_tcp_bind(&server->listener, (const struct sockaddr *)&address, 0);
    if (r == 0)
        r = uv_listen((uv_stream_t *)&server->listener, 128, on_connection);
    if (r < 0)
        return err_set(err, r, "listening at %s port %u: %s", options->address, options->port, uv_strerror(r));
    return 0;
}

int http_server_start(struct loop *loop, const struct http_server_options *options, struct http_server **ret_server,
                      struct err *err)
{
    struct http_server *server = xcalloc(1, sizeof *server);
    int r = 0;

    server->loop = loop;
    server->options = *options;
    if (!options->connections_max)
        server->options.connections_max = defaults.connections_max;
    if (!options->body_max)
        server->options.body_max = defaults.body_max;
    if (!options->idle_timeout)
        server->options.idle_timeout = defaults.idle_timeout;
    BUG_ON(uv_tcp_init(&loop->uv, &server->listener) < 0);
    server->listener.data = server;
    if (options->cert_pem)
        r = http_server_set_certificate(server, options->cert_pem, options->key_pem, err);
    if (r == 0)
        r = options->unix_path ? listen_on_path(server, err) : listen_at(server, err);
    if (r < 0) {
        http_server_free(server);
        return r;
    }
    *ret_server = server;
    return 0;
}

void http_server_free(struct http_server *server)
{
    if (!server || server->is_freed)
        return;
    server->is_freed = true;
    while (server->first)
        http_connection_free(server->first);
    SSL_CTX_free(server->tls);
    uv_close((uv_handle_t *)&server->listener, on_listener_closed);
}

uint16_t http_server_port(const struct http_server *server)
{
    struct sockaddr_storage address = {0};
    int len = sizeof address;

    if (uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &len) < 0)
        return 0;
    return ntohs(address.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&address)->sin6_port
                                               : ((const struct sockaddr_in *)&address)->sin_port);
}

int http_server_set_certificate(struct http_server *server, const char *cert_pem, const char *key_pem, struct err *err)
{
    SSL_CTX *context = NULL;
    int r = stream_tls_context(cert_pem, key_pem, &context, err);

    if (r < 0)
        return r;
    SSL_CTX_free(server->tls);
    server->tls = context;
    return 0;
}

static bool path_fits(const char *pattern, const char *path)
{
    size_t len = strlen(pattern);

    if (len > 0 && pattern[len - 1] == '*')
        return strncmp(pattern, path, len - 1) == 0;
    return strcmp(pattern, path) == 0;
}

void http_server_route(const struct http_server *server, struct http_exchange *exchange)
{
    const char *method = exchange->is_head ? "GET" : http_exchange_method(exchange);
    bool is_known = false;

    for (size_t i = 0; i < server->options.route_count; i++) {
        const struct http_route *route = &server->options.routes[i];

        if (!path_fits(route->path, http_exchange_path(exchange)))
            continue;
        is_known = true;
        if (strcmp(route->method, method) != 0)
            continue;
        route->handler(server->options.arg, exchange);
        return;
    }
    http_reply_text(exchange, is_known ? 405 : 404, is_known ? "method not allowed\n" : "not found\n");
}
