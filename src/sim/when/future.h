/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "model/ids.h"
#include "sim/run/run.h"
#include "sim/when/past.h"

struct config;
struct err;
struct state;

/* What is known of a workload of the state beside the state. */
struct future_fact {
    struct past_traits traits;
    nsec_t elapsed;  // that it has run; 0 for one that waits
    nsec_t limit;    // declared for its run time, 0: none
    int64_t gpus;    // of all pods, billionths
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
