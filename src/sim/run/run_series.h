/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"

/*
 * How numbers went over time, in a bounded number of equal steps: when time runs past the last one, two steps become one
 * and all are twice as long. What is kept of a step is the number's integral over it, so that means are exact.
 */
enum { SERIES_STEPS = 1024 };

struct series {
    double value;  // now
    nsec_t since;
    double total;   // integral over all time up to `since`, in value x nanoseconds
    double *steps;  // SERIES_STEPS integrals
};

struct timeline {
    nsec_t start;
    nsec_t step;
    nsec_t now;
    VEC(struct series *) series;  // owned
};

void timeline_init(struct timeline *timeline, nsec_t start);
void timeline_done(struct timeline *timeline);

/* A new series, which is 0 so far. It lives as long as the timeline. */
struct series *timeline_add(struct timeline *timeline);

/* Time goes on to `now`. */
void timeline_advance(struct timeline *timeline, nsec_t now);

/* The number is `value` from the timeline's now on. */
void series_set(struct timeline *timeline, struct series *series, double value);

/* Something that happens at one moment: adds to the step and the total, as if it were an integral. */
void series_add(struct timeline *timeline, struct series *series, double amount);

/* Brings every series up to the timeline's now. */
void timeline_finish(struct timeline *timeline);

/* Steps in use. */
uint32_t timeline_steps(const struct timeline *timeline);

/* The mean over step `i`, which for the last one is over the part of it that has been. */
double series_mean(const struct timeline *timeline, const struct series *series, uint32_t i);
