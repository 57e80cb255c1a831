/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pods/portforward as clients in Python speak it: the ports are in the request, and each has two channels of a WebSocket, for
 * data and for errors. Both begin with the number of the port, the low byte first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "local/streams/forward_internal.h"
#include "local/streams/port_pipe.h"
#include "net/websocket/websocket.h"

enum { UNSENT_MAX = 1 << 20, PER_PORT = 2, PIECE_MAX = 64 << 10 };

struct session;

struct channel {
    struct session *session;
    unsigned number;  // of its data; that of its errors follows
    struct port_pipe pipe;
    bool is_over;
};

struct session {
    struct websocket *socket;
    struct channel *channels;
    size_t count, left;  // left: that are not over
    bool is_paused;
};

static void session_free(struct session *session)
{
    for (size_t i = 0; i < session->count; i++)
        port_pipe_done(&session->channels[i].pipe);
    free(session->channels);
    free(session);
}

static void send_on(const struct session *session, unsigned number, const char *bytes, size_t len)
{
    char message[PIECE_MAX + 1];

    len = MIN(len, (size_t)PIECE_MAX);
    message[0] = (char)number;
    memcpy(message + 1, bytes, len);
    websocket_send(session->socket, message, len + 1);
}

static void on_bytes(void *arg, const char *bytes, size_t len)
{
    struct channel *channel = arg;

    send_on(channel->session, channel->number, bytes, len);
    if (websocket_unsent(channel->session->socket) > UNSENT_MAX)
        port_pipe_pause(&channel->pipe);
}

/* Channels cannot be closed one by one: the end of the last is the end of all. */
static void channel_end(struct channel *channel, const char *problem)
{
    struct session *session = channel->session;

    channel->is_over = true;
    if (problem)
        send_on(session, channel->number + 1, problem, strlen(problem));
    if (--session->left > 0)
        return;
    websocket_close(session->socket, WEBSOCKET_NORMAL);
    session_free(session);
}

static void on_pipe_end(void *arg, const char *problem)
{
    channel_end(arg, problem);
}

static void on_taken(void *arg)
{
    struct session *session = ((struct channel *)arg)->session;

    if (session->is_paused) {
        session->is_paused = false;
        websocket_resume(session->socket);
    }
}

static void on_message(void *arg, const char *bytes, size_t len)
{
    struct session *session = arg;
    unsigned number = len > 0 ? (unsigned char)bytes[0] : 0;
    size_t index = number / PER_PORT;

    if (len < 2 || number % PER_PORT != 0 || index >= session->count || session->channels[index].is_over)
        return;
    struct channel *channel = &session->channels[index];
    port_pipe_write(&channel->pipe, bytes + 1, len - 1, false);
    if (port_pipe_waiting(&channel->pipe) > UNSENT_MAX && !session->is_paused) {
        session->is_paused = true;
        websocket_pause(session->socket);
    }
}

static void on_gone(void *arg)
{
    struct session *session = arg;

    websocket_free(session->socket);
    session_free(session);
}

static void on_drain(void *arg)
{
    struct session *session = arg;

    for (size_t i = 0; i < session->count; i++) {
        struct channel *channel = &session->channels[i];
        bool is_last = session->left == 1;

        if (channel->is_over || port_pipe_resume(&channel->pipe) == 0)
            continue;
        channel_end(channel, "the connection to the port was lost");
        if (is_last)
            return;
    }
}

/* Returns whether the session is still there. */
static bool open_channel(struct channel *channel, struct loop *loop, uint16_t port)
{
    const char begin[] = {(char)(port & 0xff), (char)(port >> 8)};
    bool is_last = channel->session->left == 1;

    for (unsigned i = 0; i < PER_PORT; i++)
        send_on(channel->session, channel->number + i, begin, sizeof begin);
    if (port_pipe_open(&channel->pipe, loop, port) == 0)
        return true;
    channel_end(channel, "an error occurred connecting to the port");
    return !is_last;
}

void forward_channels(struct http_exchange *exchange, struct loop *loop, const char *protocol, const uint16_t *ports,
                      size_t count)
{
    struct session *session = xcalloc(1, sizeof *session);

    session->count = session->left = count;
    session->channels = xcalloc(count, sizeof *session->channels);
    session->socket = websocket_accept(
        exchange, protocol,
        &(struct websocket_handler){.on_message = on_message, .on_end = on_gone, .on_drain = on_drain, .arg = session});
    for (size_t i = 0; i < count; i++)
        session->channels[i] =
            (struct channel){.session = session,
                             .number = (unsigned)i * PER_PORT,
                             .pipe = {.fd = -1, .on_bytes = on_bytes, .on_end = on_pipe_end, .on_taken = on_taken}};
    for (size_t i = 0; i < count; i++)
        session->channels[i].pipe.arg = &session->channels[i];
    if (!session->socket) {
        session_free(session);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!open_channel(&session->channels[i], loop, ports[i]))
            return;
    }
}
