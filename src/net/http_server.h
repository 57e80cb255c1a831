/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macros.h"
#include "base/time.h"

struct err;
struct loop;

/*
 * An HTTP/1.1 server, plain or with TLS, on a TCP port or a Unix socket. This header is the protocol: connections,
 * requests, answers, upgrades. Which handler answers which path is decided by a table of routes, net/rest/rest.h, and
 * servers are started there.
 *
 * A connection carries one request at a time; requests that a client sends ahead wait and are answered in order.
 *
 * Limits. A connection is closed when its client is too slow: with a request that does not arrive within
 * `request_timeout`, with a next request that does not begin within `idle_timeout`, or with an answer of which it takes
 * less than 4 KiB in `idle_timeout`. The head of a request holds at most 64 KiB and 128 headers (431), a body what its
 * route allows (413).
 */
struct http_server;

/*
 * One request and its answer. An exchange is answered exactly once: by http_reply(), by http_reply_begin() to
 * http_reply_end(), or by http_upgrade(), now or later. That call frees it. Until then it stays valid, also when the
 * client or the server is gone; an answer that nobody waits for is discarded.
 */
struct http_exchange;

typedef void (*http_handler_fn)(void *arg, struct http_exchange *exchange);

/* How a request goes on once its head is known. */
struct http_plan {
    http_handler_fn handler;  // called with the whole request, or before its body when that is streamed
    void *arg;
    size_t body_max;        // a larger body is refused with 413
    bool is_body_streamed;  // the handler calls http_body_read(); no part of the body is kept
    bool is_refusal;  // the handler only refuses: a body is discarded, and not asked for when the client offers it
};

/*
 * Decides about a request when its head has been read; fills `plan`. Must not answer yet.
 *
 * on_malformed answers requests that cannot be read or are too large: `status` is 400, 413 or 431. Parts of the request
 * may be missing.
 */
struct http_app {
    void (*on_head)(void *arg, struct http_exchange *exchange, struct http_plan *plan);
    void (*on_malformed)(void *arg, struct http_exchange *exchange, int status, const char *message);
    void (*free)(void *arg);  // with the server; may be NULL
    void *arg;
};

struct http_server_options {
    const char *address;    // of an interface: "127.0.0.1", "0.0.0.0", "::"
    uint16_t port;          // 0: any free port
    const char *unix_path;  // a Unix socket instead of address and port; an existing one is replaced
    uint32_t unix_mode;     // its permissions; 0: 0600
    const char *cert_pem;   // NULL: without TLS
    const char *key_pem;
    const char
        *client_ca_pem;        // clients may identify themselves with certificates of this authority; NULL: they cannot
    uint32_t connections_max;  // 0: 256; one more is closed at once
    nsec_t request_timeout;    // 0: 60 s
    nsec_t idle_timeout;       // 0: 60 s
};

/* Listens. Returns 0 or the error of the system. `app` is copied, and its arg is freed with the server, also on error. */
MUST_CHECK int http_server_start(struct loop *loop, const struct http_server_options *options,
                                 const struct http_app *app, struct http_server **ret_server, struct err *err);

/*
 * Stops gracefully: closes the listening socket and idle connections, cancels long answers (http_on_cancel()), lets the
 * other requests finish, and calls `on_drained` from the loop when all connections have ended or `timeout` is over.
 * The server still has to be freed, in on_drained or at any time before.
 */
void http_server_drain(struct http_server *server, nsec_t timeout, void (*on_drained)(void *arg), void *arg);

/* Closes the socket and all connections at once. Long answers are cancelled from within this call. */
void http_server_free(struct http_server *server);

/* Closes all connections of clients whose verified certificate has this common name, at once, with whatever is under way. */
void http_server_disconnect(struct http_server *server, const char *name);

/* The port that it listens on, which the system has chosen if port 0 was asked for. 0 once it drains. */
uint16_t http_server_port(const struct http_server *server);

