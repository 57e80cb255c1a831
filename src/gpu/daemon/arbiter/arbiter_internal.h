/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "gpu/daemon/arbiter/arbiter.h"

/* What the files of the arbiter share. */

/* `time` times a share, and divided by one: without overflow for years. */
static inline nsec_t times(nsec_t time, uint32_t share)
{
    return (nsec_t)((__int128)time * share / ARBITER_WHOLE);
}

static inline nsec_t over(nsec_t time, uint32_t share)
{
    return (nsec_t)((__int128)time * ARBITER_WHOLE / share);
}

/* Whether two groups want the same GPU. */
static inline bool compete(const struct arbiter_group *a, const struct arbiter_group *b)
{
    return a != b && (a->gpus & b->gpus) != 0;
}
