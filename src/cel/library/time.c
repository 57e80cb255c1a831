/* SPDX-License-Identifier: Apache-2.0 */

/* Durations and points in time, the latter from the year 1 to 9999 and in UTC or at a fixed offset from it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cel/library/library.h"

enum { SECOND_NANOS = 1000000000, DAY_SECONDS = 86400 };

/* --- Calendar --- */

struct date {
    int64_t year;
    int month;  // 1 to 12
    int day;
    int day_of_year;  // from 0
    int weekday;      // from Sunday, 0
};

/* Days since 1970-01-01 in the Gregorian calendar. */
static int64_t days_from(int64_t year, int month, int day)
{
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static struct date date_of(int64_t days)
{
    const int64_t shifted = days + 719468;
    const int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    const int64_t day_of_era = shifted - era * 146097;
    const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t month_index = (5 * day_of_year + 2) / 153;
    struct date date = {
        .month = (int)(month_index < 10 ? month_index + 3 : month_index - 9),
        .day = (int)(day_of_year - (153 * month_index + 2) / 5 + 1),
        .weekday = (int)(((days % 7) + 11) % 7),
    };

    date.year = year_of_era + era * 400 + (date.month <= 2);
    date.day_of_year = (int)(days - days_from(date.year, 1, 1));
    return date;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* --- Text --- */

static bool read_digits(const char *at, int count, int *ret_value)
{
    *ret_value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)at[i]))
            return false;
        *ret_value = *ret_value * 10 + (at[i] - '0');
    }
    return true;
}

/* "Z" or "+02:00" up to the end. */
static bool read_zone(const char *at, int64_t *ret_offset)
{
    int hours;
    int minutes;

    *ret_offset = 0;
    if (strcmp(at, "Z") == 0)
        return true;
    if ((*at != '+' && *at != '-') || strlen(at) != 6 || at[3] != ':' || !read_digits(at + 1, 2, &hours) ||
        !read_digits(at + 4, 2, &minutes) || hours > 24 || minutes > 60)
        return false;
    *ret_offset = (hours * 3600 + minutes * 60) * (*at == '-' ? -1 : 1);
    return true;
}

static const char *read_fraction(const char *at, int32_t *ret_nanos)
{
    int32_t unit = SECOND_NANOS / 10;

    *ret_nanos = 0;
    if ((*at != '.' && *at != ',') || !isdigit((unsigned char)at[1]))
        return at;
    for (at++; isdigit((unsigned char)*at); at++) {
        *ret_nanos += (*at - '0') * unit;
        unit /= 10;
    }
    return at;
}

static bool read_clock(const char *at, int *ret_hours, int *ret_minutes, int *ret_seconds, size_t *ret_len)
{
    /* Go reads an hour of one digit too. */
    int digits = isdigit((unsigned char)at[0]) && at[1] == ':' ? 1 : 2;

    *ret_len = (size_t)digits + 6;
    return read_digits(at, digits, ret_hours) && at[digits] == ':' && read_digits(at + digits + 1, 2, ret_minutes) &&
           at[digits + 3] == ':' && read_digits(at + digits + 4, 2, ret_seconds) && *ret_hours < 24 &&
           *ret_minutes < 60 && *ret_seconds < 60;
}

bool read_timestamp(struct cel_text text, struct timestamp *ret_time)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    char copy[80];
    int year;
    int month;
    int day;
    int hours;
    int minutes;
    int seconds;
    int64_t offset;
    size_t len;

    if (text.len >= sizeof copy || text.len < 19)
        return false;
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = '\0';
    if (strlen(copy) != text.len || !read_digits(copy, 4, &year) || copy[4] != '-' ||
        !read_digits(copy + 5, 2, &month) || copy[7] != '-' || !read_digits(copy + 8, 2, &day) || copy[10] != 'T' ||
        !read_clock(copy + 11, &hours, &minutes, &seconds, &len))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > month_days[month - 1] + (month == 2 && is_leap(year)))
        return false;
    const char *rest = read_fraction(copy + 11 + len, &ret_time->nanos);
    if (!read_zone(rest, &offset))
        return false;
    ret_time->seconds = days_from(year, month, day) * DAY_SECONDS + hours * 3600 + minutes * 60 + seconds - offset;
    return ret_time->seconds >= TIME_MIN && ret_time->seconds <= TIME_MAX;
}

