/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "sim/when/when.h"

struct err;
struct simulation;
struct trace;

/*
 * Predictions of the past, held against what happened: a trace is simulated, and at moments of it `when` is asked about
 * work that waits. An answer sees what has happened up to its moment and nothing else: no run time of what has not ended,
 * no arrival that is still to come. Earlier answers correct later ones once their workloads have started.
 */
struct backtest_options {
    struct when_options when;
    nsec_t every;      // from one moment to the next
    nsec_t warm_up;    // nothing is asked before that
    uint32_t at_most;  // workloads at a moment, chosen by the seed
    nsec_t until;      // nothing is asked after that; the trace goes on, so that outcomes become known
};

struct backtest_row {
    uint32_t job;  // of the simulation
    struct when_answer answer;
    nsec_t by_limits;  // when it starts if everything runs up to its limit; NSEC_MAX: not within the horizon
    nsec_t start;      // when it did; 0: never
};

struct backtest {
    VEC(struct backtest_row) rows;
    struct follower *follower;
};

/* Simulates `sim`, which has been loaded and not run. backtest_done is called in any case. */
MUST_CHECK int backtest_run(struct backtest *backtest, struct simulation *sim, struct trace *trace,
                            const struct backtest_options *options, struct err *err);
void backtest_done(struct backtest *backtest);

/* How it came out: a line for each figure, or a row of CSV for each prediction. */
void backtest_print(const struct backtest *backtest, FILE *out);
void backtest_write_rows(const struct backtest *backtest, const struct simulation *sim, FILE *out);
