/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <llhttp.h>
#include <uv.h>

#include "base/list.h"
#include "base/strbuf.h"
#include "net/http_server.h"
#include "net/http_tunnel.h"
#include "net/loop.h"
#include "net/stream_internal.h"

enum {
    HEAD_MAX = 64 * 1024,
    HEADERS_MAX = 128,
    EARLY_MAX = 64 * 1024,    // bytes that are read ahead of their turn
    DISCARD_MAX = 64 * 1024,  // of the body of a request that is refused
};

struct http_connection;

struct http_server {
    struct loop *loop;
    uv_tcp_t *listener;  // frees itself when closed
    struct http_server_options options;
    struct http_app app;
    SSL_CTX *tls;  // NULL without
    char *client_ca_pem;
    struct list connections;
    struct loop_task drain_task;
    struct loop_timer drain_timer;
    void (*on_drained)(void *arg);
    void *drained_arg;
    bool is_draining;
    bool is_overdue;  // the time to drain is over
    bool is_freed;    // by a callback that ends with it
};

struct callback {
    void (*fn)(void *arg);
    void *arg;
};

/* Texts of the head lie one after the other in `head`, each with its NUL; these are offsets. */
struct http_exchange {
    struct loop *loop;
    struct http_connection *connection;  // NULL: gone
    struct strbuf head;
    size_t method, path, query;
    struct {
        size_t name, value;
    } headers[HEADERS_MAX];
    uint32_t header_count;
    struct strbuf body;
    struct strbuf reply_headers;
    void *attached;
    void (*free_attached)(void *thing);
    struct callback cancel;
    struct loop_task cancel_task;  // reports an end that was there before http_on_cancel()
    struct callback drain;
    http_body_fn on_body;
    void *body_arg;
    bool is_head;  // the method is HEAD: no body is sent
    bool is_keep_alive;
    bool is_chunked;  // the answer
    bool is_http_10;
    bool is_upgrade;
    bool has_body;
    bool is_body_paused;
};

/* Where the current request is. */
enum stage {
    STAGE_IDLE,    // none has begun
    STAGE_READ,    // its head or its kept body arrives
    STAGE_STREAM,  // its handler works, and the body arrives
    STAGE_ANSWER,  // its handler works
    STAGE_TUNNEL,
    STAGE_PART,  // the rest is being sent
};

/* Why the parser paused. */
enum pause { PAUSE_NONE, PAUSE_HEAD, PAUSE_BODY, PAUSE_END };

struct http_connection {
    struct http_server *server;
    struct list_link in_server;
    struct stream *stream;
    struct loop_timer timer;
    struct loop_task more;  // goes on with what came too early
    llhttp_t parser;
    struct http_exchange *exchange;  // that is being read or answered
    struct http_plan plan;           // of the exchange
    struct http_tunnel *tunnel;
    enum stage stage;
    enum pause pause;
    const char *piece;  // of a streamed body, with PAUSE_BODY
    size_t piece_len;
    bool has_head;         // what looks like headers are trailers
    size_t trailers_seen;  // bytes of them
    bool is_value;         // the last piece of a header was of its value
    int refusal;           // status that the request gets instead of its handler's answer, 0: none
    bool has_ended;        // the peer has closed its side
    bool is_feeding;       // the parser's caller is on the stack, and frees the connection if it died meanwhile
    bool is_dead;          // with is_feeding
    bool is_drained;       // has been asked to end
    uint64_t taken_seen;   // bytes that the peer had taken when the timer was started
    size_t body_seen;      // bytes of the request's body
    struct strbuf early;   // bytes that came while answering
    size_t early_at;       // of them, used
    struct http_peer peer;
    bool is_identified;  // the peer's certificate has been read
};

/* Accepts a new connection of the listening socket. */
void http_connection_accept(struct http_server *server);
void http_connection_free(struct http_connection *connection);

/* Asks a long answer to end, or a tunnel, or closes an idle connection. */
void http_connection_drain(struct http_connection *connection);

/* The exchange has been answered: the connection goes on, or ends. */
void http_connection_answered(struct http_connection *connection, bool is_keep_alive);

/* Goes on with bytes that wait. */
void http_connection_go_on(struct http_connection *connection);

/* Bytes have been written: from now on the peer has to take them. */
void http_connection_watch_peer(struct http_connection *connection);

/* Closes once everything is sent; the connection is not to be used any more. */
void http_connection_part(struct http_connection *connection);

/* One connection fewer. */
void http_server_connection_ended(struct http_server *server);

/* Prepares the parser; its callbacks fill the connection's exchange and pause after the head of a request whose body is
 * streamed, after each piece of that body, and after the request. */
void http_parser_init(struct http_connection *connection);

struct http_exchange *http_exchange_new(struct http_connection *connection);
void http_exchange_free(struct http_exchange *exchange);

/* Calls on_cancel unless that has happened. */
void http_exchange_cancel(struct http_exchange *exchange);

/* Sends the status line and all headers; `extra` are headers of the server. */
void http_reply_head(struct http_exchange *exchange, int status, const char *type, const char *extra, const char *body,
                     size_t len);

/* Events of a tunnel; each may free it, and its connection. */
bool http_tunnel_is_paused(const struct http_tunnel *tunnel);
void http_tunnel_read(struct http_tunnel *tunnel, const char *bytes, size_t len);
void http_tunnel_ended(struct http_tunnel *tunnel);
void http_tunnel_drained(struct http_tunnel *tunnel);

/* The connection is gone. */
void http_tunnel_cut(struct http_tunnel *tunnel);

/* Fills connection->peer: when it connects, and when the handshake is over. */
void http_peer_find(struct http_connection *connection);
void http_peer_identify(struct http_connection *connection);
void http_peer_done(struct http_peer *peer);
