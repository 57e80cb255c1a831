/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pods/exec and pods/attach. The messages of the client's WebSocket and the packets of the process beside the pod have the
 * same form, a channel and bytes, and are handed on as they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "local/machines/relay.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/shim/connect.h"
#include "local/shim/pipes/writer.h"
#include "local/shim/shim.h"
#include "local/streams/streams.h"
#include "local/streams/target.h"
#include "net/http_server.h"
#include "net/rest/rest.h"
#include "net/watch.h"
#include "net/websocket/websocket.h"
#include "text/json.h"

enum { UNSENT_MAX = 1 << 20, WORDS_MAX = 1024 };

static const char *const protocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};

struct remote {
    struct loop *loop;
    struct websocket *socket;
    int fd;
    struct loop_watch watch;
    struct writer out;
    bool is_paused;    // the client waits for the pod
    bool has_closing;  // of channels: version 5
};

static void on_packet(void *arg);

static void remote_free(struct remote *remote)
{
    loop_watch_done(&remote->watch);
    writer_done(&remote->out);
    (void)close(remote->fd);
    free(remote);
}

/* --- from the client --- */

static void on_message(void *arg, const char *bytes, size_t len)
{
    struct remote *remote = arg;
    unsigned char channel = len > 0 ? (unsigned char)bytes[0] : 0;

    if (len == 0 || (channel == CHANNEL_CLOSE && !remote->has_closing))
        return;
    /* Packets are smaller than messages may be. */
    for (size_t at = 1; at < len || len == 1;) {
        char packet[SHIM_PACKET_MAX];
        size_t part = MIN(len - at, sizeof packet - 1);

        packet[0] = bytes[0];
        memcpy(packet + 1, bytes + at, part);
        writer_add(&remote->out, packet, part + 1);
        at += part;
        if (at >= len)
            break;
    }
    if (remote->out.waiting > UNSENT_MAX && !remote->is_paused) {
        remote->is_paused = true;
        websocket_pause(remote->socket);
    }
}

static void on_written(void *arg)
{
    struct remote *remote = arg;

    if (remote->is_paused) {
        remote->is_paused = false;
        websocket_resume(remote->socket);
    }
}

static void on_gone(void *arg)
{
    struct remote *remote = arg;

    websocket_free(remote->socket);
    remote_free(remote);
}

/* --- to the client --- */

static void on_drain(void *arg)
{
    struct remote *remote = arg;

    if (!remote->watch.handle && loop_watch_start(&remote->watch, remote->loop, remote->fd, on_packet, remote) < 0)
        on_gone(remote);
}

static void on_packet(void *arg)
{
    struct remote *remote = arg;
    char packet[SHIM_PACKET_MAX];
    ssize_t n = recv(remote->fd, packet, sizeof packet, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        websocket_close(remote->socket, WEBSOCKET_NORMAL);
        remote_free(remote);
        return;
    }
    websocket_send(remote->socket, packet, (size_t)n);
    if (websocket_unsent(remote->socket) > UNSENT_MAX)
        loop_watch_done(&remote->watch);
}

/* --- the request --- */

static bool is_set(struct request *request, const char *name)
{
    return request_query_is_true(request, name);
}

/* What the process beside the pod is asked for; to be freed by the caller. NULL when it is too long. */
static char *order_of(struct request *request, const char *container)
{
    static const char *const flags[] = {"stdin", "stdout", "stderr", "tty"};
    const char *name, *value;
    struct strbuf text;
    size_t words = 0;

    strbuf_init(&text, SHIM_PACKET_MAX - 1);
    strbuf_addf(&text, "{\"op\":\"%s\",\"container\":", request->subresource);
    json_add_string(&text, container);
    strbuf_addstr(&text, ",\"command\":[");
    for (size_t at = 0; rest_query_next(request->exchange, &at, &name, &value);) {
        if (strcmp(name, "command") != 0)
            continue;
        strbuf_addstr(&text, words++ > 0 ? "," : "");
        json_add_string(&text, value);
    }
    strbuf_addch(&text, ']');
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        strbuf_addf(&text, ",\"%s\":%s", flags[i], is_set(request, flags[i]) ? "true" : "false");
    strbuf_addch(&text, '}');
    bool is_good = !text.is_cut && words <= WORDS_MAX;
    char *order = strbuf_take(&text);
    if (!is_good)
        free(TAKE_PTR(order));
    return order;
}

/* What is wrong is said before the upgrade, and the same to clients of every protocol. False after an answer. */
static bool check(struct request *request, const struct target *target)
{
    bool is_exec = strcmp(request->subresource, "exec") == 0;

    if (!is_set(request, "stdin") && !is_set(request, "stdout") && !is_set(request, "stderr"))
        fail_bad(request, "you must specify at least 1 of stdin, stdout, stderr");
    else if (is_exec && !rest_query(request->exchange, "command"))
        fail_bad(request, "you must specify at least 1 command for the container");
    else if (!relay_is_needed(request->server, target->pod) &&
             !target_run(target->folder, target->container).is_running)
        fail_bad(request, "container \"%s\" in pod \"%s\" is not running", target->container, request->name);
    else if (!websocket_is_wanted(request->exchange))
        fail_bad(request, "Upgrade request required: this server supports WebSocket, not SPDY/3.1");
    else if (!websocket_protocol(request->exchange, protocols, ARRAY_LEN(protocols)))
        fail_bad(request, "none of the protocols of the client is known: v5.channel.k8s.io, v4.channel.k8s.io");
    else
        return true;
    return false;
}

static void start(struct request *request, int fd, const char *order)
{
    const char *protocol = websocket_protocol(request->exchange, protocols, ARRAY_LEN(protocols));
    struct remote *remote = xcalloc(1, sizeof *remote);
    struct http_exchange *exchange = request->exchange;

    *remote = (struct remote){.loop = request->server->loop, .fd = fd, .has_closing = protocol == protocols[0]};
    if (writer_init(&remote->out, remote->loop, fd, true) < 0) {
        fail_internal(request, "the container cannot be reached");
        remote_free(remote);
        return;
    }
    request_end(request);
    remote->out.on_drain = on_written;
    remote->out.arg = remote;
    writer_add(&remote->out, order, strlen(order));
    remote->socket = websocket_accept(
        exchange, protocol,
        &(struct websocket_handler){.on_message = on_message, .on_end = on_gone, .on_drain = on_drain, .arg = remote});
    if (!remote->socket)
        remote_free(remote);
    else if (loop_watch_start(&remote->watch, remote->loop, remote->fd, on_packet, remote) < 0)
        on_gone(remote);
}

void serve_remote(struct request *request)
{
    struct target target;

    if (request->verb != VERB_GET && request->verb != VERB_CREATE) {
        fail_method(request);
        return;
    }
    if (!target_find(request, &target))
        return;
    if (!check(request, &target)) {
        target_done(&target);
        return;
    }
    _cleanup_(freep) char *order = order_of(request, target.container);
    bool is_elsewhere = relay_is_needed(request->server, target.pod);
    int fd = order && !is_elsewhere ? shim_connect(target.folder) : -1;
    if (!order)
        fail_bad(request, "the command is too long");
    else if (is_elsewhere)
        relay_start(request, target.pod, order,
                    websocket_protocol(request->exchange, protocols, ARRAY_LEN(protocols)) == protocols[0] ? RELAY_V5
                                                                                                           : RELAY_V4);
    else if (fd < 0)
        fail_bad(request, "container \"%s\" in pod \"%s\" is not running", target.container, request->name);
    else
        start(request, fd, order);
    target_done(&target);
}
