/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Events that we record behind launches, to know how much work is still unfinished on a GPU and when the last of it has
 * ended. Recording one behind each launch would slow small kernels down, so one is recorded when about half a
 * millisecond of work has come together, or more where more may be queued; how long each function takes is learned from the
 * fences before. */

#include <stdbool.h>
#include <stdint.h>

/* Before the first launch of a lease, by the thread that launches it. */
void fences_begin(int slot, void *stream);

/* After a launch on the slot, at `now`, where so much work may be queued. Called by the thread that launched, which may
 * record a fence now. */
void fences_note(int slot, void *stream, const void *what, uint64_t limit_ns, int64_t now);

/* Whether others run on the device at the same time: then nothing is learned about functions whose cost is known. */
void fences_share(int slot, bool is_shared);

/* The work that was unfinished when somebody last looked, in nanoseconds. */
uint64_t fences_left(int slot);

/* Looks which fences have been passed, and returns the same. */
uint64_t fences_look(int slot);

/* Whether everything has ended, fences behind the last launches included; these are recorded when missing. */
bool fences_are_passed(int slot);

/* Returns when every look that was under way has ended. */
void fences_await_looks(void);

/* When the next fence will be passed, if its work takes as long as it did before. */
int64_t fences_next_end(int slot);

/* When the last fence was seen to be passed, as CLOCK_MONOTONIC. */
int64_t fences_last_end(int slot);

/* How long the lease kept the device, by the device's own clock, once everything has ended: from where its first launch could
 * begin, which is after the device has turned to this process, to the end of the last. 0 when that cannot be told. */
int64_t fences_busy(int slot);

/* What lies in the queues now waits for more than the device: it is no longer counted as unfinished, and nothing is learned
 * from it about functions whose cost is known. */
void fences_doubt(int slot);

/* Records what is missing on one stream, and waits until nobody else is about to. */
void fences_finish_stream(void *stream);

/* Lets go of the events of a context (NULL: all), which are about to die with it. */
void fences_drop(int slot, void *ctx);

/* Around a call after which a context may or may not be gone, its events with it (NULL: it is not): in between no thread but
 * those that launch touches events. */
void fences_hold(int slot);
void fences_go_on(int slot, const void *gone_ctx);

void fences_forget(void);
