/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/bucket.h"

#include <math.h>

#include "base/macros.h"

void bucket_init(struct bucket *bucket, double per_second, double burst, nsec_t now)
{
    burst = MAX(burst, 1.0);
    *bucket = (struct bucket){.per_second = per_second, .burst = burst, .tokens = burst, .last = now};
}

nsec_t bucket_take(struct bucket *bucket, nsec_t now)
{
    if (bucket->per_second <= 0)
        return 0;
    if (now > bucket->last) {
        double grown = (double)(now - bucket->last) / (double)NSEC_PER_SEC * bucket->per_second;

        bucket->tokens = MIN(bucket->burst, bucket->tokens + grown);
        bucket->last = now;
    }
    if (bucket->tokens >= 1) {
        bucket->tokens -= 1;
        return 0;
    }
    /* At least a bit, or rounding would make the caller spin. */
    double wait = ceil((1 - bucket->tokens) / bucket->per_second * (double)NSEC_PER_SEC);

    return (nsec_t)CLAMP(wait, (double)NSEC_PER_USEC, (double)NSEC_PER_HOUR);
}
