/* SPDX-License-Identifier: Apache-2.0 */

/* Files of the database are read as RFC 8536 describes them, in their second version, which has times of 64 bits. */
#include "text/clock/zone.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/file.h"

enum { FILE_BYTES_MAX = 1 << 20, HEADER_BYTES = 44, NAME_MAX_BYTES = 100, DAY_SECONDS = 24 * 60 * 60 };
enum { COUNT_UTC, COUNT_STANDARD, COUNT_LEAPS, COUNT_CHANGES, COUNT_TYPES, COUNT_LETTERS, COUNT_MAX };

static bool is_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) || strlen(name) > NAME_MAX_BYTES || strstr(name, ".."))
        return false;
    for (const char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("/_+-", *at))
            return false;
    }
    return true;
}

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The rule behind the last change: "CET-1CEST,M3.5.0,M10.5.0/3". */

static bool skip_letters(const char **at)
{
    const char *start = *at;

    if (**at == '<') {
        while (**at && **at != '>')
            (*at)++;
        if (**at)
            (*at)++;
        return *at > start + 1;
    }
    while (isalpha((unsigned char)**at))
        (*at)++;
    return *at > start;
}

/* "5", "-3:30", "2:00:00" */
static bool read_clock(const char **at, int32_t *ret_seconds)
{
    int sign = **at == '-' ? -1 : 1;
    int32_t seconds = 0, unit = 3600;

    if (**at == '-' || **at == '+')
        (*at)++;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; unit > 0; unit /= 60) {
        char *end = NULL;
        long number = strtol(*at, &end, 10);

        if (end == *at || number < 0 || number > 167)
            return false;
        seconds += (int32_t)number * unit;
        *at = end;
        if (**at != ':')
            break;
        (*at)++;
    }
    *ret_seconds = sign * seconds;
    return true;
}

/* A number of one or two digits behind `prefix`. */
static bool read_number(const char **at, const char *prefix, int *ret_number)
{
    size_t len = strlen(prefix);

    if (strncmp(*at, prefix, len) != 0 || !isdigit((unsigned char)(*at)[len]))
        return false;
    *at += len;
    *ret_number = *(*at)++ - '0';
    if (isdigit((unsigned char)**at))
        *ret_number = *ret_number * 10 + *(*at)++ - '0';
    return true;
}

static bool read_rule(const char **at, struct zone_rule *ret_rule)
{
    if (!read_number(at, ",M", &ret_rule->month) || !read_number(at, ".", &ret_rule->week) ||
        !read_number(at, ".", &ret_rule->weekday))
        return false;
    ret_rule->seconds = 2 * 3600;
    if (**at == '/') {
        (*at)++;
        if (!read_clock(at, &ret_rule->seconds))
            return false;
    }
    return ret_rule->month >= 1 && ret_rule->month <= 12 && ret_rule->week >= 1 && ret_rule->week <= 5 &&
           ret_rule->weekday >= 0 && ret_rule->weekday <= 6;
}

static bool read_footer(struct zone *zone, const char *at)
{
    int32_t behind = 0;

    if (!skip_letters(&at) || !read_clock(&at, &behind))
        return false;
    zone->standard = -behind;
    if (*at == '\0')
        return true;
    if (!skip_letters(&at))
        return false;
    behind -= 3600;
    if (*at != ',' && !read_clock(&at, &behind))
        return false;
    zone->summer = -behind;
    zone->has_summer = true;
    return read_rule(&at, &zone->start) && read_rule(&at, &zone->end) && *at == '\0';
}

/* The file. */

struct part {
    const unsigned char *data;  // behind the header
    uint32_t counts[COUNT_MAX];
    size_t bytes;
};

static bool read_header(const unsigned char *at, size_t left, size_t time_bytes, struct part *ret_part)
{
    if (left < HEADER_BYTES || memcmp(at, "TZif", 4) != 0)
        return false;
    for (int i = 0; i < COUNT_MAX; i++) {
        ret_part->counts[i] = read_u32(at + 20 + 4 * i);
        if (ret_part->counts[i] > FILE_BYTES_MAX)
            return false;
    }
    ret_part->data = at + HEADER_BYTES;
    ret_part->bytes = ret_part->counts[COUNT_CHANGES] * (time_bytes + 1) + (size_t)ret_part->counts[COUNT_TYPES] * 6 +
                      ret_part->counts[COUNT_LETTERS] + ret_part->counts[COUNT_LEAPS] * (time_bytes + 4) +
                      ret_part->counts[COUNT_STANDARD] + ret_part->counts[COUNT_UTC];
    return ret_part->bytes <= left - HEADER_BYTES && ret_part->counts[COUNT_TYPES] > 0;
}

static bool read_changes(struct zone *zone, const struct part *part)
{
    uint32_t count = part->counts[COUNT_CHANGES], types = part->counts[COUNT_TYPES];
    const unsigned char *kinds = part->data + (size_t)count * 8, *offsets = kinds + count;

    zone->first = (int32_t)read_u32(offsets);
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *time = part->data + (size_t)i * 8;

        if (kinds[i] >= types)
            return false;
        vec_push(&zone->changes, (struct zone_change){
                                     (int64_t)((uint64_t)read_u32(time) << 32 | read_u32(time + 4)),
                                     (int32_t)read_u32(offsets + (size_t)kinds[i] * 6),
                                 });
    }
    return true;
}

