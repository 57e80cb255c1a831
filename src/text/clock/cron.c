/* SPDX-License-Identifier: Apache-2.0 */
#include "text/clock/cron.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/err.h"

enum { FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY, FIELD_COUNT };
enum { FIELD_TEXT_MAX = 256, DAY_SECONDS = 24 * 60 * 60, MINUTES_OF_HOUR = 60, YEARS = 40 };

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                     "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field_kind {
    const char *name;
    int min;
    int max;
    const char *const *words;  // of `min` and what follows it; NULL: none
} kinds[FIELD_COUNT] = {
    [FIELD_MINUTE] = {"minute", 0, 59, NULL},
    [FIELD_HOUR] = {"hour", 0, 23, NULL},
    [FIELD_DAY] = {"day", 1, 31, NULL},
    [FIELD_MONTH] = {"month", 1, 12, months},
    [FIELD_WEEKDAY] = {"weekday", 0, 7, weekdays},
};

static const struct {
    const char *word;
    const char *fields;
} shorthands[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

/* A number or a word of the kind at `*at`, which moves on behind it; -1 when there is none. */
static int read_value(const struct field_kind *kind, const char **at)
{
    for (int i = 0; kind->words && kind->words[i]; i++) {
        size_t len = strlen(kind->words[i]);

        if (strncasecmp(*at, kind->words[i], len) == 0) {
            *at += len;
            return kind->min + i;
        }
    }
    if (!isdigit((unsigned char)**at))
        return -1;
    char *end = NULL;
    long number = strtol(*at, &end, 10);
    *at = end;
    return number >= kind->min && number <= kind->max ? (int)number : -1;
}

/* One part of a list: "*", "5", "1-5", each with a step behind it or not. */
static bool read_part(const struct field_kind *kind, const char *at, uint64_t *bits)
{
    int first = kind->min;
    int last = kind->max;
    int step = 1;

    if (*at == '*' || *at == '?') {
        at++;
    } else {
        first = last = read_value(kind, &at);
        if (*at == '-') {
            at++;
            last = read_value(kind, &at);
        } else if (*at == '/') {
            last = kind->max;
        }
    }
    if (*at == '/') {
        static const struct field_kind steps = {"step", 1, 1000, NULL};

        at++;
        step = read_value(&steps, &at);
    }
    if (*at || first < 0 || last < first || step < 1)
        return false;
    for (int i = first; i <= last; i += step)
        *bits |= UINT64_C(1) << i;
    return true;
}

static int read_field(const struct field_kind *kind, char *text, uint64_t *ret_bits, struct err *err)
{
    char *rest = text;

    *ret_bits = 0;
    for (char *part = strsep(&rest, ","); part; part = strsep(&rest, ",")) {
        if (!read_part(kind, part, ret_bits))
            return err_set(err, -EINVAL,
                           "%s '%s': expected numbers from %d to %d, ranges such as 1-5 or steps such as */2",
                           kind->name, part, kind->min, kind->max);
    }
    return 0;
}

static bool is_any(const char *field)
{
    return strcmp(field, "*") == 0 || strcmp(field, "?") == 0;
}

int cron_parse(const char *text, struct cron *ret_cron, struct err *err)
{
    char copy[FIELD_TEXT_MAX];
    char *fields[FIELD_COUNT + 1] = {0};
    uint64_t bits[FIELD_COUNT];
    int count = 0;

    for (size_t i = 0; i < ARRAY_LEN(shorthands); i++) {
        if (strcmp(text, shorthands[i].word) == 0)
            text = shorthands[i].fields;
    }
    if (strlen(text) >= sizeof copy)
        return err_set(err, -EINVAL, "the cron expression is longer than %d characters", FIELD_TEXT_MAX - 1);
    memcpy(copy, text, strlen(text) + 1);
    char *rest = NULL;
    for (char *word = strtok_r(copy, " \t", &rest); word && count <= FIELD_COUNT; word = strtok_r(NULL, " \t", &rest))
        fields[count++] = word;
    if (count != FIELD_COUNT)
        return err_set(err, -EINVAL, "'%s': expected five fields, for minute, hour, day, month and weekday, or @weekly",
                       text);
    bool has_any_day = is_any(fields[FIELD_DAY]);
    bool has_any_weekday = is_any(fields[FIELD_WEEKDAY]);
    for (int i = 0; i < FIELD_COUNT; i++) {
        int r = read_field(&kinds[i], fields[i], &bits[i], err);

        if (r < 0)
            return r;
    }
    *ret_cron = (struct cron){
        .minutes = bits[FIELD_MINUTE],
        .hours = (uint32_t)bits[FIELD_HOUR],
        .days = (uint32_t)bits[FIELD_DAY],
        .months = (uint32_t)bits[FIELD_MONTH],
        /* Sunday is 7 as well. */
        .weekdays = (uint32_t)((bits[FIELD_WEEKDAY] | bits[FIELD_WEEKDAY] >> 7) & 0x7f),
        .has_any_day = has_any_day,
        .has_any_weekday = has_any_weekday,
    };
    return 0;
}

static bool has_day(const struct cron *cron, int64_t day)
{
    time_t seconds = (time_t)(day * DAY_SECONDS);
    struct tm date;

    if (!gmtime_r(&seconds, &date) || !(cron->months >> (date.tm_mon + 1) & 1))
        return false;
    bool is_day = cron->days >> date.tm_mday & 1;
    bool is_weekday = cron->weekdays >> date.tm_wday & 1;
    return cron->has_any_day || cron->has_any_weekday ? is_day && is_weekday : is_day || is_weekday;
}

static bool has_minute(const struct cron *cron, int minute)
{
    return (cron->hours >> (minute / MINUTES_OF_HOUR) & 1) && (cron->minutes >> (minute % MINUTES_OF_HOUR) & 1);
}

/* The latest minute of a day up to `limit`; -1 when there is none. */
static int latest_minute(const struct cron *cron, int limit)
{
    for (int minute = limit; minute >= 0; minute--) {
        if (has_minute(cron, minute))
            return minute;
    }
    return -1;
}

nsec_t cron_before(const struct cron *cron, nsec_t time)
{
    enum { DAY_MINUTES = DAY_SECONDS / 60 };
    int64_t minutes = (time - 1) / NSEC_PER_MIN;
    int64_t today = minutes / DAY_MINUTES;
    int limit = (int)(minutes % DAY_MINUTES);

    for (int64_t day = today; time > 0 && day >= 0 && day > today - INT64_C(366) * YEARS; day--) {
        int minute = has_day(cron, day) ? latest_minute(cron, limit) : -1;

        if (minute >= 0)
            return (day * DAY_MINUTES + minute) * NSEC_PER_MIN;
        limit = DAY_MINUTES - 1;
    }
    return 0;
}

/* The first minute of a day from `first` on; -1 when there is none. */
static int first_minute(const struct cron *cron, int first)
{
    for (int minute = first; minute < DAY_SECONDS / 60; minute++) {
        if (has_minute(cron, minute))
            return minute;
    }
    return -1;
}

nsec_t cron_after(const struct cron *cron, nsec_t time)
{
    enum { DAY_MINUTES = DAY_SECONDS / 60 };
    int64_t minutes = time / NSEC_PER_MIN + 1;
    int64_t today = minutes / DAY_MINUTES;
    int first = (int)(minutes % DAY_MINUTES);

    for (int64_t day = today; time >= 0 && day < today + INT64_C(366) * YEARS; day++) {
        int minute = has_day(cron, day) ? first_minute(cron, first) : -1;

        if (minute >= 0)
            return (day * DAY_MINUTES + minute) * NSEC_PER_MIN;
        first = 0;
    }
    return 0;
}
