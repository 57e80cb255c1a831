/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_exchange;

/*
 * The server's side of a WebSocket (RFC 6455). Messages come whole; pings are answered, and a close of the client as well.
 * Messages of more than WEBSOCKET_MESSAGE_MAX bytes end the connection.
 */
struct websocket;

enum { WEBSOCKET_MESSAGE_MAX = 1 << 20 };
enum { WEBSOCKET_NORMAL = 1000, WEBSOCKET_PROTOCOL_ERROR = 1002, WEBSOCKET_INTERNAL_ERROR = 1011 };

/* The callbacks come from the loop and may free the socket. */
struct websocket_handler {
    void (*on_message)(void *arg, const char *bytes, size_t len);
    void (*on_end)(void *arg);    // nothing comes any more: free the socket
    void (*on_drain)(void *arg);  // everything that was sent has been taken; may be NULL
    void *arg;
};

/* Whether the request asks for a WebSocket. */
bool websocket_is_wanted(const struct http_exchange *exchange);

/* The first of our protocols that the client offers; NULL when it offers none of them. */
const char *websocket_protocol(const struct http_exchange *exchange, const char *const *protocols, size_t count);

/* Answers the exchange, which wants a WebSocket, and frees it. NULL, after an answer of 400, for a broken request. */
struct websocket *websocket_accept(struct http_exchange *exchange, const char *protocol,
                                   const struct websocket_handler *handler);

/* Closes at once; no callback comes after it. */
void websocket_free(struct websocket *socket);

/* Says why, sends the rest, and frees. No callback comes after it. */
void websocket_close(struct websocket *socket, unsigned code);

/* One binary message. */
void websocket_send(struct websocket *socket, const char *bytes, size_t len);
size_t websocket_unsent(const struct websocket *socket);

/* Lets the client wait, and go on. */
void websocket_pause(struct websocket *socket);
void websocket_resume(struct websocket *socket);
