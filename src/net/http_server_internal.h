/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <llhttp.h>
#include <uv.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "net/http_server.h"
#include "net/loop.h"
#include "net/stream_internal.h"

enum { HEAD_MAX = 64 * 1024, HEADERS_MAX = 128 };

struct http_connection;

struct http_server {
    struct loop *loop;
    uv_tcp_t listener;
    struct http_server_options options;
    SSL_CTX *tls;  // NULL without
    struct http_connection *first;
    uint32_t connections;
    bool is_freed;
};

/* Texts of the head lie one after the other in `head`, each with its NUL; these are offsets. */
struct http_exchange {
    struct http_connection *connection;  // NULL: gone
    struct strbuf head;
    size_t method, path, query;
    struct {
        size_t name, value;
    } headers[HEADERS_MAX];
    uint32_t header_count;
    struct strbuf body;
    struct strbuf reply_headers;
    bool is_head;  // the method is HEAD: no body is sent
    bool is_keep_alive;
    bool is_chunked;  // the answer
    bool is_http_10;
};

struct http_connection {
    struct http_server *server;
    struct http_connection *prev, *next;
    struct stream *stream;
    struct loop_timer timer;
    struct loop_task more;  // goes on with what came too early
    llhttp_t parser;
    struct http_exchange *exchange;  // that is being read or answered
    bool is_answering;               // the exchange is with its handler
    bool is_value;                   // the last piece of a header was of its value
    int refusal;                     // status that the request gets instead of its handler's, 0: none
    struct strbuf early;             // bytes that came while answering
};

/* Takes over a new connection of the listening socket. */
void http_connection_accept(struct http_server *server);
void http_connection_free(struct http_connection *connection);

/* The exchange has been answered: the connection goes on, or ends. */
void http_connection_answered(struct http_connection *connection, bool is_keep_alive);

struct http_exchange *http_exchange_new(struct http_connection *connection, size_t body_max);
void http_exchange_free(struct http_exchange *exchange);

/* Finds who answers, and lets them. */
void http_server_route(const struct http_server *server, struct http_exchange *exchange);
