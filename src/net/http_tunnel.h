/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "net/http_server.h"

/*
 * A connection that has left HTTP by an upgrade (101), for WebSocket, SPDY and their like: bytes in both directions,
 * in clear also when the connection has TLS. It counts as a connection of its server and ends with it.
 */
struct http_tunnel;

/* The callbacks come from the loop and may free the tunnel. */
struct http_tunnel_handler {
    void (*on_read)(void *arg, const char *bytes, size_t len);

    /* Nothing can be read any more: the peer has closed, the connection broke or the server stops. Free the tunnel. */
    void (*on_end)(void *arg);

    /* All that was written has been taken. May be NULL. */
    void (*on_drain)(void *arg);
    void *arg;
};

/*
 * Answers the exchange with 101 to `protocol`, with the headers that http_reply_header() added. Bytes that the client
 * sent ahead arrive by on_read first. If the client is gone the tunnel has ended, and on_end comes all the same. The
 * request must have asked for an upgrade, http_exchange_wants_upgrade().
 */
struct http_tunnel *http_upgrade(struct http_exchange *exchange, const char *protocol,
                                 const struct http_tunnel_handler *handler);

/* Closes at once. No callback comes after it. */
void http_tunnel_free(struct http_tunnel *tunnel);

/* Sends what has been written, then closes and frees. No callback comes after it. */
void http_tunnel_close(struct http_tunnel *tunnel);

void http_tunnel_write(struct http_tunnel *tunnel, const char *bytes, size_t len);
size_t http_tunnel_unsent(const struct http_tunnel *tunnel);

/* Lets the peer wait, and go on. */
void http_tunnel_pause(struct http_tunnel *tunnel);
void http_tunnel_resume(struct http_tunnel *tunnel);
