/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/vec.h"

struct simulation;

/* How a queue stands at the end, in GPUs; -1 is no bound. */
struct queue_standing {
    uint32_t queue;  // in simulation.queues
    uint32_t depth;
    double quota;
    double limit;
    double fair_share;
    double used;
    double borrows;  // beyond its quota
    double lends;    // of its quota, to siblings that borrow
    double pending;
};

struct queue_standings VEC_OF(struct queue_standing);

/* All queues, each under its parent, siblings in the order in which the engine has them. */
void queue_standings(const struct simulation *sim, struct queue_standings *ret);
