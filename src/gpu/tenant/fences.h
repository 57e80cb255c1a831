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

/* After a launch on the slot, where so much work may be queued. Called by the thread that launched, which may record a fence
 * now. */
void fences_note(int slot, void *stream, const void *what, uint64_t limit_ns);

/* The work that was unfinished when somebody last looked, in nanoseconds. */
uint64_t fences_left(int slot);

/* Looks which fences have been passed, and returns the same. */
uint64_t fences_look(int slot);

/* Whether everything has ended, fences behind the last launches included; these are recorded when missing. */
bool fences_are_passed(int slot);

/* When the next fence will be passed, if its work takes as long as it did before. */
int64_t fences_next_end(int slot);

/* When the last fence was seen to be passed, as CLOCK_MONOTONIC. */
int64_t fences_last_end(int slot);

/* How long the lease kept the device, by the device's own clock, once everything has ended: from where its first launch could
 * begin, which is after the device has turned to this process, to the end of the last. 0 when that cannot be told. */
int64_t fences_busy(int slot);

/* Records what is missing on one stream, and waits until nobody else is about to. */
void fences_finish_stream(void *stream);

/* Lets go of the events of a context (NULL: all), which are about to die with it. */
void fences_drop(int slot, void *ctx);

void fences_forget(void);
