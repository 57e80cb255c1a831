/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/vec.h"

struct sim_run;

/* How a queue stands at the end, in GPUs; -1 is unlimited. */
struct queue_standing {
    uint32_t queue;  // in simulation.queues
    uint32_t depth;
    double quota;
    double limit;
    double fair_share;
    double allocated;
    double borrowed;  // beyond its quota
    double lent;      // of its quota, to siblings that borrow
    double pending;
};

struct queue_standings VEC_OF(struct queue_standing);

/* All queues, each under its parent, siblings in the order in which the engine has them. */
void queue_standings(const struct sim_run *run, struct queue_standings *ret);
