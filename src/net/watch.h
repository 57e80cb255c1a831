/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "net/loop.h"

/*
 * A descriptor of one's own on the loop: `fn` is called as long as there is something to read, an end or an error
 * included. For what has no better home: a packet socket, a timerfd, a pidfd.
 *
 * The struct is embedded in what it serves. The descriptor stays the caller's and is closed after loop_watch_done(). All
 * zeros is a watch that was never started and may be done.
 */
struct loop_watch {
    struct loop_watch_handle *handle;  // outlives the watch until the loop has let go of it
    loop_fn fn;
    void *arg;
};

/* Returns 0, or what the system says of a descriptor that cannot be waited for. */
MUST_CHECK int loop_watch_start(struct loop_watch *watch, struct loop *loop, int fd, loop_fn fn, void *arg);
void loop_watch_done(struct loop_watch *watch);
