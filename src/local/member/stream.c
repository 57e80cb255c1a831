/* SPDX-License-Identifier: Apache-2.0 */
#include "local/member/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/config.h"
#include "kube/client/client.h"
#include "kube/client/meta.h"
#include "kube/client/websocket.h"
#include "local/api/names.h"
#include "local/controllers/values.h"
#include "local/machines/relay.h"
#include "local/member/member.h"
#include "local/server/files.h"
#include "local/shim/connect.h"
#include "local/shim/pipes/writer.h"
#include "local/shim/shim.h"
#include "local/streams/log_reader.h"
#include "local/streams/target.h"
#include "net/loop_thread.h"
#include "net/watch.h"
#include "net/websocket_client.h"
#include "text/json.h"

/* What the pod has not taken of its input: the control machine holds back what comes after a part of this. */
enum { UNSENT_MAX = 1 << 20, UNTAKEN_MAX = 64 << 20, PATH_MAX_BYTES = 256, VERDICT_MAX = 4096 };

struct stream {
    /* Of the thread that has started it. */
    struct loop_thread *thread;
    struct loop_watch ended;
    int ended_fd;
    void (*on_end)(void *arg, struct stream *stream);
    void *arg;

    /* Of its own thread. */
    char *folder;  // of the membership
    yyjson_doc *order;
    struct kube_client *client;
    struct websocket_client *socket;
    struct log_reader *log;
    int fd;  // to the process beside the pod; -1: none
    struct loop_watch watch;
    struct writer out;
    bool is_over;
};

static struct loop *own_loop(const struct stream *stream)
{
    return loop_thread_loop(stream->thread);
}

/* Ends the thread; the other one does the rest. */
static void finish(struct stream *stream)
{
    const uint64_t one = 1;

    if (stream->is_over)
        return;
    stream->is_over = true;
    if (stream->log)
        log_reader_free(TAKE_PTR(stream->log));
    loop_watch_done(&stream->watch);
    writer_done(&stream->out);
    if (stream->fd >= 0)
        (void)close(stream->fd);
    stream->fd = -1;
    websocket_client_free(TAKE_PTR(stream->socket));
    if (stream->client)
        kube_client_free(TAKE_PTR(stream->client));
    loop_stop(own_loop(stream));
    if (write(stream->ended_fd, &one, sizeof one) < 0)
        abort();
}

/* --- from the control machine --- */

static void on_message(void *arg, const char *bytes, size_t len)
{
    struct stream *stream = arg;

    if (stream->fd < 0 || len == 0)
        return;
    /* Packets are smaller than messages may be. */
    for (size_t at = 1; at < len || len == 1;) {
        char packet[SHIM_PACKET_MAX];
        size_t part = MIN(len - at, sizeof packet - 1);

        packet[0] = bytes[0];
        memcpy(packet + 1, bytes + at, part);
        writer_add(&stream->out, packet, part + 1);
        at += part;
        if (at >= len)
            break;
    }
    if (stream->out.waiting > UNTAKEN_MAX)
        finish(stream);
}

static void on_socket_end(void *arg, const struct err *err)
{
    (void)err;
    finish(arg);
}

/* --- to the control machine --- */

static void on_packet(void *arg)
{
    struct stream *stream = arg;
    char packet[SHIM_PACKET_MAX];
    ssize_t n = recv(stream->fd, packet, sizeof packet, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        /* What was sent is still on its way: on_drain() ends it. */
        loop_watch_done(&stream->watch);
        (void)close(stream->fd);
        stream->fd = -1;
        if (websocket_client_unsent(stream->socket) == 0)
            finish(stream);
        return;
    }
    websocket_client_send(stream->socket, packet, (size_t)n);
    if (websocket_client_unsent(stream->socket) > UNSENT_MAX)
        loop_watch_done(&stream->watch);
}

static void on_drain(void *arg)
{
    struct stream *stream = arg;

    if (stream->log)
        log_reader_pump(stream->log);
    else if (stream->fd < 0 || (!stream->watch.handle &&
                                loop_watch_start(&stream->watch, own_loop(stream), stream->fd, on_packet, stream) < 0))
        finish(stream);
}

static void write_log(void *arg, const char *bytes, size_t len)
{
    websocket_client_send(((struct stream *)arg)->socket, bytes, len);
}

static size_t log_unsent(void *arg)
{
    return websocket_client_unsent(((struct stream *)arg)->socket);
}

static void end_log(void *arg)
{
    struct stream *stream = arg;

    stream->log = NULL;
    if (websocket_client_unsent(stream->socket) == 0)
        finish(stream);
}

/* --- the order --- */

static void send_verdict(struct stream *stream, const struct err *err)
{
    struct strbuf text;

    strbuf_init(&text, VERDICT_MAX);
    strbuf_addch(&text, '{');
    if (err->code < 0) {
        strbuf_addstr(&text, "\"message\":");
        json_add_string(&text, err->text);
    }
    strbuf_addch(&text, '}');
    websocket_client_send(stream->socket, text.text, text.len);
    strbuf_done(&text);
}

