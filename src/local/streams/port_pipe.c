/* SPDX-License-Identifier: Apache-2.0 */
#include "local/streams/port_pipe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macros.h"

enum { PIECE = 32 << 10, EARLY_MAX = 4 << 20 };

static void on_readable(void *arg);

static void fail(struct port_pipe *pipe, int code)
{
    char text[128];

    (void)snprintf(text, sizeof text, "an error occurred connecting to the port: %s", strerror(code));
    loop_watch_done(&pipe->watch);
    pipe->on_end(pipe->arg, text);
}

static void shut(struct port_pipe *pipe)
{
    if (pipe->is_connected && pipe->is_ending && pipe->out.waiting == 0)
        (void)shutdown(pipe->fd, SHUT_WR);
}

static void on_drain(void *arg)
{
    struct port_pipe *pipe = arg;

    shut(pipe);
    pipe->on_taken(pipe->arg);
}

/* Bytes that came before are written first. */
static int start_writing(struct port_pipe *pipe)
{
    int r = writer_init(&pipe->out, pipe->loop, pipe->fd, false);

    if (r < 0)
        return r;
    pipe->out.on_drain = on_drain;
    pipe->out.arg = pipe;
    writer_add(&pipe->out, pipe->early.text, pipe->early.len);
    strbuf_done(&pipe->early);
    return loop_watch_start(&pipe->watch, pipe->loop, pipe->fd, on_readable, pipe);
}

static void on_connected(void *arg)
{
    struct port_pipe *pipe = arg;
    int problem = 0;
    socklen_t len = sizeof problem;

    if (getsockopt(pipe->fd, SOL_SOCKET, SO_ERROR, &problem, &len) < 0)
        problem = errno;
    loop_watch_done(&pipe->watch);
    if (problem == 0)
        problem = -start_writing(pipe);
    if (problem != 0) {
        fail(pipe, problem);
        return;
    }
    pipe->is_connected = true;
    shut(pipe);
}

static void on_readable(void *arg)
{
    struct port_pipe *pipe = arg;
    char bytes[PIECE];
    ssize_t n = read(pipe->fd, bytes, sizeof bytes);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        pipe->on_bytes(pipe->arg, bytes, (size_t)n);
        return;
    }
    loop_watch_done(&pipe->watch);
    pipe->on_end(pipe->arg, NULL);
}

int port_pipe_open(struct port_pipe *pipe, struct loop *loop, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    pipe->loop = loop;
    strbuf_init(&pipe->early, EARLY_MAX);
    pipe->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (pipe->fd < 0)
        return -errno;
    /* Whether one that is under way succeeds is asked when the descriptor can be written to. */
    if (connect(pipe->fd, (const struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)
        return -errno;
    return loop_watch_start_writing(&pipe->watch, loop, pipe->fd, on_connected, pipe);
}

void port_pipe_done(struct port_pipe *pipe)
{
    loop_watch_done(&pipe->watch);
    writer_done(&pipe->out);
    strbuf_done(&pipe->early);
    if (pipe->loop && pipe->fd >= 0)
        (void)close(pipe->fd);
    pipe->fd = -1;
}

void port_pipe_write(struct port_pipe *pipe, const char *bytes, size_t len, bool is_last)
{
    pipe->is_ending |= is_last;
    if (pipe->is_connected)
        writer_add(&pipe->out, bytes, len);
    else
        strbuf_add(&pipe->early, bytes, len);
    shut(pipe);
}

size_t port_pipe_waiting(const struct port_pipe *pipe)
{
    return pipe->is_connected ? pipe->out.waiting : pipe->early.len;
}

void port_pipe_pause(struct port_pipe *pipe)
{
    if (pipe->is_connected)
        loop_watch_done(&pipe->watch);
}

int port_pipe_resume(struct port_pipe *pipe)
{
    if (!pipe->is_connected || pipe->fd < 0 || pipe->watch.handle)
        return 0;
    return loop_watch_start(&pipe->watch, pipe->loop, pipe->fd, on_readable, pipe);
}
