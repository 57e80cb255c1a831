/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <uv.h>

#include "base/macros.h"

struct err;

/*
 * A connection that a client made to us, plain or with TLS. Bytes arrive decrypted through `on_read`; bytes that are
 * written are queued and sent in order. The callbacks come from the loop and may free the stream.
 */
struct stream;

struct stream_handler {
    void (*on_read)(void *arg, const char *bytes, size_t len);

    /* No more bytes will come. The peer has closed its side and may still read ours, unless `is_broken`. */
    void (*on_end)(void *arg, bool is_broken);

    /* Everything that was written has been passed to the system. */
    void (*on_drain)(void *arg);
    void *arg;
};

/* Accepts the next connection of a listening socket. `context` is NULL for a plain one, and is referenced otherwise. */
MUST_CHECK int stream_accept(uv_stream_t *listener, SSL_CTX *context, const struct stream_handler *handler,
                             struct stream **ret_stream);

/* Closes at once; no callback comes after it. */
void stream_free(struct stream *stream);

void stream_read_start(struct stream *stream);
void stream_read_stop(struct stream *stream);

/* Queues all parts, which are copied. A peer that lets too much pile up is disconnected: on_end reports it. */
void stream_writev(struct stream *stream, const struct iovec *parts, int count);
void stream_write(struct stream *stream, const char *bytes, size_t len);

/* Bytes that the peer has not taken yet, and all that it has taken; encrypted ones with TLS. */
size_t stream_unsent(const struct stream *stream);
uint64_t stream_taken(const struct stream *stream);

/* A peer that takes fewer bytes in the time that it is given is too slow. */
enum { STREAM_PROGRESS_MIN = 4096 };

/*
 * Sends the rest, says that no more comes, and discards for a short time what the peer still sends: closing a socket
 * with unread bytes would make the system drop the answer. No callback of the handler comes after it; `on_closed` comes
 * from the loop when the connection is over, unless stream_free() came first.
 */
void stream_close_when_sent(struct stream *stream, void (*on_closed)(void *arg), void *arg);

/* The socket; for its addresses and credentials. */
int stream_fd(const struct stream *stream);

/* NULL for a plain connection. */
const SSL *stream_ssl(const struct stream *stream);

/*
 * A context for serving with this certificate and key, in PEM. With `client_ca_pem` clients may present a certificate,
 * which must then be signed by one of these authorities.
 */
MUST_CHECK int stream_tls_context(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
                                  SSL_CTX **ret_context, struct err *err);
