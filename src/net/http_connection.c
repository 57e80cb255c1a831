/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The requests of a connection, one after the other. While one is answered the socket is still read, so that the end of
 * the peer is noticed: what a client sends ahead is kept, at most EARLY_MAX of it, until its turn comes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http_server_internal.h"

static size_t early_len(const struct http_connection *connection)
{
    return connection->early.len - connection->early_at;
}

/* Whether the parser may have more bytes now. */
static bool can_parse(const struct http_connection *connection)
{
    const struct http_exchange *exchange = connection->exchange;

    if (connection->is_dead)
        return false;
    if (connection->stage == STAGE_STREAM)
        return exchange->on_body && !exchange->is_body_paused;
    return connection->stage == STAGE_IDLE || connection->stage == STAGE_READ;
}

/* A request that is refused or cannot be read is answered here, and nothing after it can be trusted. */
static void refuse(struct http_connection *connection)
{
    const struct http_app *app = &connection->server->app;
    int status = connection->refusal ? connection->refusal : 400;

    /* The handler of a streamed body has the exchange already, and learns that the rest will not come. */
    if (connection->stage == STAGE_STREAM) {
        BUG_ON(!connection->is_feeding);  // which keeps its memory until feed() has ended
        http_connection_free(connection);
        return;
    }
    if (!connection->exchange)
        connection->exchange = http_exchange_new(connection);
    loop_timer_stop(&connection->timer);
    connection->stage = STAGE_ANSWER;
    connection->exchange->is_keep_alive = false;
    if (connection->plan.is_refusal)
        connection->plan.handler(connection->plan.arg, connection->exchange);
    else
        app->on_malformed(app->arg, connection->exchange, status,
                          status == 400 ? "the request is not valid HTTP/1.1" : "the request is too large");
}

/* Runs what the parser paused for. */
static void dispatch(struct http_connection *connection)
{
    struct http_exchange *exchange = connection->exchange;

    switch (connection->pause) {
    case PAUSE_HEAD:
        connection->stage = STAGE_STREAM;
        loop_timer_stop(&connection->timer);
        connection->plan.handler(connection->plan.arg, exchange);
        break;
    case PAUSE_BODY:
        loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
        exchange->on_body(exchange->body_arg, connection->piece, connection->piece_len);
        break;
    case PAUSE_END:
        loop_timer_stop(&connection->timer);
        if (connection->stage == STAGE_STREAM) {
            connection->stage = STAGE_ANSWER;
            exchange->on_body(exchange->body_arg, NULL, 0);
            break;
        }
        connection->stage = STAGE_ANSWER;
        connection->plan.handler(connection->plan.arg, exchange);
        break;
    case PAUSE_NONE:
        break;
    }
}

/* Returns how many bytes were used. Stops after a request: the next one waits for its turn in the loop. */
static size_t parse(struct http_connection *connection, const char *bytes, size_t len)
{
    size_t used = 0;

    while (can_parse(connection)) {
        connection->pause = PAUSE_NONE;
        enum llhttp_errno r = llhttp_execute(&connection->parser, bytes + used, len - used);

        if (r == HPE_OK)
            return len;
        if (r != HPE_PAUSED) {
            refuse(connection);
            return len;
        }
        bool is_over = connection->pause == PAUSE_END;

        used = (size_t)(llhttp_get_error_pos(&connection->parser) - bytes);
        llhttp_resume(&connection->parser);
        dispatch(connection);
        if (is_over)
            break;
    }
    return used;
}

/* Parses. Returns false when the connection is gone afterwards; else `*ret_used` is set. */
static bool feed(struct http_connection *connection, const char *bytes, size_t len, size_t *ret_used)
{
    connection->is_feeding = true;
    *ret_used = parse(connection, bytes, len);
    connection->is_feeding = false;
    if (!connection->is_dead)
        return true;
    strbuf_done(&connection->early);
    free(connection);
    return false;
}

