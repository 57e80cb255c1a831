/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "engine/config.h"
#include "engine/reasons/explain.h"
#include "model/ids.h"

struct engine;
struct state;

/*
 * Runs cycles over a state, each carried out at once, until nothing changes any more: bound pods run, evicted ones are
 * gone and wait again. Time stands still. A cluster that never comes to rest is left after WHY_CYCLES_MAX.
 */
enum { WHY_CYCLES_MAX = 24 };

struct why_run {
    struct engine *engine;  // open, after its last action, until why_run_done
    uint32_t cycles;
    bool is_settled;  // the last cycle decided nothing
};

void why_run(struct why_run *run, struct state *state, const struct config *config, nsec_t now);
void why_run_done(struct why_run *run);

/*
 * Does the gang run: all that it needs, and more than `more_than` pods? Promised places do not count: they are for pods
 * that wait.
 */
bool why_gang_runs(const struct state *state, gang_id gang, uint32_t more_than);
