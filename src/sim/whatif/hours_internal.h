/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "sim/whatif/hours.h"

struct gang;
struct sim_run;
struct state;

/* Does the minimum of the gang run? */
bool hours_gang_runs(const struct gang *gang);

/* A row for each workload and each queue of the side that is there at the beginning. */
void hours_add_rows(struct hours *hours, const struct state *state, enum hours_side side);

/* Adds up what happened in a future; when both of a pair are in, they are compared. */
void hours_take_outcome(struct hours *hours, enum hours_side side, const struct sim_run *run);
void hours_compare_pair(struct hours *hours);

/* All pairs are in: medians are found, and rows that say nothing are left out. */
void hours_conclude(struct hours *hours);
