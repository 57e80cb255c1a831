/* SPDX-License-Identifier: Apache-2.0 */

/* The request as a handler sees it. http_reply.c answers it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/http_server_internal.h"

enum { REPLY_HEADERS_MAX = 16 * 1024 };

static void on_cancel_task(void *arg)
{
    http_exchange_cancel(arg);
}

struct http_exchange *http_exchange_new(struct http_connection *connection)
{
    struct http_exchange *exchange = xcalloc(1, sizeof *exchange);

    exchange->loop = connection->server->loop;
    exchange->connection = connection;
    loop_task_init(&exchange->cancel_task, exchange->loop, on_cancel_task, exchange);
    strbuf_init(&exchange->head, HEAD_MAX);
    strbuf_init(&exchange->body, 0);
    strbuf_init(&exchange->reply_headers, REPLY_HEADERS_MAX);
    return exchange;
}

void http_exchange_free(struct http_exchange *exchange)
{
    if (!exchange)
        return;
    loop_task_cancel(&exchange->cancel_task);
    if (exchange->attached)
        exchange->free_attached(exchange->attached);
    strbuf_done(&exchange->head);
    strbuf_done(&exchange->body);
    strbuf_done(&exchange->reply_headers);
    free(exchange);
}

const char *http_exchange_method(const struct http_exchange *exchange)
{
    return exchange->head.text + exchange->method;
}

const char *http_exchange_path(const struct http_exchange *exchange)
{
    return exchange->head.text + exchange->path;
}

const char *http_exchange_query(const struct http_exchange *exchange)
{
    return exchange->head.text + exchange->query;
}

const char *http_exchange_header(const struct http_exchange *exchange, const char *name)
{
    for (uint32_t i = 0; i < exchange->header_count; i++) {
        if (strcasecmp(exchange->head.text + exchange->headers[i].name, name) == 0)
            return exchange->head.text + exchange->headers[i].value;
    }
    return NULL;
}

const char *http_exchange_body(const struct http_exchange *exchange, size_t *ret_len)
{
    if (ret_len)
        *ret_len = exchange->body.len;
    return exchange->body.text;
}

bool http_exchange_has_body(const struct http_exchange *exchange)
{
    return exchange->has_body;
}

bool http_exchange_wants_upgrade(const struct http_exchange *exchange)
{
    return exchange->is_upgrade;
}

bool http_exchange_is_gone(const struct http_exchange *exchange)
{
    return !exchange->connection;
}

const struct http_peer *http_exchange_peer(struct http_exchange *exchange)
{
    if (!exchange->connection)
        return NULL;
    http_peer_identify(exchange->connection);
    return &exchange->connection->peer;
}

void http_exchange_attach(struct http_exchange *exchange, void *thing, void (*free_thing)(void *thing))
{
    BUG_ON(exchange->attached);
    exchange->attached = thing;
    exchange->free_attached = free_thing;
}

void *http_exchange_attached(const struct http_exchange *exchange)
{
    return exchange->attached;
}

void http_body_read(struct http_exchange *exchange, http_body_fn on_bytes, void *arg)
{
    exchange->on_body = on_bytes;
    exchange->body_arg = arg;
    http_body_resume(exchange);
}

void http_body_pause(struct http_exchange *exchange)
{
    exchange->is_body_paused = true;
    if (exchange->connection && exchange->connection->stage == STAGE_STREAM)
        loop_timer_stop(&exchange->connection->timer);
}

void http_body_resume(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;

    exchange->is_body_paused = false;
    if (!connection || connection->stage != STAGE_STREAM)
        return;
    loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
    http_connection_go_on(connection);
}

void http_on_cancel(struct http_exchange *exchange, void (*fn)(void *arg), void *arg)
{
    const struct http_connection *connection = exchange->connection;

    exchange->cancel = (struct callback){fn, arg};
    if (!connection || connection->has_ended || connection->server->is_draining)
        loop_task_queue(&exchange->cancel_task);
}

void http_on_drain(struct http_exchange *exchange, void (*fn)(void *arg), void *arg)
{
    exchange->drain = (struct callback){fn, arg};
}

void http_exchange_cancel(struct http_exchange *exchange)
{
    struct callback cancel = exchange->cancel;

    exchange->cancel = (struct callback){0};
    if (cancel.fn)
        cancel.fn(cancel.arg);
}
