/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * Points in time and durations, both in nanoseconds. A point in time counts from 1970-01-01T00:00:00Z and reaches from
 * 1677 to 2262. Where "now" matters it is passed in; only the command line reads a clock.
 */
typedef int64_t nsec_t;

#define NSEC_PER_USEC INT64_C(1000)
#define NSEC_PER_MSEC INT64_C(1000000)
#define NSEC_PER_SEC INT64_C(1000000000)
#define NSEC_PER_MIN (60 * NSEC_PER_SEC)
#define NSEC_PER_HOUR (60 * NSEC_PER_MIN)
#define NSEC_MAX INT64_MAX

/* Room for any formatted time or duration and its NUL. */
enum { TIME_TEXT_MAX = 40, DURATION_TEXT_MAX = 40 };

/*
 * RFC 3339: "2026-03-01T12:00:00Z", "2026-03-01T13:00:00.25+01:00". Digits past the nanosecond are dropped.
 * Returns 0; -EINVAL when `text` is no such time, -ERANGE when it lies outside of what nsec_t holds.
 */
MUST_CHECK int time_parse(const char *text, nsec_t *ret_time, struct err *err);

/* Writes the time in UTC, with as many digits after the point as it needs. Returns `text`. */
const char *time_format(nsec_t time, char text[static TIME_TEXT_MAX]);

/*
 * Durations as Go writes them: "1h30m", "1.5s", "500ms", "-10us", "0". Every number but a lone 0 has a unit, one of ns,
 * us, ms, s, m, h. What is finer than a nanosecond is dropped.
 * Returns 0; -EINVAL when `text` is no duration, -ERANGE when it does not fit.
 */
MUST_CHECK int duration_parse(const char *text, nsec_t *ret_duration, struct err *err);

/* A duration that is not negative, as above or in days or weeks, "7d" and "1.5w", up to a hundred years. */
MUST_CHECK int long_duration_parse(const char *text, nsec_t *ret_duration, struct err *err);

/* Writes the duration as Go does: "1h30m0s", "1.5s", "500ms", "0s". Returns `text`. */
const char *duration_format(nsec_t duration, char text[static DURATION_TEXT_MAX]);

/* Clocks: for measuring, the same with the time for which the machine was suspended, for dates, and for what this process
 * has used of the processors. */
nsec_t nsec_now_monotonic(void);
nsec_t nsec_now_boot(void);
nsec_t nsec_now_wall(void);
nsec_t nsec_now_cpu(void);
