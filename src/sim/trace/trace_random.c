/* SPDX-License-Identifier: Apache-2.0 */

/* xoshiro256** by Blackman and Vigna (public domain), seeded by splitmix64 as they advise. */
#include "sim/trace/trace_random.h"

#include "base/macros.h"

static uint64_t split_mix(uint64_t *at)
{
    uint64_t z = (*at += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void random_init(struct random *random, uint64_t seed)
{
    for (size_t i = 0; i < ARRAY_LEN(random->state); i++)
        random->state[i] = split_mix(&seed);
}

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

uint64_t random_next(struct random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

int64_t random_between(struct random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(random_unit(random) * (double)(high - low + 1));
}

size_t random_pick(struct random *random, const double *weights, size_t count)
{
    double sum = 0;
    double left;

    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    left = random_unit(random) * sum;
    for (size_t i = 0; i + 1 < count; i++) {
        left -= weights[i];
        if (left < 0)
            return i;
    }
    return count - 1;
}

/* Halved until the series converges fast, then squared back. */
double exact_exp(double x)
{
    double term = 1;
    double sum = 1;
    int halvings = 0;

    while (x > 0.5 || x < -0.5) {
        x /= 2;
        halvings++;
    }
    for (int i = 1; i < 20; i++) {
        term = term * x / i;
        sum += term;
    }
    while (halvings-- > 0)
        sum *= sum;
    return sum;
}

/* Twelve uniform variables add up to a nearly normal one of variance 1. */
double random_lognormal(struct random *random, double median, double spread)
{
    double normal = -6;

    for (int i = 0; i < 12; i++)
        normal += random_unit(random);
    return median * exact_exp(normal * spread);
}
