/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"

/*
 * What is to happen, by time; what is to happen at one time in the order in which it was planned. Nothing is ever taken
 * back: an event that has been overtaken is known by its generation when it comes up.
 */
enum play_event_kind {
    PLAY_END,   // a job has done its work
    PLAY_LEFT,  // evicted pods of a job are gone
    PLAY_WAKE,  // a cycle is due: something has been waited for long enough
    PLAY_TICK,  // past use is counted anew
};

struct play_event {
    nsec_t time;
    uint64_t order;
    enum play_event_kind kind;
    uint32_t job;
    uint32_t generation;
};

struct play_events {
    VEC(struct play_event) heap;
    uint64_t planned;
};

void play_events_done(struct play_events *events);

void play_events_add(struct play_events *events, nsec_t time, enum play_event_kind kind, uint32_t job,
                     uint32_t generation);

/* The time of the next event, NSEC_MAX when there is none. */
nsec_t play_events_next(const struct play_events *events);

struct play_event play_events_take(struct play_events *events);
