/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct err;

/*
 * Times as cron has them: five fields for minute, hour, day of the month, month and day of the week, each with "*",
 * numbers, ranges, steps and lists of these ("0 6 1-7,15 * MON-FRI/2"), or one word such as "@weekly". Where both kinds
 * of days are given, either is enough. Times are UTC.
 */
struct cron {
    uint64_t minutes;   // bits: 0 to 59
    uint32_t hours;     // 0 to 23
    uint32_t days;      // 1 to 31
    uint32_t months;    // 1 to 12
    uint32_t weekdays;  // 0 to 6, from Sunday on
    bool has_any_day;
    bool has_any_weekday;
};

/* Returns 0 or -EINVAL. */
MUST_CHECK int cron_parse(const char *text, struct cron *ret_cron, struct err *err);

/* The latest such time before `time`; 0 when there is none in the last forty years, as for the 30th of February. */
nsec_t cron_before(const struct cron *cron, nsec_t time);

/* The first such time after `time`; 0 when there is none in the next forty years. */
nsec_t cron_after(const struct cron *cron, nsec_t time);
