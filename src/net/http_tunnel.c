/* SPDX-License-Identifier: Apache-2.0 */

/* Upgrades: what is left of a connection when HTTP is over. */
#include "net/http_tunnel.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http_server_internal.h"

struct http_tunnel {
    struct http_connection *connection;  // NULL: gone
    struct http_tunnel_handler handler;
    struct loop_task end;  // reports an end that was there before the tunnel
    void *attached;        // of the exchange that it was
    void (*free_attached)(void *thing);
    bool is_paused;
    bool has_ended;
};

static void on_ended_before(void *arg)
{
    http_tunnel_ended(arg);
}

struct http_tunnel *http_upgrade(struct http_exchange *exchange, const char *protocol,
                                 const struct http_tunnel_handler *handler)
{
    struct http_connection *connection = exchange->connection;
    struct http_tunnel *tunnel = xcalloc(1, sizeof *tunnel);
    struct strbuf extra;

    BUG_ON(!exchange->is_upgrade);
    tunnel->handler = *handler;
    tunnel->attached = TAKE_PTR(exchange->attached);
    tunnel->free_attached = exchange->free_attached;
    tunnel->connection = connection;
    loop_task_init(&tunnel->end, exchange->loop, on_ended_before, tunnel);
    if (!connection) {
        loop_task_queue(&tunnel->end);
        http_exchange_free(exchange);
        return tunnel;
    }
    strbuf_init(&extra, 1024);
    strbuf_addf(&extra, "Connection: Upgrade\r\nUpgrade: %s\r\n", protocol);
    exchange->is_keep_alive = true;  // no "Connection: close"
    http_reply_head(exchange, 101, NULL, extra.text, NULL, 0);
    strbuf_done(&extra);
    connection->exchange = NULL;
    connection->tunnel = tunnel;
    connection->stage = STAGE_TUNNEL;
    http_exchange_free(exchange);
    http_connection_go_on(connection);
    if (connection->server->is_draining)
        loop_task_queue(&tunnel->end);
    return tunnel;
}

static void release(struct http_tunnel *tunnel)
{
    loop_task_cancel(&tunnel->end);
    if (tunnel->attached)
        tunnel->free_attached(tunnel->attached);
    free(tunnel);
}

void http_tunnel_free(struct http_tunnel *tunnel)
{
    if (!tunnel)
        return;
    if (tunnel->connection) {
        tunnel->connection->tunnel = NULL;
        http_connection_free(tunnel->connection);
    }
    release(tunnel);
}

void http_tunnel_close(struct http_tunnel *tunnel)
{
    if (tunnel->connection) {
        tunnel->connection->tunnel = NULL;
        http_connection_part(tunnel->connection);
    }
    release(tunnel);
}

void http_tunnel_write(struct http_tunnel *tunnel, const char *bytes, size_t len)
{
    if (!tunnel->connection)
        return;
    stream_write(tunnel->connection->stream, bytes, len);
    http_connection_watch_peer(tunnel->connection);
}

size_t http_tunnel_unsent(const struct http_tunnel *tunnel)
{
    return tunnel->connection ? stream_unsent(tunnel->connection->stream) : 0;
}

void http_tunnel_pause(struct http_tunnel *tunnel)
{
    tunnel->is_paused = true;
    if (tunnel->connection)
        stream_read_stop(tunnel->connection->stream);
}

void http_tunnel_resume(struct http_tunnel *tunnel)
{
    tunnel->is_paused = false;
    if (tunnel->connection)
        http_connection_go_on(tunnel->connection);
}

bool http_tunnel_is_paused(const struct http_tunnel *tunnel)
{
    return tunnel->is_paused;
}

void http_tunnel_read(struct http_tunnel *tunnel, const char *bytes, size_t len)
{
    if (!tunnel->has_ended)
        tunnel->handler.on_read(tunnel->handler.arg, bytes, len);
}

void http_tunnel_ended(struct http_tunnel *tunnel)
{
    if (tunnel->has_ended)
        return;
    tunnel->has_ended = true;
    tunnel->handler.on_end(tunnel->handler.arg);
}

void http_tunnel_cut(struct http_tunnel *tunnel)
{
    tunnel->connection = NULL;
    http_tunnel_ended(tunnel);
}

void http_tunnel_drained(struct http_tunnel *tunnel)
{
    if (tunnel->handler.on_drain && !tunnel->has_ended)
        tunnel->handler.on_drain(tunnel->handler.arg);
}
