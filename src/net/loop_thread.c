/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/loop_internal.h"

struct call {
    loop_fn fn;
    void *arg;
};

struct loop_thread {
    struct loop *loop;
    pthread_t thread;
    bool is_started;
    uv_async_t *wake;  // frees itself when closed, as the next one does; keeps the loop running
    uv_async_t *hold;  // the parent
    pthread_mutex_t lock;
    struct loop_calls VEC_OF(struct call) calls;
};

static void on_wake(uv_async_t *wake)
{
    struct loop_thread *thread = wake->data;

    (void)pthread_mutex_lock(&thread->lock);
    struct loop_calls calls = thread->calls;

    thread->calls = (struct loop_calls){0};
    (void)pthread_mutex_unlock(&thread->lock);
    vec_foreach (&calls, call)
        call->fn(call->arg);
    vec_done(&calls);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static uv_async_t *handle_new(struct loop *loop, uv_async_cb fn, void *data)
{
    uv_async_t *handle = xcalloc(1, sizeof *handle);

    /* Fails only without descriptors, and then nothing else would work either. */
    BUG_ON(uv_async_init(&loop->uv, handle, fn) < 0);
    handle->data = data;
    return handle;
}

struct loop_thread *loop_thread_new(struct loop *parent)
{
    struct loop_thread *thread = xcalloc(1, sizeof *thread);

    thread->loop = loop_new();
    thread->wake = handle_new(thread->loop, on_wake, thread);
    thread->hold = handle_new(parent, NULL, NULL);
    BUG_ON(pthread_mutex_init(&thread->lock, NULL) != 0);
    return thread;
}

struct loop *loop_thread_loop(const struct loop_thread *thread)
{
    return thread->loop;
}

static void *run(void *arg)
{
    struct loop_thread *thread = arg;

    loop_run(thread->loop);
    return NULL;
}

void loop_thread_start(struct loop_thread *thread)
{
    sigset_t all, before;

    /* Signals are for the thread that has been there before: its loop has the handlers. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    /* Fails only without memory, and then nothing else would work either. */
    BUG_ON(pthread_create(&thread->thread, NULL, run, thread) != 0);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    thread->is_started = true;
}

void loop_thread_call(struct loop_thread *thread, loop_fn fn, void *arg)
{
    (void)pthread_mutex_lock(&thread->lock);
    vec_push(&thread->calls, (struct call){fn, arg});
    (void)pthread_mutex_unlock(&thread->lock);
    (void)uv_async_send(thread->wake);
}

void loop_thread_join(struct loop_thread *thread)
{
    if (!thread)
        return;
    if (thread->is_started)
        (void)pthread_join(thread->thread, NULL);
    uv_close((uv_handle_t *)thread->wake, free_handle);
    uv_close((uv_handle_t *)thread->hold, free_handle);
    /* What was closed before the thread could do it. */
    if (!thread->is_started)
        loop_run(thread->loop);
    loop_free(thread->loop);
    (void)pthread_mutex_destroy(&thread->lock);
    vec_done(&thread->calls);
    free(thread);
}
