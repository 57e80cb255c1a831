/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Random numbers that are the same on every machine: xoshiro256** and arithmetic that IEEE 754 fixes to the last bit. No
 * function of the C library is used, whose last bits differ between versions.
 */
struct random {
    uint64_t state[4];
};

void random_init(struct random *random, uint64_t seed);

uint64_t random_next(struct random *random);

/* In [0, 1). */
double random_unit(struct random *random);

/* A whole number in [low, high]. */
int64_t random_between(struct random *random, int64_t low, int64_t high);

/* An index below `count`, as likely as its weight says. */
size_t random_pick(struct random *random, const double *weights, size_t count);

/* Exp of a normal variable: `median` is its median, and two thirds of the values lie within a factor e^spread of it. */
double random_lognormal(struct random *random, double median, double spread);

/* e^x for |x| < 700, the same bits everywhere. */
double exact_exp(double x);
