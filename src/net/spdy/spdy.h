/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "net/spdy/headers.h"

struct err;

/*
 * The server's side of a session of SPDY/3.1. Clients open streams; both sides send data on them. There are no windows: the
 * clients of Kubernetes do not use them, and whoever has the connection lets it wait instead.
 */
struct spdy;

/* Frames that are not data are kept until they are whole, and not longer than this. */
enum { SPDY_CONTROL_MAX = 64 << 10 };

/* The callbacks come from spdy_read() and may write, but not free the session. */
struct spdy_handler {
    void (*on_open)(void *arg, uint32_t stream, const struct spdy_header *headers, size_t count, bool is_last);
    void (*on_data)(void *arg, uint32_t stream, const char *bytes, size_t len, bool is_last);  // in pieces
    void (*on_reset)(void *arg, uint32_t stream);
    void (*write)(void *arg, const char *bytes, size_t len);  // to the client
    void *arg;
};

struct spdy *spdy_new(const struct spdy_handler *handler);
void spdy_free(struct spdy *spdy);

/* Takes bytes of the client. Returns 0, or -EPROTO when the session cannot go on. */
MUST_CHECK int spdy_read(struct spdy *spdy, const char *bytes, size_t len, struct err *err);

/* Accepts a stream. */
void spdy_accept(struct spdy *spdy, uint32_t stream);

/* Sends data; with `is_last` nothing follows. */
void spdy_send(struct spdy *spdy, uint32_t stream, const char *bytes, size_t len, bool is_last);

/* Ends a stream in both directions. */
void spdy_reset(struct spdy *spdy, uint32_t stream);