size_t write_timestamp(struct timestamp time, char *out, size_t size)
{
    const int64_t days = floor_div(time.seconds, DAY_SECONDS);
    const int second = (int)(time.seconds - days * DAY_SECONDS);
    const struct date date = date_of(days);
    char fraction[16] = "";
    int digits = 9;

    if (time.nanos) {
        (void)snprintf(fraction, sizeof fraction, ".%09d", time.nanos);
        while (fraction[digits] == '0')
            fraction[digits--] = '\0';
    }
    return (size_t)snprintf(out, size, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", (int)date.year, date.month, date.day,
                            second / 3600, second / 60 % 60, second % 60, fraction);
}

/* One number with its unit, such as "1.5h"; the nanoseconds of it, or false. */
static bool read_part(const char **at, const char *end, unsigned __int128 *ret_nanos)
{
    static const struct {
        const char *name;
        uint64_t nanos;
    } units[] = {{"ns", 1},       {"us", 1000},        {"\xc2\xb5s", 1000},         {"\xce\xbcs", 1000},
                 {"ms", 1000000}, {"s", SECOND_NANOS}, {"m", 60ULL * SECOND_NANOS}, {"h", 3600ULL * SECOND_NANOS}};
    unsigned __int128 whole = 0;
    double fraction = 0;
    double scale = 1;
    bool has_digits = false;

    for (; *at < end && isdigit((unsigned char)**at); (*at)++, has_digits = true)
        whole = MIN(whole * 10 + (unsigned)(**at - '0'), (unsigned __int128)1 << 64);
    if (*at < end && **at == '.')
        for ((*at)++; *at < end && isdigit((unsigned char)**at); (*at)++, has_digits = true) {
            fraction = fraction * 10 + (**at - '0');
            scale *= 10;
        }
    if (!has_digits)
        return false;
    size_t len = 0;
    while (*at + len < end && (*at)[len] != '.' && !isdigit((unsigned char)(*at)[len]))
        len++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == len && memcmp(units[i].name, *at, len) == 0) {
            *at += len;
            *ret_nanos = whole * units[i].nanos + (unsigned __int128)(fraction * ((double)units[i].nanos / scale));
            return true;
        }
    }
    return false;
}

bool read_duration(struct cel_text text, int64_t *ret_nanos)
{
    const char *at = text.bytes;
    const char *end = at + text.len;
    unsigned __int128 sum = 0;
    bool is_negative = false;

    if (at < end && (*at == '-' || *at == '+'))
        is_negative = *at++ == '-';
    if (end - at == 1 && *at == '0') {
        *ret_nanos = 0;
        return true;
    }
    if (at == end)
        return false;
    while (at < end) {
        unsigned __int128 part;
        if (!read_part(&at, end, &part))
            return false;
        sum += part;
        if (sum > (unsigned __int128)1 << 63)
            return false;
    }
    if (sum > INT64_MAX && !is_negative)
        return false;
    *ret_nanos = is_negative ? (int64_t)-(uint64_t)sum : (int64_t)sum;
    return true;
}

/* --- Arithmetic --- */

struct cel_value add_to_timestamp(struct run *run, struct cel_value time, struct cel_value duration)
{
    const struct timestamp *from = time.other;
    struct timestamp sum = *from;

    if (duration.kind != CEL_DURATION)
        return no_overload();
    sum.seconds += duration.integer / SECOND_NANOS;
    sum.nanos += (int32_t)(duration.integer % SECOND_NANOS);
    sum.seconds += floor_div(sum.nanos, SECOND_NANOS);
    sum.nanos = (int32_t)(sum.nanos - floor_div(sum.nanos, SECOND_NANOS) * SECOND_NANOS);
    if (sum.seconds < TIME_MIN || sum.seconds > TIME_MAX)
        return error_value(CEL_RANGE, "timestamp overflow");
    return timestamp_value(run, sum);
}

struct cel_value subtract_from_timestamp(struct run *run, struct cel_value time, struct cel_value other)
{
    const struct timestamp *from = time.other;
    int64_t nanos;

    if (other.kind == CEL_DURATION) {
        if (other.integer == INT64_MIN)
            return error_value(CEL_RANGE, "timestamp overflow");
        return add_to_timestamp(run, time, duration_value(-other.integer));
    }
    const struct timestamp *to = other.other;
    if (__builtin_mul_overflow(from->seconds - to->seconds, (int64_t)SECOND_NANOS, &nanos) ||
        __builtin_add_overflow(nanos, (int64_t)from->nanos - to->nanos, &nanos))
        return error_value(CEL_RANGE, "duration overflow");
    return duration_value(nanos);
}

/* --- Parts --- */

enum part { YEAR, MONTH, DAY_OF_YEAR, DAY_OF_MONTH, DATE, WEEKDAY, HOURS, MINUTES, SECONDS, MILLISECONDS };

