/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "model/ids.h"
#include "sim/run/run.h"
#include "sim/trace/trace.h"
#include "sim/when/past.h"

struct config;
struct err;
struct state;
struct strmap;

/* What is known of a workload of the state beside the state. */
struct future_fact {
    struct past_traits traits;
    nsec_t elapsed;  // that it has run; 0 for one that waits
    nsec_t limit;    // declared for its run time, 0: none
    int64_t gpus;    // of all pods, billionths
    bool is_undone;  // it lost its place, and what it had done with it
};

/* A cluster at a moment. */
struct future_world {
    struct state *state;  // settled; only copies of it are changed
    const struct config *config;
    nsec_t now;
    nsec_t grace;
    struct sim_run_usage_options usage;
    struct past *history;
    const struct future_fact *facts;  // by gang
    const struct strmap *replicas;    // as sim_run_options has it
    const struct state *comes_to;     // further work comes to the queues of this state; NULL: of `state`
};

struct future_options {
    uint64_t seed;
    nsec_t horizon;  // how far to look
    bool
        by_limits;  // everything runs for as long as its limit says, and nothing else comes: the estimate that others make
};

/*
 * One future of the world, number `number`, by the real engine: what runs ends after a run time that was drawn, what
 * waits runs for one, and work comes as it came in some past week. `ret_starts` has for each target the time at which it
 * starts, NSEC_MAX when it does not within the horizon.
 *
 * What is drawn for a workload depends on the seed, the number and its name alone: two worlds that differ in something
 * else have the same futures otherwise.
 */
MUST_CHECK int future_run(const struct future_world *world, const struct future_options *options, uint32_t number,
                          const gang_id *targets, uint32_t target_count, nsec_t *ret_starts, struct err *err);

/* A future to the end of its horizon, with all that happened in it. */
struct future_outcome {
    struct trace trace;  // what came; names are the history's
    struct state *state;
    struct sim_run run;
};

/* Simulates all of it. future_outcome_done is called in any case. */
MUST_CHECK int future_play(const struct future_world *world, const struct future_options *options, uint32_t number,
                           struct future_outcome *ret, struct err *err);
void future_outcome_done(struct future_outcome *outcome);

/* What runs in the world and has not ended yet becomes part of what its history says of run times. */
void future_take_in_running(const struct future_world *world);
