/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pods/portforward. kubectl speaks SPDY/3.1, in a WebSocket or after an upgrade of its own: for each connection to a port
 * two streams of one request, `data` and `error`. What clients in Python speak is in forward_channels.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "local/streams/forward_internal.h"
#include "local/streams/port_pipe.h"
#include "local/streams/streams.h"
#include "net/http_tunnel.h"
#include "net/spdy/spdy.h"
#include "net/websocket/websocket.h"

enum { CONNECTIONS_MAX = 256, UNSENT_MAX = 1 << 20, REQUEST_ID_MAX = 64 };

#define TUNNEL_PROTOCOL "SPDY/3.1+portforward.k8s.io"
#define PLAIN_PROTOCOL "SPDY/3.1"
#define STREAM_PROTOCOL "portforward.k8s.io"
#define LOST "the connection to the port was lost"

struct session;

/* One connection to a port: two streams of the client, and a pipe. */
struct connection {
    struct session *session;
    char id[REQUEST_ID_MAX];
    uint32_t data, error;  // streams; 0: not open yet
    struct port_pipe pipe;
};

struct session {
    struct loop *loop;
    struct websocket *socket;    // one of the two is there
    struct http_tunnel *tunnel;  //
    struct spdy *spdy;
    VEC(struct connection *) connections;
    bool is_paused;  // the client waits for a program
};

/* --- the client's connection --- */

static size_t unsent(const struct session *session)
{
    return session->socket ? websocket_unsent(session->socket) : http_tunnel_unsent(session->tunnel);
}

static void write_bytes(void *arg, const char *bytes, size_t len)
{
    struct session *session = arg;

    if (session->socket)
        websocket_send(session->socket, bytes, len);
    else
        http_tunnel_write(session->tunnel, bytes, len);
}

static void pause_client(struct session *session)
{
    if (session->is_paused)
        return;
    session->is_paused = true;
    if (session->socket)
        websocket_pause(session->socket);
    else
        http_tunnel_pause(session->tunnel);
}

static void resume_client(struct session *session)
{
    if (!session->is_paused)
        return;
    session->is_paused = false;
    if (session->socket)
        websocket_resume(session->socket);
    else
        http_tunnel_resume(session->tunnel);
}

static void connection_free(struct connection *connection)
{
    port_pipe_done(&connection->pipe);
    free(connection);
}

static void session_free(struct session *session)
{
    vec_foreach (&session->connections, connection)
        connection_free(*connection);
    vec_done(&session->connections);
    spdy_free(session->spdy);
    free(session);
}

static void on_gone(void *arg)
{
    struct session *session = arg;

    if (session->socket)
        websocket_free(session->socket);
    else
        http_tunnel_free(session->tunnel);
    session_free(session);
}

/* --- from the port --- */

static void on_bytes(void *arg, const char *bytes, size_t len)
{
    struct connection *connection = arg;
    struct session *session = connection->session;

    spdy_send(session->spdy, connection->data, bytes, len, false);
    if (unsent(session) > UNSENT_MAX)
        port_pipe_pause(&connection->pipe);
}

static void on_taken(void *arg)
{
    resume_client(((struct connection *)arg)->session);
}

static void connection_end(struct connection *connection)
{
    struct session *session = connection->session;

    vec_foreach (&session->connections, at) {
        if (*at == connection) {
            *at = session->connections.items[--session->connections.len];
            break;
        }
    }
    connection_free(connection);
    resume_client(session);
}

/* Any text on the error stream is what the user sees. */
static void on_pipe_end(void *arg, const char *problem)
{
    struct connection *connection = arg;
    struct session *session = connection->session;

    if (connection->error != 0)
        spdy_send(session->spdy, connection->error, problem ? problem : "", problem ? strlen(problem) : 0, true);
    spdy_send(session->spdy, connection->data, "", 0, true);
    connection_end(connection);
}

static void on_drain(void *arg)
{
    struct session *session = arg;

    /* From the end: one that ends gives its place to the last. */
    for (uint32_t i = session->connections.len; i-- > 0;) {
        struct connection *connection = session->connections.items[i];

        if (port_pipe_resume(&connection->pipe) < 0)
            on_pipe_end(connection, LOST);
    }
}

/* --- from the client --- */

