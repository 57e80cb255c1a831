/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/macros.h"
#include "base/time.h"

struct err;

/*
 * One thread that waits for many things: sockets, timers, signals, children. Everything in net/ and above hangs on one
 * loop and runs in the thread that runs it; only a loop_work_fn runs elsewhere.
 *
 * Everything that is registered with a loop is released before the loop is freed. Callbacks may start, stop and free
 * anything, including the object that they belong to, unless a header says otherwise.
 */
struct loop;

typedef void (*loop_fn)(void *arg);

/* Ignores SIGPIPE for the whole process: a peer that goes away is an error of the write, not the end of the program. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* For _cleanup_. */
void loop_freep(struct loop **loop);

/* Runs until loop_stop(), or until there is nothing left to wait for. May be run again. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/*
 * Calls `fn` once after a time, not before it has passed; to the millisecond. The struct is embedded in its owner
 * and may be freed with it after loop_timer_done(). All zeros is a timer that was never initialised and may be done.
 */
struct loop_timer {
    struct loop_timer_handle *handle;  // outlives the timer until the loop has let go of it
    loop_fn fn;
    void *arg;
};

void loop_timer_init(struct loop_timer *timer, struct loop *loop, loop_fn fn, void *arg);
void loop_timer_done(struct loop_timer *timer);

/* (Re)starts the timer. Zero or less fires in the next round of the loop. */
void loop_timer_start(struct loop_timer *timer, nsec_t after);
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_is_running(const struct loop_timer *timer);

/*
 * Work for later in the same thread: runs once, soon, from the loop and not from within its caller. Queueing a task
 * that is queued does nothing, so that a burst of events leads to one run. Tasks run in the order in which they were
 * queued; one that is queued by a task waits for the next round, so that sockets get their turn.
 */
struct loop_task {
    struct loop *loop;
    loop_fn fn;
    void *arg;
    struct list_link in_loop;
    uint64_t round;  // of the loop when it was queued
    bool is_queued;
};

void loop_task_init(struct loop_task *task, struct loop *loop, loop_fn fn, void *arg);
void loop_task_queue(struct loop_task *task);

/* Does nothing for a task that is not queued. Call it before the memory is freed. All zeros is allowed. */
void loop_task_cancel(struct loop_task *task);

/* Calls `fn` whenever the process gets the signal. Stays until the loop is freed and does not keep it running. */
typedef void (*loop_signal_fn)(void *arg, int signal);
MUST_CHECK int loop_on_signal(struct loop *loop, int signal, loop_signal_fn fn, void *arg, struct err *err);

/*
 * Runs `work` in another thread and then `done` in the loop's. `work` touches nothing that the loop's thread touches
 * meanwhile. It cannot be cancelled: loop_free() waits for work that has been started, and calls `done`.
 */
void loop_work(struct loop *loop, loop_fn work, loop_fn done, void *arg);
