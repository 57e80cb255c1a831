/* SPDX-License-Identifier: Apache-2.0 */

/*
 * llhttp reads the requests of a connection one after the other. When one is complete it pauses, and so does the
 * socket: what a client sends ahead is kept, at most one buffer of it, until the answer is on its way.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/http_server_internal.h"

/* The head of a request in pieces: a text may come in several. */

static int add_to_head(struct http_connection *connection, const char *bytes, size_t len)
{
    struct strbuf *head = &connection->exchange->head;

    /* Texts end at a NUL here. llhttp lets none through, but a percent-encoded one does no harm either. */
    strbuf_add(head, bytes, len);
    if (!head->is_cut)
        return HPE_OK;
    connection->refusal = 431;
    return HPE_USER;
}

static size_t end_text(struct http_exchange *exchange)
{
    strbuf_addch(&exchange->head, '\0');
    return exchange->head.len;
}

static int on_begin(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;

    http_exchange_free(connection->exchange);
    connection->exchange = http_exchange_new(connection, connection->server->options.body_max);
    connection->is_value = false;
    connection->refusal = 0;
    return HPE_OK;
}

static int on_url(llhttp_t *parser, const char *bytes, size_t len)
{
    return add_to_head(parser->data, bytes, len);
}

/* "/path?query" becomes two texts, and the method comes behind them. */
static int on_url_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;
    struct http_exchange *exchange = connection->exchange;
    const char *method = llhttp_method_name((llhttp_method_t)llhttp_get_method(parser));

    exchange->path = 0;
    char *mark = memchr(exchange->head.text, '?', exchange->head.len);
    if (mark) {
        *mark = '\0';
        exchange->query = (size_t)(mark - exchange->head.text) + 1;
    } else {
        exchange->query = exchange->head.len;
    }
    exchange->method = end_text(exchange);
    exchange->is_head = strcmp(method, "HEAD") == 0;
    int r = add_to_head(connection, method, strlen(method));
    (void)end_text(exchange);
    return r;
}

static int on_header_name(llhttp_t *parser, const char *bytes, size_t len)
{
    struct http_connection *connection = parser->data;
    struct http_exchange *exchange = connection->exchange;

    if (connection->is_value || exchange->header_count == 0) {
        if (exchange->header_count == HEADERS_MAX) {
            connection->refusal = 431;
            return HPE_USER;
        }
        exchange->headers[exchange->header_count++].name = exchange->head.len;
        connection->is_value = false;
    }
    return add_to_head(connection, bytes, len);
}

static int on_header_name_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;
    struct http_exchange *exchange = connection->exchange;

    /* A value may be empty, and then no piece of it comes. */
    exchange->headers[exchange->header_count - 1].value = end_text(exchange);
    connection->is_value = true;
    return HPE_OK;
}

static int on_header_value(llhttp_t *parser, const char *bytes, size_t len)
{
    return add_to_head(parser->data, bytes, len);
}

static int on_header_value_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;

    (void)end_text(connection->exchange);
    return HPE_OK;
}

static int on_headers_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;
    struct http_exchange *exchange = connection->exchange;
    const char *expect = http_exchange_header(exchange, "Expect");

    exchange->is_http_10 = llhttp_get_http_major(parser) == 1 && llhttp_get_http_minor(parser) == 0;
    if ((parser->flags & F_CONTENT_LENGTH) && parser->content_length > connection->server->options.body_max) {
        connection->refusal = 413;
        return HPE_USER;
    }
    if (expect && strcasecmp(expect, "100-continue") == 0)
        stream_write(connection->stream, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    return HPE_OK;
}

static int on_body(llhttp_t *parser, const char *bytes, size_t len)
{
    struct http_connection *connection = parser->data;
    struct strbuf *body = &connection->exchange->body;

    strbuf_add(body, bytes, len);
    if (!body->is_cut)
        return HPE_OK;
    connection->refusal = 413;
    return HPE_USER;
}

static int on_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;

    /* An upgrade is not followed: the request is answered, but what comes after it may be another protocol. */
    connection->exchange->is_keep_alive =
        llhttp_should_keep_alive(parser) && !parser->upgrade && !connection->exchange->is_http_10;
    connection->is_answering = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_message_begin = on_begin,
    .on_url = on_url,
    .on_url_complete = on_url_complete,
    .on_header_field = on_header_name,
    .on_header_field_complete = on_header_name_complete,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