static bool parse(struct zone *zone, const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + len;
    struct part part;

    if (!read_header(at, len, 4, &part) || at[4] < '2')
        return false;
    at = part.data + part.bytes;
    if (!read_header(at, (size_t)(end - at), 8, &part) || !read_changes(zone, &part))
        return false;
    const char *footer = (const char *)part.data + part.bytes;
    size_t left = (size_t)((const char *)end - footer);
    if (left < 2 || footer[0] != '\n' || footer[left - 1] != '\n')
        return false;
    _cleanup_(freep) char *rule = xstrndup(footer + 1, left - 2);
    zone->has_rule = rule[0] != '\0';
    return !zone->has_rule || read_footer(zone, rule);
}

int zone_read(struct zone *zone, const char *name, struct err *err)
{
    char path[NAME_MAX_BYTES + 32];
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    *zone = (struct zone){0};
    if (!name[0] || strcmp(name, "UTC") == 0)
        return 0;
    if (!is_name(name))
        return err_set(err, -EINVAL, "'%s' is not the name of a time zone", name);
    (void)snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
    if (file_read(path, FILE_BYTES_MAX, &text, &len, NULL) < 0 || !parse(zone, text, len)) {
        zone_done(zone);
        return err_set(err, -ENOENT, "this machine does not know the time zone '%s'", name);
    }
    return 0;
}

void zone_done(struct zone *zone)
{
    vec_done(&zone->changes);
    *zone = (struct zone){0};
}

/* Offsets. */

/* Seconds since 1970, by the clock, at which the rule applies in the year. */
static int64_t rule_in(const struct zone_rule *rule, int year)
{
    struct tm first = {.tm_year = year - 1900, .tm_mon = rule->month - 1, .tm_mday = 1};
    int64_t month = timegm(&first) / DAY_SECONDS;
    struct tm next = {.tm_year = year - 1900, .tm_mon = rule->month, .tm_mday = 1};
    int64_t end = timegm(&next) / DAY_SECONDS;
    /* 1970 began on a Thursday. */
    int64_t day = month + (rule->weekday - (month + 4) % 7 + 7) % 7 + INT64_C(7) * (rule->week - 1);

    while (day >= end)
        day -= 7;
    return day * DAY_SECONDS + rule->seconds;
}

static int32_t offset_by_rule(const struct zone *zone, int64_t time)
{
    time_t local = (time_t)(time + zone->standard);
    struct tm date;

    if (!zone->has_summer || !gmtime_r(&local, &date))
        return zone->standard;
    int64_t start = rule_in(&zone->start, date.tm_year + 1900) - zone->standard;
    int64_t end = rule_in(&zone->end, date.tm_year + 1900) - zone->summer;
    /* In the south, summer is around the turn of the year. */
    bool is_summer = start < end ? time >= start && time < end : time >= start || time < end;
    return is_summer ? zone->summer : zone->standard;
}

static int32_t offset_at(const struct zone *zone, int64_t time)
{
    uint32_t low = 0, high = zone->changes.len;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (zone->changes.items[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->changes.len && zone->has_rule)
        return offset_by_rule(zone, time);
    return low == 0 ? zone->first : zone->changes.items[low - 1].offset;
}

static int64_t floor_seconds(nsec_t time)
{
    return time / NSEC_PER_SEC - (time % NSEC_PER_SEC < 0);
}

nsec_t zone_offset(const struct zone *zone, nsec_t time)
{
    return offset_at(zone, floor_seconds(time)) * NSEC_PER_SEC;
}

nsec_t zone_to_utc(const struct zone *zone, nsec_t local)
{
    /* No clock is more than a day off, so that these are the offsets before and after any change nearby. */
    nsec_t before = zone_offset(zone, local - DAY_SECONDS * NSEC_PER_SEC);
    nsec_t after = zone_offset(zone, local + DAY_SECONDS * NSEC_PER_SEC);

    if (zone_offset(zone, local - before) == before)
        return local - before;
    return zone_offset(zone, local - after) == after ? local - after : local - before;
}

const char *zone_format(const struct zone *zone, nsec_t time, char text[static TIME_TEXT_MAX])
{
    int32_t offset = offset_at(zone, floor_seconds(time));
    time_t local = (time_t)(floor_seconds(time) + offset);
    struct tm date;
    char clock[24];

    if (!gmtime_r(&local, &date) || strftime(clock, sizeof clock, "%Y-%m-%dT%H:%M:%S", &date) == 0)
        clock[0] = '\0';
    if (offset == 0)
        (void)snprintf(text, TIME_TEXT_MAX, "%sZ", clock);
    else
        (void)snprintf(text, TIME_TEXT_MAX, "%s%c%02d:%02d", clock, offset < 0 ? '-' : '+', abs(offset) / 3600,
                       abs(offset) / 60 % 60);
    return text;
}
