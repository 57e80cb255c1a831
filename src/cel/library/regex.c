/* SPDX-License-Identifier: Apache-2.0 */

/* Regular expressions: whether one matches, and what it matches. */
#include <string.h>

#include "base/mem.h"
#include "cel/library/library.h"

/* The pattern of the call: compiled with the program when it is a constant, else now. */
static struct cel_value with_pattern(struct run *run, const struct cel_value *args, int count,
                                     struct cel_value (*use)(struct run *, const struct pattern *,
                                                             const struct cel_value *, int))
{
    struct pattern *pattern = NULL;

    if (run->pattern)
        return use(run, run->pattern, args, count);
    _cleanup_(freep) char *text = xstrndup(args[1].text.bytes, args[1].text.len);
    if (strlen(text) != args[1].text.len || pattern_new(text, &pattern, NULL) < 0)
        return error_value(CEL_FAILED, "illegal regular expression");
    /* What a short expression stands for can be long. */
    struct cel_value value =
        run_works(run, 16 + pattern_bytes(pattern) / 8) ? use(run, pattern, args, count) : stopped_value(run);
    pattern_free(pattern);
    return value;
}

static struct cel_value too_expensive(struct run *run)
{
    run->stopped = CEL_COST;
    return stopped_value(run);
}

static struct cel_value use_match(struct run *run, const struct pattern *pattern, const struct cel_value *args,
                                  int count)
{
    int r = pattern_matches_within(pattern, args[0].text.bytes, args[0].text.len, &run->work_left);

    (void)count;
    return r < 0 ? too_expensive(run) : cel_bool(r);
}

static struct cel_value use_find(struct run *run, const struct pattern *pattern, const struct cel_value *args,
                                 int count)
{
    struct pattern_place place;
    int r = pattern_find(pattern, args[0].text.bytes, args[0].text.len, 0, &run->work_left, &place);

    (void)count;
    if (r < 0)
        return too_expensive(run);
    return r ? text_value(args[0].text.bytes + place.start, place.end - place.start) : text_value("", 0);
}

static struct cel_value use_find_all(struct run *run, const struct pattern *pattern, const struct cel_value *args,
                                     int count)
{
    const struct cel_text text = args[0].text;
    const int64_t most = count == 3 ? args[2].integer : -1;
    struct cel_value list = list_copy(run, NULL, 0);
    struct pattern_place place;
    size_t last_end = text.len + 1;

    for (size_t at = 0; list.kind == CEL_LIST && at <= text.len && (most < 0 || (int64_t)list.list->len < most);) {
        int r = pattern_find(pattern, text.bytes, text.len, at, &run->work_left, &place);
        if (r < 0)
            return too_expensive(run);
        if (r == 0)
            break;
        const bool is_empty = place.start == place.end;
        /* Nothing directly behind a match is no match of its own. */
        if (!is_empty || place.start != last_end) {
            struct cel_value found = text_value(text.bytes + place.start, place.end - place.start);
            list = list_append(run, list, &found, 1);
        }
        last_end = place.end;
        at = !is_empty              ? place.end
             : place.end < text.len ? place.end + point_len(text.bytes + place.end, text.len - place.end)
                                    : text.len + 1;
    }
    return list;
}

static struct cel_value matches(struct run *run, const struct cel_value *args, int count)
{
    return with_pattern(run, args, count, use_match);
}

static struct cel_value find(struct run *run, const struct cel_value *args, int count)
{
    return with_pattern(run, args, count, use_find);
}

static struct cel_value find_all(struct run *run, const struct cel_value *args, int count)
{
    return with_pattern(run, args, count, use_find_all);
}

static const struct overload rows[] = {
    {"matches", "matches", "(string, string) bool", matches},
    {"matches", "matches_string", ".(string, string) bool", matches},
    {"find", "string_find_string", ".(string, string) string", find},
    {"findAll", "string_find_all_string", ".(string, string) list(string)", find_all},
    {"findAll", "string_find_all_string_int", ".(string, string, int) list(string)", find_all},
};

const struct overload_table regex_table = {rows, ARRAY_LEN(rows)};
