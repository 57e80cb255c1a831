/* SPDX-License-Identifier: Apache-2.0 */

/*
 * OpenSSL works between two buffers in memory and never sees the socket: what the peer sent is put into one, what is
 * for the peer is taken from the other. So all waiting is libuv's, plain or not.
 */
#include "net/stream_internal.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"

enum { READ_BYTES = 16 * 1024 };

/* A peer that does not take what it asked for is let go once so much waits for it. */
enum { UNSENT_MAX = 256 * 1024 * 1024 };

struct stream {
    uv_tcp_t tcp;
    uv_timer_t parting;  // ends a peer that does not take the rest
    SSL *ssl;            // NULL for a plain one
    BIO *from_peer;      // the SSL's
    BIO *to_peer;
    stream_read_fn on_read;
    stream_drain_fn on_drain;
    void *arg;
    bool is_closing;  // no more calls back
    bool is_parting;  // closes when all is sent
    int handles;      // of libuv, not yet closed
    char buffer[READ_BYTES];
};

struct write {
    uv_write_t uv;
    struct stream *stream;
    size_t len;
    char bytes[];
};

static void on_closed(uv_handle_t *handle)
{
    struct stream *stream = handle->data;

    if (--stream->handles > 0)
        return;
    SSL_free(stream->ssl);
    free(stream);
}

void stream_free(struct stream *stream)
{
    if (!stream || stream->is_closing)
        return;
    stream->is_closing = true;
    uv_close((uv_handle_t *)&stream->tcp, on_closed);
    uv_close((uv_handle_t *)&stream->parting, on_closed);
}

/* Bytes that wait for the peer to take them. */
static size_t unsent(const struct stream *stream)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&stream->tcp);
}

/* The owner learns of it and lets go. */
static void break_off(struct stream *stream)
{
    if (stream->is_closing)
        return;
    if (stream->is_parting) {
        stream_free(stream);
        return;
    }
    (void)uv_read_stop((uv_stream_t *)&stream->tcp);
    stream->on_read(stream->arg, NULL, 0);
}

static void on_written(uv_write_t *uv, int status)
{
    struct write *write = (struct write *)uv;
    struct stream *stream = write->stream;

    free(write);
    if (stream->is_closing)
        return;
    if (status < 0) {
        break_off(stream);
        return;
    }
    if (unsent(stream) > 0)
        return;
    if (stream->is_parting)
        stream_free(stream);
    else
        stream->on_drain(stream->arg);
}

static void send_raw(struct stream *stream, struct write *write)
{
    uv_buf_t buffer = uv_buf_init(write->bytes, (unsigned)write->len);

    write->stream = stream;
    if (uv_write(&write->uv, (uv_stream_t *)&stream->tcp, &buffer, 1, on_written) < 0)
        free(write);
}

/* Sends what OpenSSL has for the peer. */
static void flush(struct stream *stream)
{
    for (size_t waiting; (waiting = BIO_ctrl_pending(stream->to_peer)) > 0;) {
        size_t len = MIN(waiting, (size_t)1 << 20);
        struct write *write = xmalloc(sizeof *write + len);
        int got = BIO_read(stream->to_peer, write->bytes, (int)len);

        if (got <= 0) {
            free(write);
            return;
        }
        write->len = (size_t)got;
        send_raw(stream, write);
    }
}

/* Decrypts what has come; also drives the handshake. */
static void decrypt(struct stream *stream)
{
    char clear[16 * 1024];

    for (;;) {
        int got = SSL_read(stream->ssl, clear, sizeof clear);

        flush(stream);
        if (got > 0) {
            stream->on_read(stream->arg, clear, (size_t)got);
            if (stream->is_closing || stream->is_parting)
                return;
            continue;
        }
        int why = SSL_get_error(stream->ssl, got);

        /* What is left in the queue of errors would be taken for the next one's. */
        ERR_clear_error();
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
            break_off(stream);
        return;
    }
}

