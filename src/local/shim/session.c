/* SPDX-License-Identifier: Apache-2.0 */

/* A command that a user runs in a container: its program, its pipes or terminal, and the client at the other end. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "local/controllers/values.h"
#include "local/shim/control_internal.h"
#include "local/shim/pipes/terminal.h"
#include "local/shim/shim.h"

enum { READ_BYTES = 32 << 10, UNSENT_MAX = 256 << 10, EXIT_SIGNAL = 128, OUTPUTS = 2 };

/* Processes that keep the output open after the program has ended are not waited for longer than this. */
#define LINGER (200 * NSEC_PER_MSEC)

struct session_output {
    struct exec_session *session;
    enum shim_channel channel;
    int fd;
    struct loop_watch watch;
};

struct exec_session {
    struct container *container;
    struct client *client;
    struct helper helper;
    struct session_output outputs[OUTPUTS];
    struct writer in;
    int terminal;
    int status;
    bool has_ended;
    struct loop_timer linger;
};

static void close_output(struct session_output *output)
{
    loop_watch_done(&output->watch);
    if (output->fd >= 0)
        (void)close(output->fd);
    output->fd = -1;
}

static void finish(struct exec_session *session)
{
    int code = WIFSIGNALED(session->status) ? EXIT_SIGNAL + WTERMSIG(session->status) : WEXITSTATUS(session->status);

    client_finish(session->client, code, NULL);
}

static void finish_when_over(struct exec_session *session)
{
    if (!session->has_ended)
        return;
    if (session->outputs[0].fd < 0 && session->outputs[1].fd < 0)
        finish(session);
    else if (!loop_timer_is_running(&session->linger))
        loop_timer_start(&session->linger, LINGER);
}

static void on_linger(void *arg)
{
    finish(arg);
}

static void on_exit_of(void *arg, int status)
{
    struct exec_session *session = arg;

    session->helper.pid = 0;
    session->status = status;
    session->has_ended = true;
    finish_when_over(session);
}

