/* SPDX-License-Identifier: Apache-2.0 */

/*
 * OpenSSL works between two buffers in memory and never sees the socket: what the peer sent is put into one, what is
 * for the peer is taken from the other. So all waiting is libuv's, plain or not.
 */
#include "net/stream_internal.h"

#include <openssl/err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"

enum { READ_BYTES = 16 * 1024 };

/* A peer that does not take what it asked for is disconnected once so much waits for it. */
enum { UNSENT_MAX = 256 * 1024 * 1024 };

/* A connection that ends: how long the peer may take for the rest, and how long and how much it may still send. */
enum { SENDING_MS = 30000, LINGER_MS = 2000, LINGER_BYTES_MAX = 16 << 20 };

struct stream {
    uv_tcp_t tcp;
    uv_timer_t parting;  // limits the time of a connection that ends
    uv_shutdown_t shutdown;
    SSL *ssl;        // NULL for a plain one
    BIO *from_peer;  // the SSL's
    BIO *to_peer;
    struct stream_handler handler;
    void (*on_closed)(void *arg);  // of stream_close_when_sent()
    void *closed_arg;
    uint64_t written;     // bytes given to libuv
    uint64_t taken_seen;  // of them, taken by the peer when the timer last looked
    size_t lingered;      // bytes discarded
    bool is_closing;      // no more callbacks
    bool is_parting;      // closes when all is sent
    bool is_lingering;    // all is sent
    bool has_ended;       // the handler knows
    bool is_hung_up;      // by us
    int handles;          // of libuv, not yet closed
    char buffer[READ_BYTES];
};

struct write {
    uv_write_t uv;
    struct stream *stream;
    size_t len;
    char bytes[];
};

static void on_handle_closed(uv_handle_t *handle)
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
    uv_close((uv_handle_t *)&stream->tcp, on_handle_closed);
    uv_close((uv_handle_t *)&stream->parting, on_handle_closed);
}

size_t stream_unsent(const struct stream *stream)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&stream->tcp);
}

uint64_t stream_taken(const struct stream *stream)
{
    return stream->written - stream_unsent(stream);
}

int stream_fd(const struct stream *stream)
{
    uv_os_fd_t fd = -1;

    (void)uv_fileno((const uv_handle_t *)&stream->tcp, &fd);
    return fd;
}

const SSL *stream_ssl(const struct stream *stream)
{
    return stream->ssl;
}

/* The end of a connection that was closing by itself. */
static void part(struct stream *stream)
{
    if (stream->is_closing)
        return;
    stream_free(stream);
    if (stream->on_closed)
        stream->on_closed(stream->closed_arg);
}

static void report_end(struct stream *stream, bool is_broken)
{
    if (stream->is_closing)
        return;
    if (stream->is_parting) {
        part(stream);
        return;
    }
    (void)uv_read_stop((uv_stream_t *)&stream->tcp);
    if (stream->has_ended && !is_broken && !stream->is_hung_up)
        return;
    stream->has_ended = true;
    stream->handler.on_end(stream->handler.arg, is_broken || stream->is_hung_up);
}

static void linger(struct stream *stream);

static void on_written(uv_write_t *uv, int status)
{
    struct write *write = (struct write *)uv;
    struct stream *stream = write->stream;

    free(write);
    if (stream->is_closing)
        return;
    if (status < 0)
        report_end(stream, true);
    else if (stream_unsent(stream) > 0)
        return;
    else if (stream->is_parting)
        linger(stream);
    else
        stream->handler.on_drain(stream->handler.arg);
}

static void send_raw(struct stream *stream, struct write *write)
{
    uv_buf_t buffer = uv_buf_init(write->bytes, (unsigned)write->len);

    write->stream = stream;
    stream->written += write->len;
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
            stream->handler.on_read(stream->handler.arg, clear, (size_t)got);
            if (stream->is_closing || stream->is_parting)
                return;
            continue;
        }
        int why = SSL_get_error(stream->ssl, got);

        /* What is left in the queue of errors would be taken for the next one's. */
        ERR_clear_error();
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
            report_end(stream, why != SSL_ERROR_ZERO_RETURN);
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
    if (stream->is_parting && len > 0) {
        stream->lingered += (size_t)len;
        if (stream->lingered > LINGER_BYTES_MAX)
            part(stream);
    } else if (len > 0 && !stream->ssl) {
        stream->handler.on_read(stream->handler.arg, buffer->base, (size_t)len);
    } else if (len > 0 && BIO_write(stream->from_peer, buffer->base, (int)len) == (int)len) {
        decrypt(stream);
    } else {
        report_end(stream, len != UV_EOF);
    }
}

