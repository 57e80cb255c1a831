/* SPDX-License-Identifier: Apache-2.0 */

/* What a container prints, and what it is told: pipes or a terminal, the log, and clients that are attached. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "local/shim/control_internal.h"
#include "local/shim/pipes/terminal.h"
#include "local/shim/shim.h"
#include "local/shim/shim_internal.h"

enum { READ_BYTES = 32 << 10, TAIL_FILE_MAX = 64 << 10, EARLY_MAX = 64 << 10 };

static void tell_clients(const struct container *container, enum log_stream stream, const char *bytes, size_t len)
{
    for (struct list_link *link = container->clients.first, *next; link; link = next) {
        next = link->next;
        client_attached_output(list_item(link, struct client, in_container), stream, bytes, len);
    }
}

static void keep_early(struct container *container, enum log_stream stream, const char *bytes, size_t len)
{
    struct strbuf *early = &container->early[stream];

    if (early->len + len > EARLY_MAX)
        strbuf_clear(early);
    strbuf_add(early, bytes, len);
}

static void forget_early(struct container *container)
{
    for (size_t i = 0; container->keeps_early && i < _LOG_STREAM_MAX; i++)
        strbuf_done(&container->early[i]);
    container->keeps_early = false;
}

void output_tell_early(struct container *container, struct client *client)
{
    if (!container->keeps_early)
        return;
    for (size_t i = 0; i < _LOG_STREAM_MAX; i++) {
        if (container->early[i].len > 0)
            client_attached_output(client, (enum log_stream)i, container->early[i].text, container->early[i].len);
    }
    forget_early(container);
}

/* Returns false at the end. */
static bool read_some(struct container *container, enum log_stream stream)
{
    char bytes[READ_BYTES];
    ssize_t n = read(container->outputs[stream].fd, bytes, sizeof bytes);

    if (n > 0) {
        if (container->log)
            log_file_add(container->log, stream, nsec_now_wall(), bytes, (size_t)n);
        if (container->keeps_early)
            keep_early(container, stream, bytes, (size_t)n);
        tell_clients(container, stream, bytes, (size_t)n);
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void close_output(struct container *container, enum log_stream stream)
{
    loop_watch_done(&container->outputs[stream].watch);
    if (container->outputs[stream].fd >= 0)
        (void)close(container->outputs[stream].fd);
    container->outputs[stream].fd = -1;
}

static void on_stdout(void *arg)
{
    if (!read_some(arg, LOG_STDOUT))
        close_output(arg, LOG_STDOUT);
}

static void on_stderr(void *arg)
{
    if (!read_some(arg, LOG_STDERR))
        close_output(arg, LOG_STDERR);
}

static int open_pipes(struct container *container, struct launch *launch, bool has_stdin, struct err *err)
{
    int out[2] = {-1, -1}, problems[2] = {-1, -1}, in[2] = {-1, -1};
    int r = pipe2(out, O_CLOEXEC) < 0 || pipe2(problems, O_CLOEXEC) < 0 ? -errno : 0;

    if (r == 0 && has_stdin)
        r = pipe2(in, O_CLOEXEC) < 0 ? -errno : writer_init(&container->in, container->shim->loop, in[1], false);
    else if (r == 0)
        in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    launch->in = in[0];
    launch->out = out[1];
    launch->err = problems[1];
    container->outputs[LOG_STDOUT].fd = out[0];
    container->outputs[LOG_STDERR].fd = problems[0];
    if (in[1] >= 0)
        (void)close(in[1]);
    return r < 0 || in[0] < 0 ? err_set(err, r < 0 ? r : -EIO, "pipes of the container: %s", strerror(-r)) : 0;
}

static int open_terminal(struct container *container, struct launch *launch, struct err *err)
{
    int slave = -1;
    int r = terminal_open(launch->uid, &container->terminal, &slave, err);

    if (r < 0)
        return r;
    launch->in = launch->out = launch->err = slave;
    launch->is_terminal = true;
    container->outputs[LOG_STDOUT].fd = fcntl(container->terminal, F_DUPFD_CLOEXEC, 3);
    return writer_init(&container->in, container->shim->loop, container->terminal, false);
}

static int watch_output(struct container *container, enum log_stream stream, loop_fn fn)
{
    int fd = container->outputs[stream].fd;

    if (fd < 0)
        return 0;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return loop_watch_start(&container->outputs[stream].watch, container->shim->loop, fd, fn, container);
}

int output_open(struct container *container, struct launch *launch, struct err *err)
{
    _cleanup_(freep) char *folder = file_path(container->shim->folder, container->name);
    bool has_terminal = bool_at(container->spec, "tty");
    int r = log_file_open(folder, container->restarts, &container->log, err);

    launch->in = launch->out = launch->err = -1;
    container->keeps_early = bool_at(container->spec, "stdin");
    for (size_t i = 0; container->keeps_early && i < _LOG_STREAM_MAX; i++)
        strbuf_init(&container->early[i], EARLY_MAX);
    if (r == 0)
        r = has_terminal ? open_terminal(container, launch, err)
                         : open_pipes(container, launch, bool_at(container->spec, "stdin"), err);
    if (r == 0) {
        r = watch_output(container, LOG_STDOUT, on_stdout);
        if (r == 0)
            r = watch_output(container, LOG_STDERR, on_stderr);
        if (r < 0)
            (void)err_set(err, r, "output of the container: %s", strerror(-r));
    }
    return r;
}

/* All who could write are gone: what is left in the pipe is what they wrote last. */
static void drain(struct container *container, enum log_stream stream)
{
    struct pollfd ready = {.fd = container->outputs[stream].fd, .events = POLLIN};

    while (ready.fd >= 0 && poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) && read_some(container, stream)) {
    }
    close_output(container, stream);
}

void output_close(struct container *container)
{
    drain(container, LOG_STDOUT);
    drain(container, LOG_STDERR);
    forget_early(container);
    writer_done(&container->in);
    if (container->terminal >= 0)
        (void)close(container->terminal);
    container->terminal = -1;
    log_file_close(TAKE_PTR(container->log));
}

/* The texts of lines in the log's format, the last ones of them. */
static char *last_texts(const char *log, size_t bytes_max, size_t lines_max)
{
    struct strbuf text;

    strbuf_init(&text, TAIL_FILE_MAX);
    while (*log) {
        const char *end = strchrnul(log, '\n');
        const char *at = log;

        for (int i = 0; i < 3 && at; i++) {
            at = memchr(at, ' ', (size_t)(end - at));
            at = at ? at + 1 : NULL;
        }
        if (at) {
            strbuf_add(&text, at, (size_t)(end - at));
            /* "P " before the text: the line goes on, or was never ended. */
            if (at[-2] != 'P')
                strbuf_addch(&text, '\n');
        }
        log = *end ? end + 1 : end;
    }
    size_t from = text.len > bytes_max ? text.len - bytes_max : 0, lines = 0;
    for (size_t i = text.len; i > from; i--) {
        if (text.text[i - 1] == '\n' && i < text.len && ++lines >= lines_max) {
            from = i;
            break;
        }
    }
    char *result = xstrdup(text.text + from);
    strbuf_done(&text);
    return result;
}

void output_tail(const struct container *container, size_t bytes_max, size_t lines_max, char **ret_text)
{
    char name[512];
    static char log[TAIL_FILE_MAX + 1];
    struct strbuf path;

    strbuf_init(&path, 8192);
    (void)snprintf(name, sizeof name, "/%s/%u.log", container->name, container->restarts);
    strbuf_addstr(&path, container->shim->folder);
    strbuf_addstr(&path, name);
    int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t n = fd < 0 ? 0 : pread(fd, log, TAIL_FILE_MAX, MAX(size - TAIL_FILE_MAX, 0));

    log[n < 0 ? 0 : n] = '\0';
    if (fd >= 0)
        (void)close(fd);
    strbuf_done(&path);
    *ret_text = last_texts(log, bytes_max, lines_max);
}
