/* SPDX-License-Identifier: Apache-2.0 */

/* The listening socket, its certificate, and the end of the server. */
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
    .connections_max = 256, .request_timeout = 60 * NSEC_PER_SEC, .idle_timeout = 60 * NSEC_PER_SEC};

static void on_listener_closed(uv_handle_t *handle)
{
    free(handle);
}

static void close_listener(struct http_server *server)
{
    uv_tcp_t *listener = TAKE_PTR(server->listener);

    if (listener)
        uv_close((uv_handle_t *)listener, on_listener_closed);
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
        r = uv_tcp_open(server->listener, fd);
    if (r < 0)
        (void)close(fd);
    if (r == 0)
        r = uv_listen((uv_stream_t *)server->listener, 128, on_connection);
    return r < 0 ? err_set(err, r, "listening at %s: %s", path, uv_strerror(r)) : 0;
}

static int listen_at(struct http_server *server, struct err *err)
{
    const struct http_server_options *options = &server->options;
    struct sockaddr_storage address = {0};
    int r = parse_address(options, &address);

    if (r == 0)
        r = uv_tcp_bind(server->listener, (const struct sockaddr *)&address, 0);
    if (r == 0)
        r = uv_listen((uv_stream_t *)server->listener, 128, on_connection);
    if (r < 0)
        return err_set(err, r, "listening at %s port %u: %s", options->address, options->port, uv_strerror(r));
    return 0;
}

static void drain(void *arg);
static void on_drain_timeout(void *arg);

int http_server_start(struct loop *loop, const struct http_server_options *options, const struct http_app *app,
                      struct http_server **ret_server, struct err *err)
{
    struct http_server *server = xcalloc(1, sizeof *server);
    int r = 0;

    server->loop = loop;
    server->app = *app;
    server->options = *options;
    if (!options->connections_max)
        server->options.connections_max = defaults.connections_max;
    if (!options->request_timeout)
        server->options.request_timeout = defaults.request_timeout;
    if (!options->idle_timeout)
        server->options.idle_timeout = defaults.idle_timeout;
    if (options->client_ca_pem)
        server->client_ca_pem = xstrdup(options->client_ca_pem);
    loop_task_init(&server->drain_task, loop, drain, server);
    loop_timer_init(&server->drain_timer, loop, on_drain_timeout, server);
    server->listener = xcalloc(1, sizeof *server->listener);
    BUG_ON(uv_tcp_init(&loop->uv, server->listener) < 0);
    server->listener->data = server;
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

static struct http_connection *first_connection(const struct http_server *server)
{
    return list_first(&server->connections, struct http_connection, in_server);
}

void http_server_free(struct http_server *server)
{
    if (!server || server->is_freed)
        return;
    server->is_freed = true;
    close_listener(server);
    for (struct http_connection *connection; (connection = first_connection(server));)
        http_connection_free(connection);
    loop_task_cancel(&server->drain_task);
    loop_timer_done(&server->drain_timer);
    if (server->app.free)
        server->app.free(server->app.arg);
    SSL_CTX_free(server->tls);
    free(server->client_ca_pem);
    free(server);
}

/* Closing one may end others: the search begins anew after each. */
void http_server_disconnect(struct http_server *server, const char *name)
{
    struct list_link *at = server->connections.first;

    while (at) {
        struct http_connection *connection = list_item(at, struct http_connection, in_server);
        bool is_it = connection->peer.name && strcmp(connection->peer.name, name) == 0 && !connection->is_dead;

        at = at->next;
        if (is_it) {
            http_connection_free(connection);
            at = server->connections.first;
        }
    }
}

/* A connection that has not been asked to end, NULL when all have. */
static struct http_connection *next_to_drain(const struct http_server *server)
{
    for (struct list_link *at = server->connections.first; at; at = at->next) {
        struct http_connection *connection = list_item(at, struct http_connection, in_server);

        if (!connection->is_drained)
            return connection;
    }
    return NULL;
}

/* One connection in each round: its handler may end any other, or free the server, and with it this task. */
static void drain(void *arg)
{
    struct http_server *server = arg;
    struct http_connection *connection = server->is_overdue ? first_connection(server) : next_to_drain(server);

    if (connection) {
        loop_task_queue(&server->drain_task);
        connection->is_drained = true;
        if (server->is_overdue)
            http_connection_free(connection);
        else
            http_connection_drain(connection);
    } else if (server->connections.len == 0 && server->on_drained) {
        void (*on_drained)(void *arg) = TAKE_PTR(server->on_drained);

        loop_timer_stop(&server->drain_timer);
        on_drained(server->drained_arg);
    }
}

static void on_drain_timeout(void *arg)
{
    struct http_server *server = arg;

    server->is_overdue = true;
    loop_task_queue(&server->drain_task);
}

void http_server_drain(struct http_server *server, nsec_t timeout, void (*on_drained)(void *arg), void *arg)
{
    close_listener(server);
    server->is_draining = true;
    server->on_drained = on_drained;
    server->drained_arg = arg;
    loop_timer_start(&server->drain_timer, timeout);
    loop_task_queue(&server->drain_task);
}

void http_server_connection_ended(struct http_server *server)
{
    if (server->is_draining && server->connections.len == 0)
        loop_task_queue(&server->drain_task);
}

uint16_t http_server_port(const struct http_server *server)
{
    struct sockaddr_storage address = {0};
    int len = sizeof address;

    if (!server->listener || uv_tcp_getsockname(server->listener, (struct sockaddr *)&address, &len) < 0)
        return 0;
    return ntohs(address.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&address)->sin6_port
                                               : ((const struct sockaddr_in *)&address)->sin_port);
}

int http_server_set_certificate(struct http_server *server, const char *cert_pem, const char *key_pem, struct err *err)
{
    SSL_CTX *context = NULL;
    int r = stream_tls_context(cert_pem, key_pem, server->client_ca_pem, &context, err);

    if (r < 0)
        return r;
    SSL_CTX_free(server->tls);
    server->tls = context;
    return 0;
}