/* Applies to new connections; the old certificate stays when this fails. */
MUST_CHECK int http_server_set_certificate(struct http_server *server, const char *cert_pem, const char *key_pem,
                                           struct err *err);

/* Who is at the other end of a connection. */
enum { HTTP_GROUPS_MAX = 16 };

struct http_peer {
    char address[64];  // "10.0.0.7:41022", "[::1]:41022" or "unix"
    bool is_tls;
    bool has_credentials;  // on a Unix socket: of the process that connected, as the kernel tells
    uid_t uid;
    gid_t gid;
    pid_t pid;
    const char *name;  // common name of the client's verified certificate; NULL: it has presented none
    const char *groups[HTTP_GROUPS_MAX];  // its organisations
    size_t group_count;
};

/* The request; all borrowed until it is answered. The peer is NULL when it is gone. */
const char *http_exchange_method(const struct http_exchange *exchange);
const char *http_exchange_path(const struct http_exchange *exchange);                      // as sent, without the query
const char *http_exchange_query(const struct http_exchange *exchange);                     // behind the "?", or ""
const char *http_exchange_header(const struct http_exchange *exchange, const char *name);  // NULL: absent
const char *http_exchange_body(const struct http_exchange *exchange, size_t *ret_len);     // NUL-terminated
bool http_exchange_has_body(const struct http_exchange *exchange);  // one follows the head, perhaps empty
const struct http_peer *http_exchange_peer(struct http_exchange *exchange);

/* The client asks to switch to another protocol; for http_upgrade(). */
bool http_exchange_wants_upgrade(const struct http_exchange *exchange);

/* No one waits for the answer any more. */
bool http_exchange_is_gone(const struct http_exchange *exchange);

/* Something that belongs to the exchange, or to the tunnel that it becomes, and is freed with it; once for each. */
void http_exchange_attach(struct http_exchange *exchange, void *thing, void (*free_thing)(void *thing));
void *http_exchange_attached(const struct http_exchange *exchange);

/*
 * Reads a streamed body: `on_bytes` comes from the loop with each piece, and with NULL at the end of the body. It may
 * answer the exchange at any time; an answer that ends before the body does closes the connection. When the client goes
 * before the end, http_on_cancel() tells.
 */
typedef void (*http_body_fn)(void *arg, const char *bytes, size_t len);
void http_body_read(struct http_exchange *exchange, http_body_fn on_bytes, void *arg);

/* Makes the client wait with the body, and go on. */
void http_body_pause(struct http_exchange *exchange);
void http_body_resume(struct http_exchange *exchange);

/*
 * Calls `fn`, once, when the answer should end: the client has gone or has closed its side, or the server stops. The
 * exchange still has to be answered, in `fn` or soon after. Without this call a client that has only closed its side
 * gets the full answer; with it, an answer that waits for events ends as soon as its reader has gone.
 */
void http_on_cancel(struct http_exchange *exchange, void (*fn)(void *arg), void *arg);

/* Adds a header to the answer, before it is begun. Line ends in names or values are a programming error. */
void http_reply_header(struct http_exchange *exchange, const char *name, const char *value);

/* The whole answer. `type` is the Content-Type; NULL for an answer without a body. */
void http_reply(struct http_exchange *exchange, int status, const char *type, const char *body, size_t len);
void http_reply_text(struct http_exchange *exchange, int status, const char *text);

/* An answer in pieces, each of which is sent at once. */
void http_reply_begin(struct http_exchange *exchange, int status, const char *type);
void http_reply_write(struct http_exchange *exchange, const char *bytes, size_t len);
void http_reply_end(struct http_exchange *exchange);

/* Bytes of the answer that the client has not taken yet: a handler stops writing when there are many, and goes on in
 * `fn`, which comes from the loop whenever all bytes have been taken. More than 256 MiB disconnect the client. */
size_t http_reply_unsent(const struct http_exchange *exchange);
void http_on_drain(struct http_exchange *exchange, void (*fn)(void *arg), void *arg);
