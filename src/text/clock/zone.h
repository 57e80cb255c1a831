/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"

struct err;

/* A time zone by its name in the database of zones: "Europe/Berlin". All zeros is UTC. */
struct zone_change {
    int64_t time;    // seconds since 1970 from which on
    int32_t offset;  // local time is that much ahead of UTC, in seconds
};

/* A day on which clocks change, in every year: "the 5th Sunday of March, at 2:00". */
struct zone_rule {
    int month, week, weekday;
    int32_t seconds;  // of the day, by the clock before the change
};

struct zone {
    VEC(struct zone_change) changes;
    int32_t first;     // before the first change
    bool has_rule;     // for all that comes after the last change
    int32_t standard;  // by the rule
    bool has_summer;
    int32_t summer;
    struct zone_rule start, end;  // of summer time
};

/* "" and "UTC" are UTC. Returns 0; -EINVAL for a name that cannot be one; -ENOENT when the machine has no such zone. */
MUST_CHECK int zone_read(struct zone *zone, const char *name, struct err *err);
void zone_done(struct zone *zone);

/* How far local time is ahead of UTC at that time. */
nsec_t zone_offset(const struct zone *zone, nsec_t time);

/* The time at which clocks show `local`, which is counted as if it were UTC. A time that is skipped is moved forward by
 * the hour that is missing; of a time that comes twice it is the first. */
nsec_t zone_to_utc(const struct zone *zone, nsec_t local);

/* RFC 3339 with the offset of the zone, to the second: "2026-03-01T13:00:00+01:00". Returns `text`. */
const char *zone_format(const struct zone *zone, nsec_t time, char text[static TIME_TEXT_MAX]);
