/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dates are counted by hand instead of with timegm() and strftime(): those depend on the environment, and stop at the
 * second. Every step is checked against overflow, since the text comes from outside.
 */
#include "base/time.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"

__extension__ typedef __int128 wide;

/* Days from 1970-01-01 to the date, in the Gregorian calendar. The year starts in March here, so that the leap day is
 * its last; 400 years have 146097 days. */
static int64_t days_of(int year, int month, int day)
{
    int64_t shifted = year - (month <= 2);
    int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
    int64_t year_of_era = shifted - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/* The inverse of days_of(). */
static void date_of(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;

    *ret_day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = (int)(year_of_era + era * 400 + (*ret_month <= 2));
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && is_leap);
}

/* Reads exactly `count` digits as a number in [low, high] and moves `*at` on. */
static bool read_field(const char **at, int count, int low, int high, int *ret_value)
{
    int value = 0;

    for (int i = 0; i < count; i++, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return false;
        value = value * 10 + (**at - '0');
    }
    *ret_value = value;
    return value >= low && value <= high;
}

static bool read_char(const char **at, char wanted)
{
    if (**at != wanted)
        return false;
    (*at)++;
    return true;
}

/* What follows the second: ".25" as nanoseconds. */
static bool read_fraction(const char **at, int64_t *ret_nsec)
{
    int64_t unit = NSEC_PER_SEC;

    *ret_nsec = 0;
    if (!read_char(at, '.'))
        return true;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at); (*at)++) {
        unit /= 10;
        *ret_nsec += unit * (**at - '0');
    }
    return true;
}

/* "Z" or "+01:00", as seconds to take off. */
static bool read_offset(const char **at, int64_t *ret_sec)
{
    *ret_sec = 0;
    if (read_char(at, 'Z'))
        return true;

    int sign = **at == '-' ? -1 : 1;
    int hours = 0;
    int minutes = 0;
    if (**at != '+' && **at != '-')
        return false;
    (*at)++;
    if (!read_field(at, 2, 0, 23, &hours) || !read_char(at, ':') || !read_field(at, 2, 0, 59, &minutes))
        return false;
    *ret_sec = sign * (hours * INT64_C(3600) + minutes * INT64_C(60));
    return true;
}

static bool read_time(const char *at, int64_t *ret_sec, int64_t *ret_nsec)
{
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    int64_t offset = 0;

    if (!read_field(&at, 4, 0, 9999, &year) || !read_char(&at, '-') || !read_field(&at, 2, 1, 12, &month) ||
        !read_char(&at, '-') || !read_field(&at, 2, 1, days_in(year, month), &day) || !read_char(&at, 'T'))
        return false;
    if (!read_field(&at, 2, 0, 23, &hour) || !read_char(&at, ':') || !read_field(&at, 2, 0, 59, &minute) ||
        !read_char(&at, ':') || !read_field(&at, 2, 0, 59, &second))
        return false;
    if (!read_fraction(&at, ret_nsec) || !read_offset(&at, &offset) || *at != '\0')
        return false;

    *ret_sec = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
    return true;
}

int time_parse(const char *text, nsec_t *ret_time, struct err *err)
{
    int64_t sec = 0;
    int64_t nsec = 0;

    if (!read_time(text, &sec, &nsec))
        return err_set(err, -EINVAL, "'%s' is not a time; write it as 2026-03-01T12:00:00Z", text);

    wide value = (wide)sec * NSEC_PER_SEC + nsec;
    if (value < INT64_MIN || value > INT64_MAX)
        return err_set(err, -ERANGE, "'%s' is outside the years 1678 to 2261", text);
    *ret_time = (nsec_t)value;
    return 0;
}

/* ".25" for 250000000 of a 1000000000, nothing for 0. */
static void format_fraction(int64_t fraction, int digits, char text[static 12])
{
    text[0] = '\0';
    if (fraction == 0)
        return;
    for (; fraction % 10 == 0; digits--)
        fraction /= 10;
    (void)snprintf(text, 12, ".%0*d", digits, (int)fraction);
}

const char *time_format(nsec_t time, char text[static TIME_TEXT_MAX])
{
    char fraction[12];
    int year;
    int month;
    int day;
    int64_t nsec = time % NSEC_PER_SEC;
    int64_t sec = time / NSEC_PER_SEC - (nsec < 0);
    int64_t of_day = sec % 86400 + (sec % 86400 < 0 ? 86400 : 0);

    date_of((sec - of_day) / 86400, &year, &month, &day);
    format_fraction(nsec + (nsec < 0 ? NSEC_PER_SEC : 0), 9, fraction);
    (void)snprintf(text, TIME_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", year, month, day, (int)(of_day / 3600),
                   (int)(of_day / 60 % 60), (int)(of_day % 60), fraction);
    return text;
}

static const struct unit {
    const char *name;
    int64_t nsec;
} units[] = {
    /* "ms" is tried before "m". Go writes micro with either of two signs. */
    {"ns", 1},
    {"us", NSEC_PER_USEC},
    {"\xc2\xb5s", NSEC_PER_USEC},
    {"\xce\xbcs", NSEC_PER_USEC},
    {"ms", NSEC_PER_MSEC},
    {"s", NSEC_PER_SEC},
    {"m", NSEC_PER_MIN},
    {"h", NSEC_PER_HOUR},
};

