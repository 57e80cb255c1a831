/* SPDX-License-Identifier: Apache-2.0 */

/* Times and sizes as Slurm writes them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/slurm/slurm.h"
#include "objects/fields.h"

enum { PARTS_MAX = 3, DAYS_MAX = 36500, HOUR_S = 3600, DAY_S = 86400 };

/* Numbers with colons between them. Returns how many there are, 0 for anything else. */
static int read_parts(const char *text, int64_t parts[static PARTS_MAX])
{
    int count = 0;

    for (const char *at = text; count < PARTS_MAX; at++) {
        size_t digits = strspn(at, "0123456789");

        if (digits == 0 || digits > 9)
            return 0;
        parts[count++] = strtoll(at, NULL, 10);
        at += digits;
        if (!*at)
            return count;
        if (*at != ':')
            return 0;
    }
    return 0;
}

int slurm_time_parse(const char *text, int64_t *ret_seconds, struct err *err)
{
    const char *dash = strchr(text, '-');
    int64_t parts[PARTS_MAX] = {0};
    int64_t days = 0;
    int count;

    if (strcasecmp(text, "UNLIMITED") == 0 || strcasecmp(text, "INFINITE") == 0) {
        *ret_seconds = 0;
        return 0;
    }
    if (dash)
        days = strtoll(text, NULL, 10);
    count = read_parts(dash ? dash + 1 : text, parts);
    if (count == 0 || (dash && strspn(text, "0123456789") != (size_t)(dash - text)) || dash == text || days > DAYS_MAX)
        return err_set(err, -EINVAL,
                       "--time: expected minutes, minutes:seconds, hours:minutes:seconds or "
                       "days-hours[:minutes[:seconds]]; found '%s'",
                       text);
    if (dash)
        *ret_seconds = days * DAY_S + parts[0] * HOUR_S + parts[1] * 60 + parts[2];
    else if (count == 3)
        *ret_seconds = parts[0] * HOUR_S + parts[1] * 60 + parts[2];
    else
        *ret_seconds = parts[0] * 60 + parts[1];
    return 0;
}

int slurm_memory_parse(const char *text, int64_t *ret_mib, struct err *err)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits] & ~0x20) : "M";
    int64_t count;

    if (digits == 0 || digits > 12 || !unit ||
        (text[digits] && text[digits + 1] && strcasecmp(text + digits + 1, "B") != 0))
        return err_set(err, -EINVAL, "expected a size in MiB, or with K, M, G or T; found '%s'", text);
    count = strtoll(text, NULL, 10);
    if (*unit == 'K')
        *ret_mib = (count + 1023) / 1024;
    else
        *ret_mib = *unit == 'M' ? count : *unit == 'G' ? count * 1024 : count * 1024 * 1024;
    if (*ret_mib > INT64_C(1) << 40)
        return err_set(err, -EINVAL, "'%s' is too large", text);
    return 0;
}

const char *slurm_elapsed(int64_t seconds, bool is_long, struct arena *arena)
{
    long long s = seconds % 60;
    long long m = seconds / 60 % 60;
    long long h = seconds / HOUR_S % 24;
    long long d = seconds / DAY_S;

    if (d > 0)
        return arena_printf(arena, "%lld-%02lld:%02lld:%02lld", d, h, m, s);
    if (h > 0 || is_long)
        return arena_printf(arena, is_long ? "%02lld:%02lld:%02lld" : "%lld:%02lld:%02lld", h, m, s);
    return arena_printf(arena, "%lld:%02lld", m, s);
}
