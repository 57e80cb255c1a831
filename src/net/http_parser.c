/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The callbacks of llhttp: they collect a request in its exchange and pause the parser where something else has to run.
 * Nothing that could free the connection is called from here.
 */
#include <string.h>
#include <strings.h>

#include "net/http_server_internal.h"

static int refuse(struct http_connection *connection, int status)
{
    connection->refusal = status;
    return HPE_USER;
}

static int pause_for(struct http_connection *connection, enum pause why)
{
    connection->pause = why;
    return HPE_PAUSED;
}

/* The head of a request in pieces: a text may come in several. llhttp lets no NUL through. */

static int add_to_head(struct http_connection *connection, const char *bytes, size_t len)
{
    struct strbuf *head = &connection->exchange->head;

    strbuf_add(head, bytes, len);
    return head->is_cut ? refuse(connection, 431) : HPE_OK;
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
    connection->exchange = http_exchange_new(connection);
    connection->plan = (struct http_plan){0};
    connection->stage = STAGE_READ;
    connection->has_head = false;
    connection->trailers_seen = 0;
    connection->is_value = false;
    connection->refusal = 0;
    connection->body_seen = 0;
    loop_timer_start(&connection->timer, connection->server->options.request_timeout);
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

/* Headers behind a chunked body come too late to matter: whoever may send the request has been decided. */
static int skip_trailer(struct http_connection *connection, size_t len)
{
    connection->trailers_seen += len;
    return connection->trailers_seen > HEAD_MAX ? refuse(connection, 431) : HPE_OK;
}

static int on_header_name(llhttp_t *parser, const char *bytes, size_t len)
{
    struct http_connection *connection = parser->data;
    struct http_exchange *exchange = connection->exchange;

    if (connection->has_head)
        return skip_trailer(connection, len);
    if (connection->is_value || exchange->header_count == 0) {
        if (exchange->header_count == HEADERS_MAX)
            return refuse(connection, 431);
        exchange->headers[exchange->header_count++].name = exchange->head.len;
        connection->is_value = false;
    }
    return add_to_head(connection, bytes, len);
}

static int on_header_name_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;
    struct http_exchange *exchange = connection->exchange;

    if (connection->has_head)
        return HPE_OK;
    /* A value may be empty, and then no piece of it comes. */
    exchange->headers[exchange->header_count - 1].value = end_text(exchange);
    connection->is_value = true;
    return HPE_OK;
}

static int on_header_value(llhttp_t *parser, const char *bytes, size_t len)
{
    struct http_connection *connection = parser->data;

    return connection->has_head ? skip_trailer(connection, len) : add_to_head(connection, bytes, len);
}

static int on_header_value_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;

    if (!connection->has_head)
        (void)end_text(connection->exchange);
    return HPE_OK;
}

/* The request that is refused anyway: a small body is read and discarded, so that the connection can go on. A client
 * that asks before it sends its body, or one with a large body, gets the answer at once. */
static int plan_refusal(struct http_connection *connection, bool is_expecting)
{
    const llhttp_t *parser = &connection->parser;

    if (is_expecting || ((parser->flags & F_CONTENT_LENGTH) && parser->content_length > DISCARD_MAX))
        return HPE_USER;
    return HPE_OK;
}

static int on_headers_complete(llhttp_t *parser)
{
    struct http_connection *connection = parser->data;
    struct http_exchange *exchange = connection->exchange;
    const struct http_app *app = &connection->server->app;
    struct http_plan *plan = &connection->plan;
    bool has_length = parser->flags & F_CONTENT_LENGTH;

    connection->has_head = true;
    exchange->is_http_10 = llhttp_get_http_major(parser) == 1 && llhttp_get_http_minor(parser) == 0;
    exchange->has_body = (has_length && parser->content_length > 0) || (parser->flags & F_CHUNKED);
    exchange->is_upgrade = parser->upgrade && llhttp_get_method(parser) != HTTP_CONNECT;
    /* Behind an upgrade that is not accepted may come bytes of another protocol. */
    exchange->is_keep_alive = llhttp_should_keep_alive(parser) && !parser->upgrade && !exchange->is_http_10;
    app->on_head(app->arg, exchange, plan);

    const char *expect = http_exchange_header(exchange, "Expect");
    bool is_expecting = expect && strcasecmp(expect, "100-continue") == 0 && !exchange->is_http_10;

    if (plan->is_refusal)
        return plan_refusal(connection, is_expecting);
    if (has_length && parser->content_length > plan->body_max)
        return refuse(connection, 413);
    exchange->body.max = plan->body_max;
    if (is_expecting)
        stream_write(connection->stream, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    return plan->is_body_streamed ? pause_for(connection, PAUSE_HEAD) : HPE_OK;
}

static int on_body(llhttp_t *parser, const char *bytes, size_t len)
{
    struct http_connection *connection = parser->data;
    const struct http_plan *plan = &connection->plan;

    /* With an open piece llhttp also reports the end of the bytes that it was given. */
    if (len == 0)
        return HPE_OK;
    connection->body_seen += len;
    if (plan->is_refusal)
        return connection->body_seen > DISCARD_MAX ? HPE_USER : HPE_OK;
    if (connection->body_seen > plan->body_max)
        return refuse(connection, 413);
    if (!plan->is_body_streamed) {
        strbuf_add(&connection->exchange->body, bytes, len);
        return HPE_OK;
    }
    connection->piece = bytes;
    connection->piece_len = len;
    return pause_for(connection, PAUSE_BODY);
}

static int on_complete(llhttp_t *parser)
{
    return pause_for(parser->data, PAUSE_END);
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

void http_parser_init(struct http_connection *connection)
{
    llhttp_init(&connection->parser, HTTP_REQUEST, &settings);
    connection->parser.data = connection;
}
