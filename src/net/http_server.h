/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct err;
struct loop;

/*
 * A small HTTP/1.1 server, plain or with TLS, for probes, metrics, webhooks and REST. A request is handed over when all
 * of it has come, within limits; every connection carries one at a time.
 */
struct http_server;

/* One request and its answer. Lives until it is answered, even when the server or the peer is gone by then. */
struct http_exchange;

/* Answers the exchange, now or later, exactly once: http_reply(), or http_reply_begin() to http_reply_end(). */
typedef void (*http_handler_fn)(void *arg, struct http_exchange *exchange);

/* A path that ends in "*" stands for all that begin so. The first row that fits answers. */
struct http_route {
    const char *method;  // "GET" serves HEAD as well
    const char *path;
    http_handler_fn handler;
};

struct http_server_options {
    const char *address;    // of an interface: "127.0.0.1", "0.0.0.0", "::"
    uint16_t port;          // 0: one that is free
    const char *unix_path;  // a socket of this name instead of address and port; one that is there is replaced
    uint32_t unix_mode;     // its permissions; 0: 0600
    const char *cert_pem;   // NULL: without TLS
    const char *key_pem;
    const struct http_route *routes;  // borrowed; unknown paths get 404, other methods 405
    size_t route_count;
    void *arg;                 // of the handlers
    uint32_t connections_max;  // 0: 256; one more is closed at once
    size_t body_max;           // of a request; 0: 1 MiB
    nsec_t idle_timeout;       // for a request to come whole, and between two; 0: 60 s
};

/* Listens. Returns 0 or what the system says. */
MUST_CHECK int http_server_start(struct loop *loop, const struct http_server_options *options,
                                 struct http_server **ret_server, struct err *err);

/* Closes the socket and all connections. */
void http_server_free(struct http_server *server);

/* Where it listens, which is the system's choice when port 0 was asked for. */
uint16_t http_server_port(const struct http_server *server);

/* For the connections from now on; the old certificate stays when this fails. */
MUST_CHECK int http_server_set_certificate(struct http_server *server, const char *cert_pem, const char *key_pem,
                                           struct err *err);

/* The request; all borrowed until it is answered. */
const char *http_exchange_method(const struct http_exchange *exchange);
const char *http_exchange_path(const struct http_exchange *exchange);   // as sent, without the query
const char *http_exchange_query(const struct http_exchange *exchange);  // what follows the "?", or ""
const char *http_exchange_header(const struct http_exchange *exchange, const char *name);  // NULL: not there
const char *http_exchange_body(const struct http_exchange *exchange, size_t *ret_len);     // NUL-terminated

/* The value of a parameter of the query, percent-decoded into `value`; false when it is not there or does not fit. */
bool http_exchange_parameter(const struct http_exchange *exchange, const char *name, char *value, size_t size);

/* Nobody waits for the answer any more. */
bool http_exchange_is_gone(const struct http_exchange *exchange);

/* Adds a header to the answer, before it is begun. Names and values are ours: they hold no line ends. */
void http_reply_header(struct http_exchange *exchange, const char *name, const char *value);

/* The whole answer. `type` is the Content-Type; NULL for an answer without a body. */
void http_reply(struct http_exchange *exchange, int status, const char *type, const char *body, size_t len);
void http_reply_text(struct http_exchange *exchange, int status, const char *text);

/* An answer in pieces. */
void http_reply_begin(struct http_exchange *exchange, int status, const char *type);
void http_reply_write(struct http_exchange *exchange, const char *bytes, size_t len);
void http_reply_end(struct http_exchange *exchange);
