/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/macros.h"

struct err;
struct loop;

/*
 * A TCP connection that somebody made to us, plain or with TLS. Bytes come in clear through `on_read`; what is written
 * is queued and sent in order.
 */
struct stream;

/* Bytes have come; `bytes` is NULL when there will be no more: the peer has closed or something broke. */
typedef void (*stream_read_fn)(void *arg, const char *bytes, size_t len);

/* All that was written has been handed to the system. */
typedef void (*stream_drain_fn)(void *arg);

/* The next connection of a listening socket. `context` is NULL for a plain one, and is referenced otherwise. */
MUST_CHECK int stream_accept(uv_stream_t *listener, SSL_CTX *context, stream_read_fn on_read, stream_drain_fn on_drain,
                             void *arg, struct stream **ret_stream);

/* Closes at once; calls back no more. */
void stream_free(struct stream *stream);

void stream_read_start(struct stream *stream);
void stream_read_stop(struct stream *stream);

/* Sends all of it in time; copies. */
void stream_write(struct stream *stream, const char *bytes, size_t len);

/* Closes once everything is sent; calls back no more. The stream is not to be used any more. */
void stream_close_when_sent(struct stream *stream);

/* A context for serving with this certificate and key, in PEM. */
MUST_CHECK int stream_tls_context(const char *cert_pem, const char *key_pem, SSL_CTX **ret_context, struct err *err);