static void on_output(void *arg)
{
    struct session_output *output = arg;
    struct exec_session *session = output->session;
    char bytes[READ_BYTES];
    ssize_t n = read(output->fd, bytes, sizeof bytes);

    if (n > 0) {
        client_output(session->client, output->channel, bytes, (size_t)n);
        /* A client that takes nothing holds its own program up, and nobody else. */
        for (size_t i = 0; session->client->out.waiting > UNSENT_MAX && i < OUTPUTS; i++)
            loop_watch_done(&session->outputs[i].watch);
        return;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close_output(output);
    finish_when_over(session);
}

static int watch_output(struct session_output *output)
{
    int flags = output->fd < 0 ? 0 : fcntl(output->fd, F_GETFL);

    if (output->fd < 0)
        return 0;
    if (flags < 0 || fcntl(output->fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return loop_watch_start(&output->watch, output->session->container->shim->loop, output->fd, on_output, output);
}

void exec_session_resume(struct exec_session *session)
{
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (session->outputs[i].fd >= 0 && !session->outputs[i].watch.handle)
            (void)!watch_output(&session->outputs[i]);
    }
}

static void on_input_drained(void *arg)
{
    client_pause(((struct exec_session *)arg)->client, false);
}

/* The ends of the program are in `launch`, -1 for one that is not asked for. */
static int open_pipes(struct exec_session *session, struct launch *launch, yyjson_val *request)
{
    static const char *const wanted[OUTPUTS] = {"stdout", "stderr"};
    int in[2] = {-1, -1};
    int r = 0;

    if (bool_at(request, "stdin")) {
        r = pipe2(in, O_CLOEXEC) < 0 ? -errno : writer_init(&session->in, session->container->shim->loop, in[1], false);
        if (in[1] >= 0)
            (void)close(in[1]);
        launch->in = in[0];
    }
    for (size_t i = 0; r == 0 && i < OUTPUTS; i++) {
        int ends[2];

        if (!bool_at(request, wanted[i]))
            continue;
        if (pipe2(ends, O_CLOEXEC) < 0)
            return -errno;
        session->outputs[i].fd = ends[0];
        *(i == 0 ? &launch->out : &launch->err) = ends[1];
    }
    return r;
}

static int open_terminal(struct exec_session *session, struct launch *launch, struct err *err)
{
    int slave = -1;
    int r = terminal_open(launch->uid, &session->terminal, &slave, err);

    if (r < 0)
        return r;
    launch->in = launch->out = launch->err = slave;
    launch->is_terminal = true;
    session->outputs[0].fd = fcntl(session->terminal, F_DUPFD_CLOEXEC, 3);
    return writer_init(&session->in, session->container->shim->loop, session->terminal, false);
}

static void close_end(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

static int open_and_launch(struct exec_session *session, struct launching *launching, yyjson_val *request,
                           struct err *err)
{
    struct launch *launch = &launching->launch;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool has_terminal = bool_at(request, "tty");

    launch->in = launch->out = launch->err = -1;
    int r = has_terminal ? open_terminal(session, launch, err) : open_pipes(session, launch, request);
    int in = launch->in, out = launch->out, problems = launch->err;
    launch->in = in < 0 ? nothing : in;
    launch->out = out < 0 ? nothing : out;
    launch->err = problems < 0 ? nothing : problems;
    if (r == 0)
        r = launching_start(launching, session->container, &session->helper.pid, err);
    else if (err->code == 0)
        (void)err_set(err, r, "pipes of the command: %s", strerror(-r));
    close_end(nothing);
    close_end(in);
    if (!has_terminal) {
        close_end(out);
        close_end(problems);
    }
    for (size_t i = 0; r == 0 && i < OUTPUTS; i++)
        r = watch_output(&session->outputs[i]);
    return r;
}

struct exec_session *exec_session_start(struct container *container, struct client *client, yyjson_val *request,
                                        struct err *err)
{
    struct exec_session *session = xcalloc(1, sizeof *session);
    struct launching launching;
    size_t i, max;
    yyjson_val *word;

    *session = (struct exec_session){.container = container, .client = client, .terminal = -1, .in = {.fd = -1}};
    for (i = 0; i < OUTPUTS; i++)
        session->outputs[i] = (struct session_output){session, i == 0 ? CHANNEL_STDOUT : CHANNEL_STDERR, -1, {0}};
    loop_timer_init(&session->linger, container->shim->loop, on_linger, session);
    launching_init(&launching, container);
    vec_clear(&launching.argv);
    yyjson_arr_foreach(value_at(request, "command"), i, max, word)
    {
        vec_push(&launching.argv, yyjson_get_str(word));
    }
    vec_push(&launching.argv, NULL);
    launching.launch.argv = launching.argv.items;
    launching.launch.beside = container->pid;
    int r = open_and_launch(session, &launching, request, err);
    launching_done(&launching);
    if (r < 0) {
        exec_session_free(session);
        return NULL;
    }
    session->in.on_drain = on_input_drained;
    session->in.arg = session;
    session->helper.on_exit = on_exit_of;
    session->helper.arg = session;
    helper_add(container->shim, &session->helper);
    return session;
}

void exec_session_input(struct exec_session *session, const char *bytes, size_t len)
{
    writer_add(&session->in, bytes, len);
    if (session->in.waiting > 0)
        client_pause(session->client, true);
}

void exec_session_input_end(struct exec_session *session)
{
    /* A terminal has no end of its own: the character for it is what a person types. */
    if (session->terminal < 0)
        writer_end(&session->in);
}

void exec_session_resize(struct exec_session *session, const char *text, size_t len)
{
    terminal_resize(session->terminal, text, len);
}

void exec_session_free(struct exec_session *session)
{
    if (session->helper.pid > 0)
        helper_kill(session->container->shim, &session->helper);
    for (size_t i = 0; i < OUTPUTS; i++)
        close_output(&session->outputs[i]);
    writer_done(&session->in);
    if (session->terminal >= 0)
        (void)close(session->terminal);
    loop_timer_done(&session->linger);
    free(session);
}
