/* SPDX-License-Identifier: Apache-2.0 */

/* What a handler sees: the request, and the ways to answer it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/mem.h"
#include "net/http_server_internal.h"

enum { REPLY_HEADERS_MAX = 16 * 1024 };

struct http_exchange *http_exchange_new(struct http_connection *connection, size_t body_max)
{
    struct http_exchange *exchange = xcalloc(1, sizeof *exchange);

    exchange->connection = connection;
    strbuf_init(&exchange->head, HEAD_MAX);
    strbuf_init(&exchange->body, body_max);
    strbuf_init(&exchange->reply_headers, REPLY_HEADERS_MAX);
    return exchange;
}

void http_exchange_free(struct http_exchange *exchange)
{
    if (!exchange)
        return;
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

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes `len` bytes of a query; false when the text is damaged, holds a NUL or does not fit. */
static bool percent_decode(const char *from, size_t len, char *to, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < len; i++) {
        char c = (char)(from[i] == '+' ? ' ' : from[i]);

        if (c == '%') {
            int high = i + 2 < len ? hex_digit(from[i + 1]) : -1;
            int low = i + 2 < len ? hex_digit(from[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0' || used + 1 >= size)
            return false;
        to[used++] = c;
    }
    to[used] = '\0';
    return true;
}

bool http_exchange_parameter(const struct http_exchange *exchange, const char *name, char *value, size_t size)
{
    size_t name_len = strlen(name);

    for (const char *at = http_exchange_query(exchange); *at;) {
        size_t len = strcspn(at, "&");
        size_t key_len = strcspn(at, "=&");

        if (key_len == name_len && memcmp(at, name, name_len) == 0) {
            size_t skip = MIN(key_len + 1, len);

            return size > 0 && percent_decode(at + skip, len - skip, value, size);
        }
        at += len + (at[len] == '&');
    }
    return false;
}

bool http_exchange_is_gone(const struct http_exchange *exchange)
{
    return !exchange->connection;
}

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {410, "Gone"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (reasons[i].status == status)
            return reasons[i].text;
    }
    return "Unknown";
}

void http_reply_header(struct http_exchange *exchange, const char *name, const char *value)
{
    BUG_ON(strpbrk(name, "\r\n:") || strpbrk(value, "\r\n"));
    strbuf_addf(&exchange->reply_headers, "%s: %s\r\n", name, value);
}

static void send_bytes(struct http_exchange *exchange, const char *bytes, size_t len)
{
    struct http_connection *connection = exchange->connection;

    if (!connection || len == 0)
        return;
    stream_write(connection->stream, bytes, len);
    /* Counts as idle from the last byte that was taken. */
    loop_timer_start(&connection->timer, connection->server->options.idle_timeout);
}

static void send_head(struct http_exchange *exchange, int status, const char *type, const char *length)
{
    struct strbuf head;

    strbuf_init(&head, REPLY_HEADERS_MAX + 1024);
    strbuf_addf(&head, "HTTP/1.1 %d %s\r\n", status, reason_of(status));
    if (type)
        strbuf_addf(&head, "Content-Type: %s\r\n", type);
    strbuf_add(&head, exchange->reply_headers.text, exchange->reply_headers.len);
    strbuf_addf(&head, "%s%s\r\n", length, exchange->is_keep_alive ? "" : "Connection: close\r\n");
    send_bytes(exchange, head.text, head.len);
    strbuf_done(&head);
}

/* The exchange is over. */
static void end(struct http_exchange *exchange)
{
    if (exchange->connection)
        http_connection_answered(exchange->connection, exchange->is_keep_alive);
    http_exchange_free(exchange);
}

void http_reply(struct http_exchange *exchange, int status, const char *type, const char *body, size_t len)
{
    char length[64] = "";

    if (status != 204 && status != 304)
        (void)snprintf(length, sizeof length, "Content-Length: %zu\r\n", len);
    send_head(exchange, status, type, length);
    if (!exchange->is_head)
        send_bytes(exchange, body, len);
    end(exchange);
}

void http_reply_text(struct http_exchange *exchange, int status, const char *text)
{
    http_reply(exchange, status, "text/plain; charset=utf-8", text, strlen(text));
}

void http_reply_begin(struct http_exchange *exchange, int status, const char *type)
{
    /* A client of HTTP/1.0 knows no chunks: the end of the connection is the end of the answer. */
    exchange->is_chunked = !exchange->is_http_10;
    if (exchange->is_http_10)
        exchange->is_keep_alive = false;
    send_head(exchange, status, type, exchange->is_chunked ? "Transfer-Encoding: chunked\r\n" : "");
}

void http_reply_write(struct http_exchange *exchange, const char *bytes, size_t len)
{
    char size[32];

    if (len == 0 || exchange->is_head)
        return;
    if (exchange->is_chunked)
        send_bytes(exchange, size, (size_t)snprintf(size, sizeof size, "%zx\r\n", len));
    send_bytes(exchange, bytes, len);
    if (exchange->is_chunked)
        send_bytes(exchange, "\r\n", 2);
}

void http_reply_end(struct http_exchange *exchange)
{
    if (exchange->is_chunked && !exchange->is_head)
        send_bytes(exchange, "0\r\n\r\n", 5);
    end(exchange);
}
