/* SPDX-License-Identifier: Apache-2.0 */

/* wslay reads and writes the frames; the bytes come and go through a tunnel. */
#include "net/websocket/websocket.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <wslay/wslay.h>

#include "base/mem.h"
#include "net/http_server.h"
#include "net/http_tunnel.h"
#include "net/websocket/key.h"

struct websocket {
    struct http_tunnel *tunnel;
    wslay_event_context_ptr context;
    struct websocket_handler handler;
    const char *bytes;  // that have come and are not read yet, during a callback of the tunnel
    size_t len;
    bool is_reading;  // callbacks of the handler may come: it is freed when they are over
    bool is_freed;
};

bool websocket_is_wanted(const struct http_exchange *exchange)
{
    const char *upgrade = http_exchange_header(exchange, "Upgrade");

    return http_exchange_wants_upgrade(exchange) && upgrade && strcasecmp(upgrade, "websocket") == 0;
}

static bool offers(const char *list, const char *protocol)
{
    size_t len = strlen(protocol);

    for (const char *at = list; at && *at;) {
        at += strspn(at, ", \t");
        size_t word = strcspn(at, ", \t");

        if (word == len && strncmp(at, protocol, len) == 0)
            return true;
        at += word;
    }
    return false;
}

const char *websocket_protocol(const struct http_exchange *exchange, const char *const *protocols, size_t count)
{
    const char *list = http_exchange_header(exchange, "Sec-WebSocket-Protocol");

    for (size_t i = 0; i < count; i++) {
        if (offers(list, protocols[i]))
            return protocols[i];
    }
    return NULL;
}

/* --- wslay's callbacks --- */

static ssize_t give_bytes(wslay_event_context_ptr context, uint8_t *buffer, size_t len, int flags, void *arg)
{
    struct websocket *socket = arg;
    size_t part = len < socket->len ? len : socket->len;

    (void)flags;
    if (part == 0 || socket->is_freed) {
        wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(buffer, socket->bytes, part);
    socket->bytes += part;
    socket->len -= part;
    return (ssize_t)part;
}

static ssize_t take_bytes(wslay_event_context_ptr context, const uint8_t *bytes, size_t len, int flags, void *arg)
{
    struct websocket *socket = arg;

    (void)context;
    (void)flags;
    http_tunnel_write(socket->tunnel, (const char *)bytes, len);
    return (ssize_t)len;
}

static void on_message(wslay_event_context_ptr context, const struct wslay_event_on_msg_recv_arg *message, void *arg)
{
    struct websocket *socket = arg;

    (void)context;
    if (!socket->is_freed && (message->opcode == WSLAY_BINARY_FRAME || message->opcode == WSLAY_TEXT_FRAME))
        socket->handler.on_message(socket->handler.arg, (const char *)message->msg, message->msg_length);
}

/* --- the tunnel's --- */

static void destroy(struct websocket *socket)
{
    wslay_event_context_free(socket->context);
    free(socket);
}

static void on_read(void *arg, const char *bytes, size_t len)
{
    struct websocket *socket = arg;

    socket->bytes = bytes;
    socket->len = len;
    socket->is_reading = true;
    bool is_broken = wslay_event_recv(socket->context) < 0;
    socket->is_reading = false;
    if (socket->is_freed) {
        destroy(socket);
        return;
    }
    (void)wslay_event_send(socket->context);
    if (is_broken || wslay_event_get_close_received(socket->context))
        socket->handler.on_end(socket->handler.arg);
}

static void on_end(void *arg)
{
    struct websocket *socket = arg;

    socket->handler.on_end(socket->handler.arg);
}

static void on_drain(void *arg)
{
    struct websocket *socket = arg;

    if (socket->handler.on_drain)
        socket->handler.on_drain(socket->handler.arg);
}

struct websocket *websocket_accept(struct http_exchange *exchange, const char *protocol,
                                   const struct websocket_handler *handler)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = give_bytes, .send_callback = take_bytes, .on_msg_recv_callback = on_message};
    const char *key = http_exchange_header(exchange, "Sec-WebSocket-Key");
    const char *version = http_exchange_header(exchange, "Sec-WebSocket-Version");
    struct websocket *socket = xcalloc(1, sizeof *socket);
    char accept[WEBSOCKET_ACCEPT_BYTES] = "";

    socket->handler = *handler;
    if (!key || strlen(key) != WEBSOCKET_KEY_LEN || !version || strcmp(version, "13") != 0 ||
        !websocket_key_answer(key, accept) ||
        wslay_event_context_server_init(&socket->context, &callbacks, socket) < 0) {
        http_reply_text(exchange, 400, "the request for a WebSocket is malformed\n");
        free(socket);
        return NULL;
    }
    wslay_event_config_set_max_recv_msg_length(socket->context, WEBSOCKET_MESSAGE_MAX);
    http_reply_header(exchange, "Sec-WebSocket-Accept", accept);
    if (protocol)
        http_reply_header(exchange, "Sec-WebSocket-Protocol", protocol);
    socket->tunnel = http_upgrade(
        exchange, "websocket",
        &(struct http_tunnel_handler){.on_read = on_read, .on_end = on_end, .on_drain = on_drain, .arg = socket});
    return socket;
}

static void forget(struct websocket *socket)
{
    socket->tunnel = NULL;
    socket->is_freed = true;
    if (!socket->is_reading)
        destroy(socket);
}

void websocket_free(struct websocket *socket)
{
    http_tunnel_free(socket->tunnel);
    forget(socket);
}

void websocket_close(struct websocket *socket, unsigned code)
{
    (void)wslay_event_queue_close(socket->context, (uint16_t)code, NULL, 0);
    (void)wslay_event_send(socket->context);
    http_tunnel_close(socket->tunnel);
    forget(socket);
}

void websocket_send(struct websocket *socket, const char *bytes, size_t len)
{
    const struct wslay_event_msg message = {
        .opcode = WSLAY_BINARY_FRAME, .msg = (const uint8_t *)bytes, .msg_length = len};

    if (wslay_event_queue_msg(socket->context, &message) == 0)
        (void)wslay_event_send(socket->context);
}

size_t websocket_unsent(const struct websocket *socket)
{
    return http_tunnel_unsent(socket->tunnel);
}

void websocket_pause(struct websocket *socket)
{
    http_tunnel_pause(socket->tunnel);
}

void websocket_resume(struct websocket *socket)
{
    http_tunnel_resume(socket->tunnel);
}