/* What cannot be read is answered without a handler, and nothing after it can be trusted. */
static void refuse(struct http_connection *connection)
{
    if (!connection->exchange)
        connection->exchange = http_exchange_new(connection, 0);
    connection->is_answering = true;
    connection->exchange->is_keep_alive = false;
    int status = connection->refusal ? connection->refusal : 400;

    http_reply_text(connection->exchange, status, status == 400 ? "bad request\n" : "request too large\n");
}

static void feed(struct http_connection *connection, const char *bytes, size_t len)
{
    enum llhttp_errno r = llhttp_execute(&connection->parser, bytes, len);

    if (r == HPE_OK)
        return;
    if (r != HPE_PAUSED) {
        refuse(connection);
        return;
    }
    const char *stopped = llhttp_get_error_pos(&connection->parser);

    strbuf_add(&connection->early, stopped, len - (size_t)(stopped - bytes));
    stream_read_stop(connection->stream);
    loop_timer_stop(&connection->timer);
    llhttp_resume(&connection->parser);
    http_server_route(connection->server, connection->exchange);
}

static void on_read(void *arg, const char *bytes, size_t len)
{
    struct http_connection *connection = arg;

    if (!bytes) {
        http_connection_free(connection);
    } else if (connection->is_answering || connection->more.is_queued) {
        strbuf_add(&connection->early, bytes, len);
        if (connection->early.is_cut)
            http_connection_free(connection);
    } else {
        feed(connection, bytes, len);
    }
}

static void on_more(void *arg)
{
    struct http_connection *connection = arg;
    size_t len = connection->early.len;
    _cleanup_(freep) char *bytes = strbuf_take(&connection->early);

    if (connection->is_answering)
        return;
    stream_read_start(connection->stream);
    loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
    if (len > 0)
        feed(connection, bytes, len);
}

void http_connection_answered(struct http_connection *connection, bool is_keep_alive)
{
    connection->is_answering = false;
    connection->exchange = NULL;
    if (is_keep_alive) {
        loop_task_queue(&connection->more);
        return;
    }
    struct stream *stream = TAKE_PTR(connection->stream);

    http_connection_free(connection);
    stream_close_when_sent(stream);
}

/* The client lets us wait, either with its request or with taking the answer. */
static void on_timeout(void *arg)
{
    http_connection_free(arg);
}

static void on_drain(void *arg)
{
    struct http_connection *connection = arg;

    if (connection->is_answering)
        loop_timer_stop(&connection->timer);
}

void http_connection_accept(struct http_server *server)
{
    struct http_connection *connection = xcalloc(1, sizeof *connection);

    if (stream_accept((uv_stream_t *)&server->listener, server->tls, on_read, on_drain, connection,
                      &connection->stream) < 0) {
        free(connection);
        return;
    }
    if (server->connections >= server->options.connections_max) {
        stream_free(connection->stream);
        free(connection);
        return;
    }
    connection->server = server;
    connection->next = server->first;
    if (server->first)
        server->first->prev = connection;
    server->first = connection;
    server->connections++;
    strbuf_init(&connection->early, HEAD_MAX);
    llhttp_init(&connection->parser, HTTP_REQUEST, &settings);
    connection->parser.data = connection;
    loop_task_init(&connection->more, server->loop, on_more, connection);
    loop_timer_init(&connection->timer, server->loop, on_timeout, connection);
    loop_timer_start(&connection->timer, server->options.idle_timeout);
    stream_read_start(connection->stream);
}

void http_connection_free(struct http_connection *connection)
{
    struct http_server *server = connection->server;

    if (connection->prev)
        connection->prev->next = connection->next;
    else
        server->first = connection->next;
    if (connection->next)
        connection->next->prev = connection->prev;
    server->connections--;
    /* A handler that still works on the answer finds nobody to give it to. */
    if (connection->is_answering)
        connection->exchange->connection = NULL;
    else
        http_exchange_free(connection->exchange);
    stream_free(connection->stream);
    loop_task_cancel(&connection->more);
    loop_timer_done(&connection->timer);
    strbuf_done(&connection->early);
    free(connection);
}
