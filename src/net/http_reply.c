/* SPDX-License-Identifier: Apache-2.0 */

/* The ways to answer a request. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "net/http_server_internal.h"

enum { HEAD_BYTES_MAX = 32 * 1024 };

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {
        {101, "Switching Protocols"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {301, "Moved Permanently"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
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

static struct iovec part_of(const char *bytes, size_t len)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
}

static void send_parts(struct http_exchange *exchange, const struct iovec *parts, int count)
{
    struct http_connection *connection = exchange->connection;

    if (!connection)
        return;
    stream_writev(connection->stream, parts, count);
    http_connection_watch_peer(connection);
}

void http_reply_head(struct http_exchange *exchange, int status, const char *type, const char *extra, const char *body,
                     size_t len)
{
    const struct http_connection *connection = exchange->connection;
    struct strbuf head;

    /* An answer that comes before the end of the request leaves bytes behind that are no request. */
    if (connection && status != 101 && (connection->stage == STAGE_STREAM || connection->server->is_draining))
        exchange->is_keep_alive = false;
    strbuf_init(&head, HEAD_BYTES_MAX);
    strbuf_addf(&head, "HTTP/1.1 %d %s\r\n", status, reason_of(status));
    if (type)
        strbuf_addf(&head, "Content-Type: %s\r\n", type);
    strbuf_add(&head, exchange->reply_headers.text, exchange->reply_headers.len);
    strbuf_addf(&head, "%s%s\r\n", extra, exchange->is_keep_alive ? "" : "Connection: close\r\n");
    BUG_ON(head.is_cut || exchange->reply_headers.is_cut);
    send_parts(exchange, (struct iovec[]){part_of(head.text, head.len), part_of(body, exchange->is_head ? 0 : len)}, 2);
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
    http_reply_head(exchange, status, type, length, body, len);
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
    http_reply_head(exchange, status, type, exchange->is_chunked ? "Transfer-Encoding: chunked\r\n" : "", NULL, 0);
}

void http_reply_write(struct http_exchange *exchange, const char *bytes, size_t len)
{
    char size[32];

    if (len == 0 || exchange->is_head)
        return;
    if (!exchange->is_chunked) {
        send_parts(exchange, (struct iovec[]){part_of(bytes, len)}, 1);
        return;
    }
    int used = snprintf(size, sizeof size, "%zx\r\n", len);

    send_parts(exchange, (struct iovec[]){part_of(size, (size_t)used), part_of(bytes, len), part_of("\r\n", 2)}, 3);
}

void http_reply_end(struct http_exchange *exchange)
{
    if (exchange->is_chunked && !exchange->is_head)
        send_parts(exchange, (struct iovec[]){part_of("0\r\n\r\n", 5)}, 1);
    end(exchange);
}

size_t http_reply_unsent(const struct http_exchange *exchange)
{
    return exchange->connection ? stream_unsent(exchange->connection->stream) : 0;
}