static void give_buffer(uv_handle_t *handle, size_t wanted, uv_buf_t *ret_buffer)
{
    struct stream *stream = handle->data;

    (void)wanted;
    *ret_buffer = uv_buf_init(stream->buffer, sizeof stream->buffer);
}

static void on_bytes(uv_stream_t *uv, ssize_t len, const uv_buf_t *buffer)
{
    struct stream *stream = uv->data;

    if (stream->is_closing || len == 0)
        return;
    if (len > 0 && !stream->ssl)
        stream->on_read(stream->arg, buffer->base, (size_t)len);
    else if (len > 0 && BIO_write(stream->from_peer, buffer->base, (int)len) == (int)len)
        decrypt(stream);
    else
        break_off(stream);
}

void stream_read_start(struct stream *stream)
{
    (void)uv_read_start((uv_stream_t *)&stream->tcp, give_buffer, on_bytes);
}

void stream_read_stop(struct stream *stream)
{
    (void)uv_read_stop((uv_stream_t *)&stream->tcp);
}

/* The writes that wait will fail, which the owner learns from the loop: now it is in the middle of something. */
static void hang_up(struct stream *stream)
{
    uv_os_fd_t fd = -1;

    if (uv_fileno((const uv_handle_t *)&stream->tcp, &fd) == 0)
        (void)shutdown(fd, SHUT_RDWR);
}

void stream_write(struct stream *stream, const char *bytes, size_t len)
{
    if (len == 0 || stream->is_closing)
        return;
    if (len > UNSENT_MAX || unsent(stream) > UNSENT_MAX - len) {
        hang_up(stream);
        return;
    }
    if (!stream->ssl) {
        struct write *write = xmalloc(sizeof *write + len);

        write->len = len;
        memcpy(write->bytes, bytes, len);
        send_raw(stream, write);
        return;
    }
    while (len > 0) {
        int taken = SSL_write(stream->ssl, bytes, (int)MIN(len, (size_t)1 << 20));

        if (taken <= 0)
            break;
        bytes += taken;
        len -= (size_t)taken;
    }
    ERR_clear_error();
    flush(stream);
}

static void on_parting_over(uv_timer_t *timer)
{
    stream_free(timer->data);
}

void stream_close_when_sent(struct stream *stream)
{
    if (stream->is_closing || stream->is_parting)
        return;
    if (stream->ssl) {
        (void)SSL_shutdown(stream->ssl);
        ERR_clear_error();
        flush(stream);
    }
    stream->is_parting = true;
    (void)uv_read_stop((uv_stream_t *)&stream->tcp);
    if (unsent(stream) == 0)
        stream_free(stream);
    else
        (void)uv_timer_start(&stream->parting, on_parting_over, 30000, 0);
}

static void set_tls(struct stream *stream, SSL_CTX *context)
{
    stream->ssl = SSL_new(context);
    stream->from_peer = BIO_new(BIO_s_mem());
    stream->to_peer = BIO_new(BIO_s_mem());
    BUG_ON(!stream->ssl || !stream->from_peer || !stream->to_peer);
    SSL_set_bio(stream->ssl, stream->from_peer, stream->to_peer);
    SSL_set_accept_state(stream->ssl);
}

int stream_accept(uv_stream_t *listener, SSL_CTX *context, stream_read_fn on_read, stream_drain_fn on_drain, void *arg,
                  struct stream **ret_stream)
{
    struct stream *stream = xmalloc(sizeof *stream);

    *stream = (struct stream){.on_read = on_read, .on_drain = on_drain, .arg = arg, .handles = 2};
    BUG_ON(uv_tcp_init(listener->loop, &stream->tcp) < 0 || uv_timer_init(listener->loop, &stream->parting) < 0);
    stream->tcp.data = stream->parting.data = stream;
    int r = uv_accept(listener, (uv_stream_t *)&stream->tcp);
    if (r < 0) {
        stream_free(stream);
        return r;
    }
    (void)uv_tcp_nodelay(&stream->tcp, 1);
    if (context)
        set_tls(stream, context);
    *ret_stream = stream;
    return 0;
}