static const struct unit *read_unit(const char **at)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        size_t len = strlen(units[i].name);

        if (strncmp(*at, units[i].name, len) == 0) {
            *at += len;
            return &units[i];
        }
    }
    return NULL;
}

/* One "1.5h". What reaches `limit`, one more than the longest negative duration, only has to stay too large. */
static bool read_part(const char **at, wide *total)
{
    const wide limit = (wide)INT64_MAX + 2;
    wide whole = 0;
    wide fraction = 0;
    wide scale = 1;
    bool any = false;

    for (; isdigit((unsigned char)**at); (*at)++, any = true)
        whole = MIN(whole * 10 + (**at - '0'), limit);
    if (read_char(at, '.')) {
        for (; isdigit((unsigned char)**at); (*at)++, any = true) {
            if (scale > limit)
                continue;
            fraction = fraction * 10 + (**at - '0');
            scale *= 10;
        }
    }
    const struct unit *unit = any ? read_unit(at) : NULL;
    if (!unit)
        return false;
    *total = MIN(*total + whole * unit->nsec + fraction * unit->nsec / scale, limit);
    return true;
}

int duration_parse(const char *text, nsec_t *ret_duration, struct err *err)
{
    const char *at = text + (*text == '-' || *text == '+');
    bool is_negative = *text == '-';
    bool is_valid = *at != '\0';
    wide total = 0;

    if (strcmp(at, "0") != 0) {
        while (is_valid && *at)
            is_valid = read_part(&at, &total);
    }
    if (!is_valid)
        return err_set(err, -EINVAL, "'%s' is not a duration; write it as 90s, 1h30m or 500ms", text);
    if (total > (wide)INT64_MAX + is_negative)
        return err_set(err, -ERANGE, "'%s' is too long; the maximum is 292 years", text);
    *ret_duration = (nsec_t)(is_negative ? -total : total);
    return 0;
}

int long_duration_parse(const char *text, nsec_t *ret_duration, struct err *err)
{
    char *end;
    double number = strtod(text, &end);
    double days = strcmp(end, "d") == 0 ? 1 : strcmp(end, "w") == 0 ? 7 : 0;
    nsec_t duration = 0;

    if (days > 0 && isdigit((unsigned char)*text) && number * days < 36500) {
        *ret_duration = (nsec_t)(number * days * 86400 * 1e9);
        return 0;
    }
    if (duration_parse(text, &duration, NULL) < 0 || duration < 0)
        return err_set(err, -EINVAL, "expected a duration such as 90s, 30m, 12h or 7d, found '%s'", text);
    *ret_duration = duration;
    return 0;
}

/* Below a second the unit shrinks with the value, so that it needs no leading zero. */
static void format_short(uint64_t nsec, const char *sign, char text[static DURATION_TEXT_MAX])
{
    static const struct {
        const char *name;
        uint64_t nsec;
        int digits;
    } small[] = {{"ms", NSEC_PER_MSEC, 6}, {"\xc2\xb5s", NSEC_PER_USEC, 3}, {"ns", 1, 0}};
    char fraction[12];
    size_t i = 0;

    while (nsec < small[i].nsec)
        i++;
    format_fraction((int64_t)(nsec % small[i].nsec), small[i].digits, fraction);
    (void)snprintf(text, DURATION_TEXT_MAX, "%s%u%s%s", sign, (unsigned)(nsec / small[i].nsec), fraction,
                   small[i].name);
}

const char *duration_format(nsec_t duration, char text[static DURATION_TEXT_MAX])
{
    const char *sign = duration < 0 ? "-" : "";
    uint64_t nsec = duration < 0 ? -(uint64_t)duration : (uint64_t)duration;
    char fraction[12];

    if (nsec == 0) {
        memcpy(text, "0s", sizeof "0s");
        return text;
    }
    if (nsec < (uint64_t)NSEC_PER_SEC) {
        format_short(nsec, sign, text);
        return text;
    }

    uint64_t hours = nsec / (uint64_t)NSEC_PER_HOUR;
    unsigned minutes = (unsigned)(nsec / (uint64_t)NSEC_PER_MIN % 60);
    unsigned seconds = (unsigned)(nsec / (uint64_t)NSEC_PER_SEC % 60);
    int used = snprintf(text, DURATION_TEXT_MAX, "%s", sign);
    format_fraction((int64_t)(nsec % (uint64_t)NSEC_PER_SEC), 9, fraction);
    if (hours)
        used += snprintf(text + used, DURATION_TEXT_MAX - (size_t)used, "%lluh", (unsigned long long)hours);
    if (hours || minutes)
        used += snprintf(text + used, DURATION_TEXT_MAX - (size_t)used, "%um", minutes);
    (void)snprintf(text + used, DURATION_TEXT_MAX - (size_t)used, "%u%ss", seconds, fraction);
    return text;
}

static nsec_t read_clock(clockid_t clock)
{
    struct timespec now;

    BUG_ON(clock_gettime(clock, &now) < 0);
    return (nsec_t)now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

nsec_t nsec_now_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

nsec_t nsec_now_boot(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

nsec_t nsec_now_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

nsec_t nsec_now_cpu(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
