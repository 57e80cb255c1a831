/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The result is ready when three things have ended, in any order: the child, its output and its complaints. Each of
 * them is a handle of libuv, as are the input and the timer, and the struct goes away with the last of them.
 */
#include "net/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "net/loop_internal.h"

enum { COMPLAINTS_MAX = 4096, PIPE_BYTES = 16 * 1024 };

/* A grandchild that holds the pipes open is not waited for longer than this. */
enum { LINGER_MS = 1000 };

struct process {
    uv_process_t child;
    uv_pipe_t pipes[3];
    uv_timer_t timer;
    uv_write_t write;
    char *input;
    struct strbuf output;
    struct strbuf complaints;
    process_done_fn on_done;  // NULL: called off, or called already
    void *arg;
    struct err err;
    int64_t exit_status;
    int signal;
    int handles;    // of libuv, not yet closed
    int open_ends;  // of: child, output, complaints
    char buffer[PIPE_BYTES];
};

static void on_closed(uv_handle_t *handle)
{
    struct process *process = handle->data;

    if (--process->handles > 0)
        return;
    free(process->input);
    strbuf_done(&process->output);
    strbuf_done(&process->complaints);
    free(process);
}

static void close_handle(void *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

/* The whole session; nothing happens when it is gone. */
static void kill_all(struct process *process)
{
    if (uv_process_get_pid(&process->child) > 0)
        (void)kill(-uv_process_get_pid(&process->child), SIGKILL);
}

static void close_all(struct process *process)
{
    for (size_t i = 0; i < ARRAY_LEN(process->pipes); i++)
        close_handle(&process->pipes[i]);
    close_handle(&process->timer);
    close_handle(&process->child);
}

static void finish(struct process *process)
{
    process_done_fn on_done = process->on_done;
    struct process_result result = {
        .err = process->err,
        .exit_status = process->signal ? -1 : (int)process->exit_status,
        .signal = process->signal,
        .output = process->output.text,
        .output_len = process->output.len,
        .complaints = process->complaints.text,
    };

    process->on_done = NULL;
    /* Whatever it left running. */
    kill_all(process);
    close_all(process);
    if (on_done)
        on_done(process->arg, &result);
}

static void end_one(struct process *process)
{
    if (--process->open_ends == 0)
        finish(process);
}

static void on_linger(uv_timer_t *timer)
{
    finish(timer->data);
}

static void on_exit_of(uv_process_t *child, int64_t status, int number)
{
    struct process *process = child->data;

    process->exit_status = status;
    process->signal = number;
    if (process->open_ends > 1)
        (void)uv_timer_start(&process->timer, on_linger, LINGER_MS, 0);
    end_one(process);
}

static void on_timeout(uv_timer_t *timer)
{
    struct process *process = timer->data;

    (void)err_set(&process->err, -ETIMEDOUT, "did not end in time and was killed");
    kill_all(process);
}

static void give_buffer(uv_handle_t *handle, size_t wanted, uv_buf_t *ret_buffer)
{
    struct process *process = handle->data;

    (void)wanted;
    *ret_buffer = uv_buf_init(process->buffer, sizeof process->buffer);
}

static void on_output(uv_stream_t *pipe, ssize_t len, const uv_buf_t *buffer)
{
    struct process *process = pipe->data;

    if (len > 0) {
        strbuf_add(&process->output, buffer->base, (size_t)len);
        if (process->output.is_cut && process->err.code == 0) {
            (void)err_set(&process->err, -EFBIG, "printed more than %zu bytes and was killed", process->output.max);
            kill_all(process);
        }
    } else if (len < 0) {
        (void)uv_read_stop(pipe);
        end_one(process);
    }
}

static void on_complaints(uv_stream_t *pipe, ssize_t len, const uv_buf_t *buffer)
{
    struct process *process = pipe->data;

    if (len > 0) {
        strbuf_add(&process->complaints, buffer->base, (size_t)len);
    } else if (len < 0) {
        (void)uv_read_stop(pipe);
        end_one(process);
    }
}

static void on_input_sent(uv_write_t *write, int status)
{
    struct process *process = write->data;

    (void)status;
    close_handle(&process->pipes[0]);
}

static void send_input(struct process *process, const struct process_request *request)
{
    if (!request->input) {
        close_handle(&process->pipes[0]);
        return;
    }
    process->input = xmalloc(request->input_len);
    memcpy(process->input, request->input, request->input_len);
    uv_buf_t buffer = uv_buf_init(process->input, (unsigned)request->input_len);

    process->write.data = process;
    if (uv_write(&process->write, (uv_stream_t *)&process->pipes[0], &buffer, 1, on_input_sent) < 0)
        close_handle(&process->pipes[0]);
}

static int spawn(struct loop *loop, struct process *process, const struct process_request *request)
{
    uv_stdio_container_t stdio[3];
    uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = request->argv[0],
        .args = (char **)(uintptr_t)request->argv,
        .env = (char **)(uintptr_t)request->env,
        .cwd = request->folder,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = stdio,
    };

    for (size_t i = 0; i < ARRAY_LEN(process->pipes); i++) {
        BUG_ON(uv_pipe_init(&loop->uv, &process->pipes[i], 0) < 0);
        process->pipes[i].data = process;
        /* The child's end: it reads the first and writes the others. */
        // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): flags of libuv, declared as an enum
        stdio[i].flags = UV_CREATE_PIPE | (i == 0 ? UV_READABLE_PIPE : UV_WRITABLE_PIPE);
        stdio[i].data.stream = (uv_stream_t *)&process->pipes[i];
    }
    BUG_ON(uv_timer_init(&loop->uv, &process->timer) < 0);
    process->timer.data = process->child.data = process;
    process->handles = 5;
    return uv_spawn(&loop->uv, &process->child, &options);
}

int process_start(struct loop *loop, const struct process_request *request, struct process **ret_process,
                  struct err *err)
{
    struct process *process = xcalloc(1, sizeof *process);

    process->on_done = request->on_done;
    process->arg = request->arg;
    process->open_ends = 3;
    strbuf_init(&process->output, request->output_max);
    strbuf_init(&process->complaints, COMPLAINTS_MAX);
    int r = spawn(loop, process, request);
    if (r < 0) {
        close_all(process);
        return err_set(err, r, "cannot start %s: %s", request->argv[0], uv_strerror(r));
    }
    send_input(process, request);
    (void)uv_read_start((uv_stream_t *)&process->pipes[1], give_buffer, on_output);
    (void)uv_read_start((uv_stream_t *)&process->pipes[2], give_buffer, on_complaints);
    if (request->timeout > 0)
        (void)uv_timer_start(&process->timer, on_timeout, (uint64_t)(request->timeout / NSEC_PER_MSEC) + 1, 0);
    *ret_process = process;
    return 0;
}

void process_cancel(struct process *process)
{
    process->on_done = NULL;
    kill_all(process);
}
