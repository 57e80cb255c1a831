/* SPDX-License-Identifier: Apache-2.0 */

/* The socket of the pod: who connects, and what they ask for. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/shim/control_internal.h"
#include "local/shim/pipes/terminal.h"
#include "local/shim/shim.h"
#include "text/json.h"

enum { BACKLOG = 64, UNSENT_MAX = 1 << 20, EVENTS_MAX = 200, EVENT_TEXT_MAX = 2048, STATUS_TEXT_MAX = 4096 };

struct event_text {
    struct list_link in_shim;
    char *text;
};

static void client_free(struct shim *shim, struct client *client)
{
    if (client->session)
        exec_session_free(client->session);
    if (client->container) {
        /* One input, one writer: the program sees its end when the only one who could write is gone. */
        if (client->wants_stdin && bool_at(client->container->spec, "stdinOnce"))
            writer_end(&client->container->in);
        list_remove(&client->container->clients, &client->in_container);
    }
    list_remove(&shim->clients, &client->in_shim);
    loop_watch_done(&client->watch);
    writer_done(&client->out);
    (void)close(client->fd);
    free(client);
}

void client_output(struct client *client, enum shim_channel channel, const char *bytes, size_t len)
{
    char packet[SHIM_PACKET_MAX];

    packet[0] = (char)channel;
    while (len > 0) {
        size_t part = MIN(len, sizeof packet - 1);

        memcpy(packet + 1, bytes, part);
        writer_add(&client->out, packet, part + 1);
        bytes += part;
        len -= part;
    }
}

/* The Status at the end of a command, as Kubernetes words it. */
static char *status_text(int exit_code, const char *problem)
{
    struct strbuf text;

    strbuf_init(&text, STATUS_TEXT_MAX);
    if (exit_code == 0 && !problem) {
        strbuf_addstr(&text, "{\"metadata\":{},\"status\":\"Success\"}");
    } else if (problem) {
        strbuf_addstr(&text, "{\"metadata\":{},\"status\":\"Failure\",\"message\":");
        json_add_string(&text, problem);
        strbuf_addstr(&text, ",\"reason\":\"InternalError\",\"details\":{\"causes\":[{\"message\":");
        json_add_string(&text, problem);
        strbuf_addstr(&text, "}]},\"code\":500}");
    } else {
        strbuf_addf(&text,
                    "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero exit code: "
                    "exit code %d\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\","
                    "\"message\":\"%d\"}]}}",
                    exit_code, exit_code);
    }
    return strbuf_take(&text);
}

static void on_drained(void *arg)
{
    struct client *client = arg;

    if (client->role == CLIENT_ENDING)
        client_free(client->shim, client);
    else if (client->session)
        exec_session_resume(client->session);
}

void client_finish(struct client *client, int exit_code, const char *problem)
{
    _cleanup_(freep) char *text = status_text(exit_code, problem);

    client_output(client, CHANNEL_STATUS, text, strlen(text));
    client->role = CLIENT_ENDING;
    if (client->session)
        exec_session_free(TAKE_PTR(client->session));
    if (client->out.waiting == 0)
        client_free(client->shim, client);
}

void client_attached_output(struct client *client, enum log_stream stream, const char *bytes, size_t len)
{
    if (stream == LOG_STDOUT ? !client->wants_stdout : !client->wants_stderr)
        return;
    client_output(client, stream == LOG_STDOUT ? CHANNEL_STDOUT : CHANNEL_STDERR, bytes, len);
    if (client->out.waiting > UNSENT_MAX)
        client_free(client->shim, client);
}

void client_attached_end(struct client *client)
{
    list_remove(&client->container->clients, &client->in_container);
    client->container = NULL;
    client_finish(client, 0, NULL);
}

/* --- events --- */

static bool send_to_watchers(struct shim *shim, const char *text)
{
    bool is_sent = false;

    for (struct list_link *link = shim->clients.first; link; link = link->next) {
        struct client *client = list_item(link, struct client, in_shim);

        if (client->role == CLIENT_WATCHES && !client->out.is_broken) {
            writer_add(&client->out, text, strlen(text));
            is_sent = true;
        }
    }
    return is_sent;
}

void control_notify(struct shim *shim)
{
    (void)send_to_watchers(shim, "{}");
}

static void drop_first_event(struct shim *shim)
{
    struct event_text *event = list_first(&shim->events, struct event_text, in_shim);

    list_remove(&shim->events, &event->in_shim);
    free(event->text);
    free(event);
}

void status_event(struct shim *shim, const char *type, const char *reason, const char *format, ...)
{
    char message[EVENT_TEXT_MAX];
    struct strbuf text;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    strbuf_init(&text, SHIM_PACKET_MAX - 1);
    strbuf_addf(&text, "{\"type\":\"%s\",\"reason\":\"%s\",\"message\":", type, reason);
    json_add_string(&text, message);
    strbuf_addch(&text, '}');
    if (!send_to_watchers(shim, text.text)) {
        struct event_text *event = xcalloc(1, sizeof *event);

        event->text = xstrdup(text.text);
        list_push(&shim->events, &event->in_shim);
        if (shim->events.len > EVENTS_MAX)
            drop_first_event(shim);
    }
    strbuf_done(&text);
}

/* --- requests --- */

static void watch(struct client *client)
{
    struct shim *shim = client->shim;

    client->role = CLIENT_WATCHES;
    while (shim->events.len > 0) {
        const char *text = list_first(&shim->events, struct event_text, in_shim)->text;

        writer_add(&client->out, text, strlen(text));
        drop_first_event(shim);
    }
    writer_add(&client->out, "{}", 2);
    shim_told(shim);
}

