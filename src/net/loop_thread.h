/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "net/loop.h"

/*
 * A loop that runs in a thread of its own. What hangs on it belongs to that thread from loop_thread_start() on; before, it
 * is made by whoever made the thread.
 */
struct loop_thread;

/* `parent` is the loop of the thread that makes it and joins it: that loop has something to wait for until then. */
struct loop_thread *loop_thread_new(struct loop *parent);
struct loop *loop_thread_loop(const struct loop_thread *thread);
void loop_thread_start(struct loop_thread *thread);

/* Calls `fn` in the thread, soon and in the order of these calls. From any thread. */
void loop_thread_call(struct loop_thread *thread, loop_fn fn, void *arg);

/* Waits until one of the thread's own callbacks has called loop_stop(), and frees thread and loop. Calls that have not been
 * made by then are left out. NULL is allowed. The loop of a thread that was not started is run to its end first, by the
 * caller. */
void loop_thread_join(struct loop_thread *thread);
