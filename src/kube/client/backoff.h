/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/time.h"

/*
 * How long to wait after failures in a row: `first`, then twice as long each time, up to `max`; of that, a random part
 * between a half and the whole, so that many who failed together do not come back together.
 */
struct backoff {
    nsec_t first;
    nsec_t max;
    uint32_t failures;  // in a row, as far as they matter
};

/* Counts a failure and gives the wait; `random` is any 64 random bits. */
nsec_t backoff_next(struct backoff *backoff, uint64_t random);

/* Something went well. */
void backoff_reset(struct backoff *backoff);
