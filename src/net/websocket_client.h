/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/macros.h"

struct http_request;
struct loop;

/*
 * The client's side of a WebSocket (RFC 6455). Messages come whole, pings are answered. A message of more than
 * WEBSOCKET_CLIENT_MESSAGE_MAX bytes ends the connection.
 */
struct websocket_client;

enum { WEBSOCKET_CLIENT_MESSAGE_MAX = 4 << 20 };

/* The callbacks come from the loop and may free the client. */
struct websocket_client_handler {
    void (*on_message)(void *arg, const char *bytes, size_t len);
    void (*on_end)(void *arg, const struct err *err);  // nothing comes any more; code 0: the server has closed in order
    void (*on_drain)(void *arg);                       // everything that was sent has been taken; may be NULL
    void *arg;
};

/* An answer that is no WebSocket. */
struct websocket_refusal {
    int status;           // 0: there was no answer
    char body[16 << 10];  // as much of it as fits
};

/*
 * Connects as `request` says with its URL, headers, TLS, proxy and socket, and offers the protocols ("a, b"; NULL: none).
 * For programs that have nothing else to do meanwhile: returns when the server has answered, which may take the timeout of
 * the request, or a minute. Returns 0, or what went wrong; `ret_refusal` is always written.
 */
MUST_CHECK int websocket_connect(struct loop *loop, const struct http_request *request, const char *protocols,
                                 const struct websocket_client_handler *handler, struct websocket_client **ret,
                                 struct websocket_refusal *ret_refusal, struct err *err);

/* Closes at once; no callback comes after it. NULL is allowed. */
void websocket_client_free(struct websocket_client *client);

/* The protocol that the server chose; "" for none. */
const char *websocket_client_protocol(const struct websocket_client *client);

/* One binary message, which is copied. */
void websocket_client_send(struct websocket_client *client, const char *bytes, size_t len);
size_t websocket_client_unsent(const struct websocket_client *client);
