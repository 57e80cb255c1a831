/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/time.h"

/* A limit on a rate: `burst` at once, `per_second` in the long run. Time is passed in and only ever goes forward. */
struct bucket {
    double per_second;  // 0 or less: no limit
    double burst;
    double tokens;
    nsec_t last;
};

/* A full one. A burst below 1 counts as 1. */
void bucket_init(struct bucket *bucket, double per_second, double burst, nsec_t now);

/* Takes one and returns 0, or returns how long to wait before asking again. */
nsec_t bucket_take(struct bucket *bucket, nsec_t now);