static void attach(struct client *client, struct container *container, yyjson_val *request)
{
    client->role = CLIENT_ATTACHED;
    client->container = container;
    client->wants_stdin = bool_at(request, "stdin");
    client->wants_stdout = bool_at(request, "stdout");
    client->wants_stderr = bool_at(request, "stderr");
    list_push(&container->clients, &client->in_container);
    if (client->wants_stdin)
        output_tell_early(container, client);
}

static void begin(struct client *client, yyjson_val *request)
{
    const char *op = kube_text(request, "op");
    struct container *container = shim_find(client->shim, kube_text(request, "container"));
    char problem[512];

    if (strcmp(op, "watch") == 0) {
        shim_set_deadline(client->shim, number_at(request, -1, "deadline"));
        watch(client);
        return;
    }
    if (strcmp(op, "stop") == 0) {
        shim_stop(client->shim, MAX(number_at(request, 0, "grace"), 0) * NSEC_PER_SEC);
        watch(client);
        return;
    }
    if (!container || container->state != CONTAINER_RUNNING || container->pid <= 0) {
        (void)snprintf(problem, sizeof problem, "container not found (\"%.256s\")", kube_text(request, "container"));
        client_finish(client, 0, problem);
        return;
    }
    if (strcmp(op, "attach") == 0) {
        attach(client, container, request);
    } else if (strcmp(op, "exec") == 0) {
        struct err err = {0};

        client->role = CLIENT_RUNS;
        client->session = exec_session_start(container, client, request, &err);
        if (!client->session)
            client_finish(client, 0, err.text);
    } else {
        client_finish(client, 0, "the request is not known");
    }
}

/* The bytes behind the channel. */
static void take(struct client *client, const char *bytes, size_t len, unsigned char channel)
{
    struct container *container = client->container;

    if (client->session && channel == CHANNEL_STDIN)
        exec_session_input(client->session, bytes, len);
    else if (client->session && channel == CHANNEL_RESIZE)
        exec_session_resize(client->session, bytes, len);
    else if (client->session && channel == CHANNEL_CLOSE && len == 1 && bytes[0] == CHANNEL_STDIN)
        exec_session_input_end(client->session);
    else if (container && channel == CHANNEL_STDIN && client->wants_stdin && container->in.waiting < UNSENT_MAX)
        writer_add(&container->in, bytes, len);
    else if (container && channel == CHANNEL_RESIZE)
        terminal_resize(container->terminal, bytes, len);
    else if (container && channel == CHANNEL_CLOSE && client->wants_stdin && bool_at(container->spec, "stdinOnce"))
        writer_end(&container->in);
}

static void on_packet(void *arg)
{
    struct client *client = arg;
    char packet[SHIM_PACKET_MAX];
    ssize_t n = recv(client->fd, packet, sizeof packet, 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        client_free(client->shim, client);
        return;
    }
    if (client->role != CLIENT_NEW) {
        take(client, packet + 1, (size_t)n - 1, (unsigned char)packet[0]);
        return;
    }
    yyjson_doc *doc = NULL;
    if (json_parse(packet, (size_t)n, "request", &doc, NULL) < 0)
        client_free(client->shim, client);
    else
        begin(client, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

void client_pause(struct client *client, bool is_paused)
{
    if (client->is_paused == is_paused || client->role == CLIENT_ENDING)
        return;
    client->is_paused = is_paused;
    if (is_paused)
        loop_watch_done(&client->watch);
    else if (loop_watch_start(&client->watch, client->shim->loop, client->fd, on_packet, client) < 0)
        client->out.is_broken = true;
}

/* --- the socket --- */

static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && (peer.uid == 0 || peer.uid == geteuid());
}

static void on_accept(void *arg)
{
    struct shim *shim = arg;
    int fd = accept4(shim->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return;
    struct client *client = xcalloc(1, sizeof *client);
    client->shim = shim;
    client->fd = fd;
    if (!is_trusted(fd) || writer_init(&client->out, shim->loop, fd, true) < 0 ||
        loop_watch_start(&client->watch, shim->loop, fd, on_packet, client) < 0) {
        writer_done(&client->out);
        (void)close(fd);
        free(client);
        return;
    }
    client->out.on_drain = on_drained;
    client->out.arg = client;
    list_push(&shim->clients, &client->in_shim);
}

int control_open(struct shim *shim, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    /* Paths of sockets are short; that of the folder may be long. */
    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" POD_SOCKET, shim->folder_fd);
    (void)unlinkat(shim->folder_fd, POD_SOCKET, 0);
    shim->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (shim->listener < 0 || bind(shim->listener, (const struct sockaddr *)&address, sizeof address) < 0 ||
        listen(shim->listener, BACKLOG) < 0)
        return err_set(err, -errno, "%s/" POD_SOCKET ": %s", shim->folder, strerror(errno));
    int r = loop_watch_start(&shim->accept, shim->loop, shim->listener, on_accept, shim);
    return r < 0 ? err_set(err, r, "%s/" POD_SOCKET ": %s", shim->folder, strerror(-r)) : 0;
}

void control_close(struct shim *shim)
{
    loop_watch_done(&shim->accept);
    if (shim->listener >= 0) {
        (void)close(shim->listener);
        (void)unlinkat(shim->folder_fd, POD_SOCKET, 0);
    }
    for (struct client *client; (client = list_first(&shim->clients, struct client, in_shim));)
        client_free(shim, client);
    while (shim->events.len > 0)
        drop_first_event(shim);
}