/* Keeps bytes for later, and stops reading when there are many. */
static void hold(struct http_connection *connection, const char *bytes, size_t len)
{
    struct strbuf *early = &connection->early;

    if (connection->early_at > 0) {
        size_t left = early_len(connection);

        memmove(early->text, early->text + connection->early_at, left);
        early->len = left;
        connection->early_at = 0;
    }
    strbuf_add(early, bytes, len);
    if (early->is_cut)
        http_connection_free(connection);
    else if (early_len(connection) >= EARLY_MAX)
        stream_read_stop(connection->stream);
}

static void on_read(void *arg, const char *bytes, size_t len)
{
    struct http_connection *connection = arg;
    size_t used = 0;

    if (connection->stage == STAGE_PART)
        return;
    bool is_next = !connection->more.is_queued && early_len(connection) == 0;

    if (is_next && connection->stage == STAGE_TUNNEL && !http_tunnel_is_paused(connection->tunnel)) {
        http_tunnel_read(connection->tunnel, bytes, len);
    } else if (!is_next || !can_parse(connection)) {
        hold(connection, bytes, len);
    } else if (feed(connection, bytes, len, &used) && connection->stage != STAGE_PART) {
        hold(connection, bytes + used, len - used);
    }
}

/* The peer has closed its side. Answers that are under way are still wanted, unless their handler said otherwise. */
static void on_end(void *arg, bool is_broken)
{
    struct http_connection *connection = arg;

    connection->has_ended = true;
    if (is_broken || connection->stage == STAGE_STREAM)
        http_connection_free(connection);
    else if (connection->stage == STAGE_TUNNEL)
        http_connection_go_on(connection);
    else if (connection->stage == STAGE_ANSWER)
        http_exchange_cancel(connection->exchange);
    else if (early_len(connection) == 0)
        http_connection_part(connection);
}

static void on_drain(void *arg)
{
    struct http_connection *connection = arg;

    if (connection->stage == STAGE_IDLE) {
        loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
    } else if (connection->stage == STAGE_TUNNEL) {
        loop_timer_stop(&connection->timer);
        http_tunnel_drained(connection->tunnel);
    } else if (connection->stage == STAGE_ANSWER || connection->stage == STAGE_STREAM) {
        struct callback drain = connection->exchange->drain;

        if (connection->stage == STAGE_ANSWER)
            loop_timer_stop(&connection->timer);
        if (drain.fn)
            drain.fn(drain.arg);
    }
}

/* Early bytes go to the tunnel, and then the end if there is one. The callbacks may free everything, so they come
 * last. */
static void feed_tunnel(struct http_connection *connection)
{
    struct http_tunnel *tunnel = connection->tunnel;
    size_t at = connection->early_at;
    size_t len = early_len(connection);

    if (http_tunnel_is_paused(tunnel))
        return;
    _cleanup_(freep) char *bytes = strbuf_take(&connection->early);

    connection->early_at = 0;
    if (!connection->has_ended)
        stream_read_start(connection->stream);
    else if (len > 0)
        http_connection_go_on(connection);
    if (len > 0)
        http_tunnel_read(tunnel, bytes + at, len);
    else if (connection->has_ended)
        http_tunnel_ended(tunnel);
}

static void on_more(void *arg)
{
    struct http_connection *connection = arg;
    size_t used = 0;

    if (connection->stage == STAGE_TUNNEL) {
        feed_tunnel(connection);
        return;
    }
    if (!can_parse(connection))
        return;
    if (early_len(connection) > 0 || connection->stage == STAGE_STREAM) {
        if (!feed(connection, connection->early.text + connection->early_at, early_len(connection), &used))
            return;
        connection->early_at += used;
    }
    if (connection->stage == STAGE_PART)
        return;
    if (early_len(connection) == 0) {
        strbuf_clear(&connection->early);
        connection->early_at = 0;
    }
    if (!connection->has_ended) {
        if (early_len(connection) < EARLY_MAX)
            stream_read_start(connection->stream);
    } else if (can_parse(connection) && early_len(connection) == 0) {
        http_connection_part(connection);
    }
}

void http_connection_go_on(struct http_connection *connection)
{
    loop_task_queue(&connection->more);
}

void http_connection_watch_peer(struct http_connection *connection)
{
    if (connection->stage == STAGE_PART || loop_timer_is_running(&connection->timer))
        return;
    connection->taken_seen = stream_taken(connection->stream);
    loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
}