static int open_log(struct stream *stream, const struct log_place *place, yyjson_val *order, struct err *err)
{
    const struct log_sink sink = {.write = write_log, .unsent = log_unsent, .end = end_log, .arg = stream};
    struct log_options options;
    unsigned run = 0;

    log_options_decode(&options, order);
    int r = log_run_find(place, &options, &run, err);
    if (r == 0)
        stream->log = log_reader_new(own_loop(stream), place, &options, run, &sink);
    return r;
}

static int open_command(struct stream *stream, const struct log_place *place, yyjson_val *order, struct err *err)
{
    _cleanup_(freep) char *text = yyjson_val_write(order, 0, NULL);

    stream->fd = target_run(place->folder, place->container).is_running ? shim_connect(place->folder) : -1;
    if (stream->fd < 0 || !text || writer_init(&stream->out, own_loop(stream), stream->fd, true) < 0)
        return err_set(err, -EINVAL, "container \"%s\" in pod \"%s\" is not running", place->container, place->pod);
    writer_add(&stream->out, text, strlen(text));
    return 0;
}

/* Names in it become paths. */
static int open_order(struct stream *stream, struct err *err)
{
    yyjson_val *root = yyjson_doc_get_root(stream->order), *order = value_at(root, "order");
    const char *uid = kube_text(root, "pod"), *container = kube_text(order, "container");
    _cleanup_(freep) char *pods = file_path(stream->folder, "pods");
    _cleanup_(freep) char *folder = file_path(pods, uid);
    const struct log_place place = {.folder = folder, .container = container, .pod = kube_text(root, "name")};

    if (!name_is_subdomain(uid) || !name_is_label(container))
        return err_set(err, -EINVAL, "there is no such pod on this machine");
    return strcmp(kube_text(order, "op"), "log") == 0 ? open_log(stream, &place, order, err)
                                                      : open_command(stream, &place, order, err);
}

static void serve(struct stream *stream)
{
    struct err err = {0};

    (void)open_order(stream, &err);
    send_verdict(stream, &err);
    if (stream->log)
        log_reader_pump(stream->log);
    else if (stream->fd >= 0 && loop_watch_start(&stream->watch, own_loop(stream), stream->fd, on_packet, stream) < 0)
        finish(stream);
}

static int connect_back(struct stream *stream, struct err *err)
{
    const struct websocket_client_handler handler = {
        .on_message = on_message, .on_end = on_socket_end, .on_drain = on_drain, .arg = stream};
    _cleanup_(freep) char *kubeconfig = file_path(stream->folder, MEMBER_KUBECONFIG);
    const char *id = kube_text(yyjson_doc_get_root(stream->order), "id");
    struct kube_config *config = NULL;
    struct strbuf path;
    int r = kube_config_load(kubeconfig, NULL, &config, err);

    if (r < 0)
        return r;
    stream->client = kube_client_new(own_loop(stream), config, &(struct kube_client_options){0});
    strbuf_init(&path, PATH_MAX_BYTES);
    strbuf_addf(&path, "/muster/streams/%s", name_is_label(id) ? id : "");
    r = kube_websocket(stream->client, path.text, RELAY_PROTOCOL, &handler, &stream->socket, err);
    strbuf_done(&path);
    return r;
}

static void run(void *arg)
{
    struct stream *stream = arg;
    struct err err = {0};

    /* If the control machine cannot be reached, its client is told so there. */
    if (connect_back(stream, &err) < 0)
        finish(stream);
    else
        serve(stream);
}

static void stop(void *arg)
{
    finish(arg);
}

void stream_stop(struct stream *stream)
{
    loop_thread_call(stream->thread, stop, stream);
}

static void on_ended(void *arg)
{
    struct stream *stream = arg;
    loop_watch_done(&stream->ended);
    loop_thread_join(stream->thread);
    (void)close(stream->ended_fd);
    stream->on_end(stream->arg, stream);
    yyjson_doc_free(stream->order);
    free(stream->folder);
    free(stream);
}

struct stream *stream_start(struct loop *loop, const char *folder, yyjson_doc *order,
                            void (*on_end)(void *arg, struct stream *stream), void *arg)
{
    struct stream *stream = xcalloc(1, sizeof *stream);

    *stream = (struct stream){.folder = xstrdup(folder), .order = order, .on_end = on_end, .arg = arg, .fd = -1};
    stream->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    BUG_ON(stream->ended_fd < 0 || loop_watch_start(&stream->ended, loop, stream->ended_fd, on_ended, stream) < 0);
    stream->thread = loop_thread_new(loop);
    loop_thread_start(stream->thread);
    loop_thread_call(stream->thread, run, stream);
    return stream;
}
