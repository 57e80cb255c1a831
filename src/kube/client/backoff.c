/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/backoff.h"

nsec_t backoff_next(struct backoff *backoff, uint64_t random)
{
    nsec_t wait = backoff->first;

    for (uint32_t i = 0; i < backoff->failures && wait < backoff->max; i++)
        wait = wait > backoff->max / 2 ? backoff->max : wait * 2;
    /* Only now is another doubling still to be seen. */
    if (wait < backoff->max)
        backoff->failures++;
    else
        wait = backoff->max;
    return wait - (nsec_t)(random % ((uint64_t)wait / 2 + 1));
}

void backoff_reset(struct backoff *backoff)
{
    backoff->failures = 0;
}