void http_connection_answered(struct http_connection *connection, bool is_keep_alive)
{
    connection->exchange = NULL;
    if (!is_keep_alive || connection->server->is_draining) {
        http_connection_part(connection);
        return;
    }
    connection->stage = STAGE_IDLE;
    connection->taken_seen = stream_taken(connection->stream);
    loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
    http_connection_go_on(connection);
}

static void on_closed(void *arg)
{
    struct http_connection *connection = arg;

    connection->stream = NULL;
    http_connection_free(connection);
}

void http_connection_part(struct http_connection *connection)
{
    connection->stage = STAGE_PART;
    loop_timer_stop(&connection->timer);
    loop_task_cancel(&connection->more);
    stream_close_when_sent(connection->stream, on_closed, connection);
}

/* The client lets us wait, either with its request or with taking the answer. */
static void on_timeout(void *arg)
{
    struct http_connection *connection = arg;
    uint64_t taken = stream_taken(connection->stream);
    bool is_sending = stream_unsent(connection->stream) > 0;
    bool is_slow = taken - connection->taken_seen < STREAM_PROGRESS_MIN;

    /* The answer has been taken, which on_drain() is about to report. */
    if ((connection->stage == STAGE_ANSWER || connection->stage == STAGE_TUNNEL) && !is_sending)
        return;
    if (connection->stage != STAGE_READ && is_sending && !is_slow) {
        connection->taken_seen = taken;
        loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
        return;
    }
    http_connection_free(connection);
}

void http_connection_accept(struct http_server *server)
{
    struct http_connection *connection = xcalloc(1, sizeof *connection);
    struct stream_handler handler = {.on_read = on_read, .on_end = on_end, .on_drain = on_drain, .arg = connection};

    if (stream_accept((uv_stream_t *)server->listener, server->tls, &handler, &connection->stream) < 0) {
        free(connection);
        return;
    }
    if (server->connections.len >= server->options.connections_max) {
        stream_free(connection->stream);
        free(connection);
        return;
    }
    connection->server = server;
    list_push(&server->connections, &connection->in_server);
    /* One more read may come after reading was stopped, when the peer's bytes had been decrypted already. */
    strbuf_init(&connection->early, 2 * (size_t)EARLY_MAX);
    http_peer_find(connection);
    http_parser_init(connection);
    loop_task_init(&connection->more, server->loop, on_more, connection);
    loop_timer_init(&connection->timer, server->loop, on_timeout, connection);
    loop_timer_start(&connection->timer, server->options.request_timeout);
    stream_read_start(connection->stream);
}

void http_connection_drain(struct http_connection *connection)
{
    if (connection->stage == STAGE_IDLE && early_len(connection) == 0)
        http_connection_part(connection);
    else if (connection->stage == STAGE_ANSWER || connection->stage == STAGE_STREAM)
        http_exchange_cancel(connection->exchange);
    else if (connection->stage == STAGE_TUNNEL)
        http_tunnel_ended(connection->tunnel);
}

void http_connection_free(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    struct http_exchange *exchange = TAKE_PTR(connection->exchange);
    struct http_tunnel *tunnel = TAKE_PTR(connection->tunnel);
    bool is_with_handler = connection->stage == STAGE_STREAM || connection->stage == STAGE_ANSWER;
    bool is_feeding = connection->is_feeding;

    connection->stage = STAGE_PART;
    list_remove(&server->connections, &connection->in_server);
    stream_free(connection->stream);
    loop_task_cancel(&connection->more);
    loop_timer_done(&connection->timer);
    http_peer_done(&connection->peer);
    if (is_feeding) {
        connection->is_dead = true;
    } else {
        strbuf_done(&connection->early);
        free(connection);
    }
    http_server_connection_ended(server);
    /* Last, since these may free the server. A handler that still works on the answer finds no one to give it to. */
    if (tunnel)
        http_tunnel_cut(tunnel);
    if (!exchange)
        return;
    if (is_with_handler) {
        exchange->connection = NULL;
        http_exchange_cancel(exchange);
    } else {
        http_exchange_free(exchange);
    }
}
