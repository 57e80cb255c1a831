/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "base/time.h"

/*
 * How long an owner has waited for what others have borrowed. Each reservation that has to wait gives the borrowers time; a
 * process that takes its memory in many pieces would wait for each of them as long, where a little comes back now and then but
 * never enough. So the times add up, until there was no wait for as long as one may last.
 */
struct patience {
    nsec_t waited;
    nsec_t ended;  // the last wait
};

/* How long a wait that begins now may last. Whoever is asked anew always has a tenth of the time. */
static inline nsec_t patience_left(struct patience *p, nsec_t deadline, nsec_t now)
{
    if (now - p->ended > deadline)
        p->waited = 0;
    return MAX(deadline - p->waited, deadline / 10);
}

static inline void patience_note(struct patience *p, nsec_t since, nsec_t now)
{
    p->waited += now - since;
    p->ended = now;
}
