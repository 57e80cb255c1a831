/* SPDX-License-Identifier: Apache-2.0 */

/*
 * libuv, with its handles hidden: a handle of libuv must stay where it is until its close callback has run, which is
 * later than an owner wants to be freed. So every handle lives on the heap by itself and dies in that callback, and
 * the struct that its owner embeds only points to it.
 */
#include "net/loop_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

struct loop_timer_handle {
    uv_timer_t uv;
    struct loop_timer *owner;  // NULL after its end
};

struct signal_handle {
    uv_signal_t uv;
    loop_signal_fn fn;
    void *arg;
};

struct work {
    uv_work_t uv;
    loop_fn work;
    loop_fn done;
    void *arg;
};

/* The text of a libuv error, which is a negative errno but for a few that are EAI_*; both fit `err`. */
static int uv_fail(struct err *err, int code, const char *what)
{
    return err_set(err, code, "%s: %s", what, uv_strerror(code));
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static struct loop_task *first_task(const struct loop *loop)
{
    return list_first(&loop->tasks, struct loop_task, in_loop);
}

static void run_tasks(uv_idle_t *idle)
{
    struct loop *loop = idle->data;
    uint64_t round = loop->round++;

    for (struct loop_task *task; (task = first_task(loop)) && task->round <= round;) {
        loop_task_cancel(task);
        task->fn(task->arg);
    }
    if (loop->tasks.len == 0)
        (void)uv_idle_stop(idle);
}

struct loop *loop_new(void)
{
    struct loop *loop = xcalloc(1, sizeof *loop);

    (void)signal(SIGPIPE, SIG_IGN);
    /* Fails only without memory or descriptors, and then nothing else would work either. */
    BUG_ON(uv_loop_init(&loop->uv) < 0);
    BUG_ON(uv_idle_init(&loop->uv, &loop->idle) < 0);
    loop->idle.data = loop;
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;

    while (loop->tasks.len > 0)
        loop_task_cancel(first_task(loop));
    vec_foreach (&loop->signals, at)
        uv_close((uv_handle_t *)&(*at)->uv, free_handle);
    vec_done(&loop->signals);
    uv_close((uv_handle_t *)&loop->idle, NULL);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    /* A handle that is still open points to memory that nobody will free. */
    BUG_ON(uv_loop_close(&loop->uv) < 0);
    free(loop);
}

void loop_freep(struct loop **loop)
{
    loop_free(*loop);
}

void loop_run(struct loop *loop)
{
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
    uv_stop(&loop->uv);
}

static void on_timer(uv_timer_t *uv)
{
    struct loop_timer *timer = ((struct loop_timer_handle *)uv)->owner;

    if (timer)
        timer->fn(timer->arg);
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop, loop_fn fn, void *arg)
{
    struct loop_timer_handle *handle = xcalloc(1, sizeof *handle);

    BUG_ON(uv_timer_init(&loop->uv, &handle->uv) < 0);
    handle->owner = timer;
    *timer = (struct loop_timer){.handle = handle, .fn = fn, .arg = arg};
}

void loop_timer_done(struct loop_timer *timer)
{
    if (!timer->handle)
        return;
    timer->handle->owner = NULL;
    uv_close((uv_handle_t *)&timer->handle->uv, free_handle);
    timer->handle = NULL;
}

void loop_timer_start(struct loop_timer *timer, nsec_t after)
{
    uv_timer_t *uv = &timer->handle->uv;
    /* Rounded up, and one more: libuv's clock stands at the start of its millisecond. */
    uint64_t ms = after > 0 ? (uint64_t)((after - 1) / NSEC_PER_MSEC) + 2 : 0;

    /* libuv counts from when the round began, which may be long ago. */
    uv_update_time(uv->loop);
    (void)uv_timer_start(uv, on_timer, ms, 0);
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (timer->handle)
        (void)uv_timer_stop(&timer->handle->uv);
}

bool loop_timer_is_running(const struct loop_timer *timer)
{
    return timer->handle && uv_is_active((const uv_handle_t *)&timer->handle->uv);
}

void loop_task_init(struct loop_task *task, struct loop *loop, loop_fn fn, void *arg)
{
    *task = (struct loop_task){.loop = loop, .fn = fn, .arg = arg};
}

void loop_task_queue(struct loop_task *task)
{
    struct loop *loop = task->loop;

    if (task->is_queued)
        return;
    task->is_queued = true;
    task->round = loop->round;
    list_push(&loop->tasks, &task->in_loop);
    (void)uv_idle_start(&loop->idle, run_tasks);
}

void loop_task_cancel(struct loop_task *task)
{
    if (!task->is_queued)
        return;
    list_remove(&task->loop->tasks, &task->in_loop);
    task->is_queued = false;
}

static void on_signal(uv_signal_t *uv, int number)
{
    struct signal_handle *handle = (struct signal_handle *)uv;

    handle->fn(handle->arg, number);
}

int loop_on_signal(struct loop *loop, int number, loop_signal_fn fn, void *arg, struct err *err)
{
    struct signal_handle *handle = xcalloc(1, sizeof *handle);

    handle->fn = fn;
    handle->arg = arg;
    BUG_ON(uv_signal_init(&loop->uv, &handle->uv) < 0);
    int r = uv_signal_start(&handle->uv, on_signal, number);
    if (r < 0) {
        uv_close((uv_handle_t *)&handle->uv, free_handle);
        return uv_fail(err, r, "waiting for a signal");
    }
    uv_unref((uv_handle_t *)&handle->uv);
    vec_push(&loop->signals, handle);
    return 0;
}

static void run_work(uv_work_t *uv)
{
    struct work *work = (struct work *)uv;

    work->work(work->arg);
}

static void end_work(uv_work_t *uv, int status)
{
    struct work *work = (struct work *)uv;

    (void)status;
    work->done(work->arg);
    free(work);
}

void loop_work(struct loop *loop, loop_fn work, loop_fn done, void *arg)
{
    struct work *made = xcalloc(1, sizeof *made);

    made->work = work;
    made->done = done;
    made->arg = arg;
    BUG_ON(uv_queue_work(&loop->uv, &made->uv, run_work, end_work) < 0);
}
