/* SPDX-License-Identifier: Apache-2.0 */

/* libuv's poll handles, which live by themselves as loop.c says. */
#include "net/watch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/loop_internal.h"

struct loop_watch_handle {
    uv_poll_t uv;
    struct loop_watch *owner;  // NULL after its end
};

static void on_poll(uv_poll_t *uv, int status, int events)
{
    struct loop_watch *watch = ((struct loop_watch_handle *)uv)->owner;

    (void)status;  // the owner's read meets the same error
    (void)events;
    if (watch)
        watch->fn(watch->arg);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static int start(struct loop_watch *watch, struct loop *loop, int fd, int events, loop_fn fn, void *arg)
{
    struct loop_watch_handle *handle = xcalloc(1, sizeof *handle);
    int r = uv_poll_init(&loop->uv, &handle->uv, fd);

    if (r < 0) {
        free(handle);
        return r;
    }
    handle->owner = watch;
    *watch = (struct loop_watch){.handle = handle, .fn = fn, .arg = arg};
    r = uv_poll_start(&handle->uv, events, on_poll);
    if (r < 0)
        loop_watch_done(watch);
    return r;
}

int loop_watch_start(struct loop_watch *watch, struct loop *loop, int fd, loop_fn fn, void *arg)
{
    return start(watch, loop, fd, UV_READABLE | UV_DISCONNECT, fn, arg);
}

int loop_watch_start_writing(struct loop_watch *watch, struct loop *loop, int fd, loop_fn fn, void *arg)
{
    return start(watch, loop, fd, UV_WRITABLE, fn, arg);
}

void loop_watch_done(struct loop_watch *watch)
{
    if (!watch->handle)
        return;
    watch->handle->owner = NULL;
    uv_close((uv_handle_t *)&watch->handle->uv, free_handle);
    *watch = (struct loop_watch){0};
}