/* An offset such as "-02:00" or "02:00", or a name of UTC. */
static bool zone_offset(struct cel_text text, int64_t *ret_offset)
{
    char copy[16];
    int hours;
    int minutes;
    bool has_sign = text.len && (*text.bytes == '-' || *text.bytes == '+');

    *ret_offset = 0;
    if (text.len == 0 || text_equals(text, "UTC"))
        return true;
    if (text.len >= sizeof copy || text.len != (has_sign ? 6U : 5U))
        return false;
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = '\0';
    const char *at = copy + (has_sign ? 1 : 0);
    if (at[2] != ':' || !read_digits(at, 2, &hours) || !read_digits(at + 3, 2, &minutes))
        return false;
    *ret_offset = (hours * 3600 + minutes * 60) * (*copy == '-' ? -1 : 1);
    return true;
}

static int64_t time_part(struct timestamp time, int64_t offset, enum part part)
{
    const int64_t seconds = time.seconds + offset;
    const int64_t days = floor_div(seconds, DAY_SECONDS);
    const int64_t of_day = seconds - days * DAY_SECONDS;
    const struct date date = date_of(days);

    switch (part) {
    case YEAR:
        return date.year;
    case MONTH:
        return date.month - 1;
    case DAY_OF_YEAR:
        return date.day_of_year;
    case DAY_OF_MONTH:
        return date.day - 1;
    case DATE:
        return date.day;
    case WEEKDAY:
        return date.weekday;
    case HOURS:
        return of_day / 3600;
    case MINUTES:
        return of_day / 60 % 60;
    case SECONDS:
        return of_day % 60;
    case MILLISECONDS:
        return time.nanos / 1000000;
    }
    return 0;
}

static struct cel_value part_of(const struct cel_value *args, int count, enum part part)
{
    static const int64_t units[] = {[HOURS] = 3600LL * SECOND_NANOS,
                                    [MINUTES] = 60LL * SECOND_NANOS,
                                    [SECONDS] = SECOND_NANOS,
                                    [MILLISECONDS] = 1000000};
    int64_t offset = 0;

    if (args[0].kind == CEL_DURATION) {
        BUG_ON(units[part] == 0);
        return cel_int(args[0].integer / units[part]);
    }
    if (count == 2 && !zone_offset(args[1].text, &offset))
        return error_value(CEL_FAILED, "unknown time zone");
    return cel_int(time_part(*(const struct timestamp *)args[0].other, offset, part));
}

#define PART(name, part)                                                                   \
    static struct cel_value name(struct run *run, const struct cel_value *args, int count) \
    {                                                                                      \
        (void)run;                                                                         \
        return part_of(args, count, part);                                                 \
    }

PART(get_year, YEAR)
PART(get_month, MONTH)
PART(get_day_of_year, DAY_OF_YEAR)
PART(get_day_of_month, DAY_OF_MONTH)
PART(get_date, DATE)
PART(get_weekday, WEEKDAY)
PART(get_hours, HOURS)
PART(get_minutes, MINUTES)
PART(get_seconds, SECONDS)
PART(get_milliseconds, MILLISECONDS)

#define OF_TIME(name, id, call)                                   \
    {name, id, ".(" TIMESTAMP ") int", call},                     \
    {                                                             \
        name, id "_with_tz", ".(" TIMESTAMP ", string) int", call \
    }
#define OF_DURATION(name, id, call) {name, id, ".(" DURATION ") int", call}

static const struct overload rows[] = {
    OF_TIME("getDate", "timestamp_to_day_of_month_1_based", get_date),
    OF_TIME("getDayOfMonth", "timestamp_to_day_of_month", get_day_of_month),
    OF_TIME("getDayOfWeek", "timestamp_to_day_of_week", get_weekday),
    OF_TIME("getDayOfYear", "timestamp_to_day_of_year", get_day_of_year),
    OF_TIME("getFullYear", "timestamp_to_year", get_year),
    OF_TIME("getMonth", "timestamp_to_month", get_month),
    OF_TIME("getHours", "timestamp_to_hours", get_hours),
    OF_DURATION("getHours", "duration_to_hours", get_hours),
    OF_TIME("getMinutes", "timestamp_to_minutes", get_minutes),
    OF_DURATION("getMinutes", "duration_to_minutes", get_minutes),
    OF_TIME("getSeconds", "timestamp_to_seconds", get_seconds),
    OF_DURATION("getSeconds", "duration_to_seconds", get_seconds),
    OF_TIME("getMilliseconds", "timestamp_to_milliseconds", get_milliseconds),
    OF_DURATION("getMilliseconds", "duration_to_milliseconds", get_milliseconds),
};

const struct overload_table time_table = {rows, ARRAY_LEN(rows)};