static const char *header(const struct spdy_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(headers[i].name, name) == 0)
            return headers[i].value;
    }
    return "";
}

static struct connection *find_by_stream(const struct session *session, uint32_t stream)
{
    vec_foreach (&session->connections, connection) {
        if ((*connection)->data == stream || (*connection)->error == stream)
            return *connection;
    }
    return NULL;
}

/* The connection of a request; a new one for its first stream. NULL: there are too many. */
static struct connection *connection_of(struct session *session, const char *id)
{
    vec_foreach (&session->connections, connection) {
        if (strcmp((*connection)->id, id) == 0)
            return *connection;
    }
    if (session->connections.len >= CONNECTIONS_MAX || strlen(id) >= REQUEST_ID_MAX)
        return NULL;
    struct connection *connection = xcalloc(1, sizeof *connection);
    connection->session = session;
    connection->pipe = (struct port_pipe){
        .fd = -1, .on_bytes = on_bytes, .on_end = on_pipe_end, .on_taken = on_taken, .arg = connection};
    (void)snprintf(connection->id, sizeof connection->id, "%s", id);
    vec_push(&session->connections, connection);
    return connection;
}

static void on_open(void *arg, uint32_t stream, const struct spdy_header *headers, size_t count, bool is_last)
{
    struct session *session = arg;
    const char *type = header(headers, count, "streamtype");
    bool is_data = strcmp(type, "data") == 0;
    uint16_t port = 0;
    struct connection *connection = connection_of(session, header(headers, count, "requestid"));

    if (!connection || (!is_data && strcmp(type, "error") != 0) ||
        (is_data ? connection->data : connection->error) != 0 ||
        forward_port(header(headers, count, "port"), &port) < 0) {
        spdy_reset(session->spdy, stream);
        return;
    }
    *(is_data ? &connection->data : &connection->error) = stream;
    spdy_accept(session->spdy, stream);
    /* kubectl opens the error stream first, and closes its side of it at once. */
    if (!is_data)
        return;
    if (port_pipe_open(&connection->pipe, session->loop, port) < 0)
        spdy_reset(session->spdy, stream);
    else if (is_last)
        port_pipe_write(&connection->pipe, "", 0, true);
}

static void on_data(void *arg, uint32_t stream, const char *bytes, size_t len, bool is_last)
{
    struct session *session = arg;
    struct connection *connection = find_by_stream(session, stream);

    if (!connection || connection->data != stream)
        return;
    port_pipe_write(&connection->pipe, bytes, len, is_last);
    if (port_pipe_waiting(&connection->pipe) > UNSENT_MAX)
        pause_client(session);
}

static void on_reset(void *arg, uint32_t stream)
{
    struct connection *connection = find_by_stream(arg, stream);

    if (connection)
        connection_end(connection);
}

static void on_read(void *arg, const char *bytes, size_t len)
{
    struct session *session = arg;
    struct err err = {0};

    if (spdy_read(session->spdy, bytes, len, &err) == 0)
        return;
    if (session->socket)
        websocket_close(session->socket, WEBSOCKET_PROTOCOL_ERROR);
    else
        http_tunnel_free(session->tunnel);
    session_free(session);
}

/* --- the request --- */

static struct session *session_new(struct loop *loop)
{
    struct session *session = xcalloc(1, sizeof *session);

    session->loop = loop;
    session->spdy = spdy_new(&(struct spdy_handler){
        .on_open = on_open, .on_data = on_data, .on_reset = on_reset, .write = write_bytes, .arg = session});
    return session;
}

void forward_spdy(struct http_exchange *exchange, struct loop *loop, bool is_tunnelled)
{
    struct session *session = session_new(loop);

    if (!is_tunnelled) {
        http_reply_header(exchange, "X-Stream-Protocol-Version", STREAM_PROTOCOL);
        session->tunnel = http_upgrade(
            exchange, PLAIN_PROTOCOL,
            &(struct http_tunnel_handler){.on_read = on_read, .on_end = on_gone, .on_drain = on_drain, .arg = session});
        return;
    }
    session->socket = websocket_accept(
        exchange, TUNNEL_PROTOCOL,
        &(struct websocket_handler){.on_message = on_read, .on_end = on_gone, .on_drain = on_drain, .arg = session});
    if (!session->socket)
        session_free(session);
}
