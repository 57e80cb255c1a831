/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "net/loop.h"

/*
 * Waits for a file descriptor of the caller: `fn` is called as long as it is readable, also at its end or with an error.
 * For descriptors that no other header handles: a packet socket, a timerfd, a pidfd.
 *
 * The struct is embedded in its owner. The descriptor stays the caller's and is closed after loop_watch_done(). All
 * zeros is a watch that was never started and may be done.
 */
struct loop_watch {
    struct loop_watch_handle *handle;  // outlives the watch until the loop has let go of it
    loop_fn fn;
    void *arg;
};

/* Returns 0, or the error of the system for a descriptor that cannot be polled. */
MUST_CHECK int loop_watch_start(struct loop_watch *watch, struct loop *loop, int fd, loop_fn fn, void *arg);

/* The same for a descriptor that can be written again. One descriptor has one watch: whoever waits for both has a
 * duplicate of it. */
MUST_CHECK int loop_watch_start_writing(struct loop_watch *watch, struct loop *loop, int fd, loop_fn fn, void *arg);
void loop_watch_done(struct loop_watch *watch);