void stream_read_start(struct stream *stream)
{
    if (!stream->has_ended)
        (void)uv_read_start((uv_stream_t *)&stream->tcp, give_buffer, on_bytes);
}

void stream_read_stop(struct stream *stream)
{
    (void)uv_read_stop((uv_stream_t *)&stream->tcp);
}

/* The writes that wait will fail, which the owner learns from the loop: now it is in the middle of something. */
static void hang_up(struct stream *stream)
{
    stream->is_hung_up = true;
    (void)shutdown(stream_fd(stream), SHUT_RDWR);
    stream_read_start(stream);
}

static void encrypt(struct stream *stream, const char *bytes, size_t len)
{
    while (len > 0) {
        int taken = SSL_write(stream->ssl, bytes, (int)MIN(len, (size_t)1 << 20));

        if (taken <= 0)
            break;
        bytes += taken;
        len -= (size_t)taken;
    }
    ERR_clear_error();
}

void stream_writev(struct stream *stream, const struct iovec *parts, int count)
{
    size_t len = 0;

    for (int i = 0; i < count; i++)
        len += parts[i].iov_len;
    if (len == 0 || stream->is_closing || stream->is_parting)
        return;
    if (len > UNSENT_MAX || stream_unsent(stream) > UNSENT_MAX - len) {
        hang_up(stream);
        return;
    }
    if (stream->ssl) {
        for (int i = 0; i < count; i++)
            encrypt(stream, parts[i].iov_base, parts[i].iov_len);
        flush(stream);
        return;
    }
    struct write *write = xmalloc(sizeof *write + len);

    write->len = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > 0)
            memcpy(write->bytes + write->len, parts[i].iov_base, parts[i].iov_len);
        write->len += parts[i].iov_len;
    }
    send_raw(stream, write);
}

void stream_write(struct stream *stream, const char *bytes, size_t len)
{
    struct iovec part_of_it = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};

    stream_writev(stream, &part_of_it, 1);
}

/* A slow peer gets more time as long as it takes something. */
static void on_parting_over(uv_timer_t *timer)
{
    struct stream *stream = timer->data;
    uint64_t taken = stream_taken(stream);

    if (stream->is_lingering || taken - stream->taken_seen < STREAM_PROGRESS_MIN)
        part(stream);
    else
        (void)uv_timer_start(timer, on_parting_over, SENDING_MS, 0);
    stream->taken_seen = taken;
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    struct stream *stream = shutdown->data;

    if (status < 0)
        part(stream);
}

/* Everything is sent. Reads, and throws away, until the peer has read its end or the time is over. */
static void linger(struct stream *stream)
{
    if (stream->is_lingering)
        return;
    stream->is_lingering = true;
    stream->shutdown.data = stream;
    if (stream->has_ended || uv_shutdown(&stream->shutdown, (uv_stream_t *)&stream->tcp, on_shutdown) < 0) {
        part(stream);
        return;
    }
    (void)uv_timer_start(&stream->parting, on_parting_over, LINGER_MS, 0);
    (void)uv_read_start((uv_stream_t *)&stream->tcp, give_buffer, on_bytes);
}

static void on_nothing_to_send(uv_timer_t *timer)
{
    linger(timer->data);
}

void stream_close_when_sent(struct stream *stream, void (*on_closed)(void *arg), void *arg)
{
    if (stream->is_closing || stream->is_parting)
        return;
    if (stream->ssl) {
        (void)SSL_shutdown(stream->ssl);
        ERR_clear_error();
        flush(stream);
    }
    stream->is_parting = true;
    stream->on_closed = on_closed;
    stream->closed_arg = arg;
    (void)uv_read_stop((uv_stream_t *)&stream->tcp);
    /* Also with nothing to send the end comes from the loop, not from here. */
    if (stream_unsent(stream) == 0)
        (void)uv_timer_start(&stream->parting, on_nothing_to_send, 0, 0);
    stream->taken_seen = stream_taken(stream);
    if (stream_unsent(stream) > 0)
        (void)uv_timer_start(&stream->parting, on_parting_over, SENDING_MS, 0);
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

int stream_accept(uv_stream_t *listener, SSL_CTX *context, const struct stream_handler *handler,
                  struct stream **ret_stream)
{
    struct stream *stream = xmalloc(sizeof *stream);

    *stream = (struct stream){.handler = *handler, .handles = 2};
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
