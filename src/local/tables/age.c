/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "local/tables/tables.h"

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };

/* "7d23h", or "7d" when the second part is nothing. */
static const char *format(long long value, int unit, char letter, int part_unit, char part_letter, char *text)
{
    long long part = value % unit / part_unit;

    if (part == 0)
        (void)snprintf(text, AGE_TEXT_MAX, "%lld%c", value / unit, letter);
    else
        (void)snprintf(text, AGE_TEXT_MAX, "%lld%c%lld%c", value / unit, letter, part, part_letter);
    return text;
}

const char *table_age(nsec_t duration, char text[static AGE_TEXT_MAX])
{
    long long seconds = duration / NSEC_PER_SEC;

    if (seconds < -1)
        return "<invalid>";
    if (seconds < 0)
        seconds = 0;
    if (seconds < 2 * MINUTE)
        return format(seconds, 1, 's', 1, 's', text);
    if (seconds < 10 * MINUTE)
        return format(seconds, MINUTE, 'm', 1, 's', text);
    if (seconds < 3 * HOUR)
        return format(seconds - seconds % MINUTE, MINUTE, 'm', MINUTE, 'm', text);
    if (seconds < 8 * HOUR)
        return format(seconds, HOUR, 'h', MINUTE, 'm', text);
    if (seconds < 2 * DAY)
        return format(seconds - seconds % HOUR, HOUR, 'h', HOUR, 'h', text);
    if (seconds < 8 * DAY)
        return format(seconds, DAY, 'd', HOUR, 'h', text);
    if (seconds < 2LL * YEAR)
        return format(seconds - seconds % DAY, DAY, 'd', DAY, 'd', text);
    if (seconds < 8LL * YEAR)
        return format(seconds, YEAR, 'y', DAY, 'd', text);
    return format(seconds - seconds % YEAR, YEAR, 'y', YEAR, 'y', text);
}
