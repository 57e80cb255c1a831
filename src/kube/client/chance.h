/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Numbers that look random, the same for the same start: for jitter and names, never for secrets (SplitMix64). */
struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t z = chance->state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}
