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
enum sim_run_event_kind {
    SIM_RUN_END,   // a job has done its work
    SIM_RUN_LEFT,  // evicted pods of a job are gone
    SIM_RUN_WAKE,  // a cycle is due: something has been waited for long enough
    SIM_RUN_TICK,  // past use is counted anew
};

struct sim_run_event {
    nsec_t time;
    uint64_t order;
    enum sim_run_event_kind kind;
    uint32_t job;
    uint32_t generation;
};

struct sim_run_events {
    VEC(struct sim_run_event) heap;
    uint64_t planned;
};

void sim_run_events_done(struct sim_run_events *events);

void sim_run_events_add(struct sim_run_events *events, nsec_t time, enum sim_run_event_kind kind, uint32_t job,
                        uint32_t generation);

/* The time of the next event, NSEC_MAX when there is none. */
nsec_t sim_run_events_next(const struct sim_run_events *events);

struct sim_run_event sim_run_events_take(struct sim_run_events *events);
