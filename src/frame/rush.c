/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/rush.h"

#include "base/macros.h"

void rush_note(struct rush *rush, nsec_t now)
{
    rush->last = now;
}

nsec_t rush_wait(struct rush *rush, nsec_t now, nsec_t since, uint32_t under_way)
{
    nsec_t waited = now - since;

    if (under_way >= RUSH_AT_ONCE)
        return NSEC_MAX;
    if (rush->last == 0 || now - rush->last >= RUSH_OVER || waited >= RUSH_LONGEST)
        return 0;
    if (waited < RUSH_PATIENCE)
        return MIN(RUSH_OVER - (now - rush->last), RUSH_PATIENCE - waited);
    if (under_way > 0)
        return NSEC_MAX;
    if (now - rush->start < RUSH_BETWEEN)
        return RUSH_BETWEEN - (now - rush->start);
    rush->start = now;
    return 0;
}
