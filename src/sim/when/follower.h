/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "sim/when/future.h"

struct sim_run;
struct trace;

/* The past of a simulation under way: what came and ended in it so far becomes a history, and nothing that comes later. */
struct follower {
    struct past history;
    struct trace *trace;
    VEC(uint32_t) index_of;  // by job of the simulation: in history.jobs, NO_ID: not from the trace
    VEC(uint32_t) open;      // jobs that have not ended
};

void follower_init(struct follower *follower, struct trace *trace);
void follower_done(struct follower *follower);

/* Takes in what has happened since the last call. */
void follower_update(struct follower *follower, const struct sim_run *run);

/* A copy of the state of the simulation, and what is known of its gangs. Both are the caller's. */
struct state *follower_state(const struct sim_run *run);
struct future_fact *follower_facts(const struct follower *follower, const struct sim_run *run,
                                   const struct state *copy);
