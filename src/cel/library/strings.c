/* SPDX-License-Identifier: Apache-2.0 */

/* Texts, counted in code points. */
#include <ctype.h>
#include <string.h>

#include "cel/library/format_string.h"
#include "cel/library/library.h"

static struct cel_value out_of_range(void)
{
    return error_value(CEL_RANGE, "index out of range");
}

/* The byte at which the code point `index` starts. */
static size_t byte_of(struct cel_text text, size_t index)
{
    size_t at = 0;

    for (; index > 0 && at < text.len; index--)
        at += point_len(text.bytes + at, text.len - at);
    return at;
}

/* The first place of `needle` at or behind `from`; text.len + 1 when there is none. */
static size_t find_from(struct cel_text text, struct cel_text needle, size_t from)
{
    if (needle.len == 0)
        return from;
    if (from > text.len || text.len - from < needle.len)
        return text.len + 1;
    const char *found = memmem(text.bytes + from, text.len - from, needle.bytes, needle.len);
    return found ? (size_t)(found - text.bytes) : text.len + 1;
}

static struct cel_value contains(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(find_from(args[0].text, args[1].text, 0) <= args[0].text.len);
}

static struct cel_value starts_with(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(args[0].text.len >= args[1].text.len &&
                    (args[1].text.len == 0 || memcmp(args[0].text.bytes, args[1].text.bytes, args[1].text.len) == 0));
}

static struct cel_value ends_with(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text text = args[0].text;
    const struct cel_text end = args[1].text;

    (void)run;
    (void)count;
    return cel_bool(text.len >= end.len &&
                    (end.len == 0 || memcmp(text.bytes + text.len - end.len, end.bytes, end.len) == 0));
}

static struct cel_value char_at(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text text = args[0].text;
    const int64_t index = args[1].integer;

    (void)count;
    if (index < 0 || (uint64_t)index > text_points(run, text))
        return out_of_range();
    size_t at = byte_of(text, (size_t)index);
    return text_value(text.bytes + at, at < text.len ? point_len(text.bytes + at, text.len - at) : 0);
}

static struct cel_value index_of(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text text = args[0].text;
    const int64_t offset = count == 3 ? args[2].integer : 0;
    const size_t points = text_points(run, text);

    if (offset < 0)
        return out_of_range();
    if (args[1].text.len == 0)
        return cel_int(offset);
    if ((uint64_t)offset >= points)
        return cel_int(-1);
    size_t found = find_from(text, args[1].text, byte_of(text, (size_t)offset));
    return cel_int(found > text.len ? -1 : (int64_t)text_points(run, (struct cel_text){text.bytes, found}));
}

static struct cel_value last_index_of(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text text = args[0].text;
    const struct cel_text needle = args[1].text;
    const size_t points = text_points(run, text);
    int64_t last = -1;

    if (count == 3 && args[2].integer < 0)
        return out_of_range();
    if (needle.len == 0)
        return cel_int(count == 3 ? args[2].integer : (int64_t)points);
    if (text.len < needle.len)
        return cel_int(-1);
    if (count == 3 && (uint64_t)args[2].integer >= points)
        return cel_int(-1);
    size_t limit = count == 3 ? byte_of(text, (size_t)args[2].integer) : text.len;
    for (size_t at = find_from(text, needle, 0); at <= limit && at <= text.len; at = find_from(text, needle, at + 1)) {
        if (!run_works(run, 1 + needle.len / 4))
            return stopped_value(run);
        last = (int64_t)at;
    }
    return cel_int(last < 0 ? -1 : (int64_t)text_points(run, (struct cel_text){text.bytes, (size_t)last}));
}

static struct cel_value change_case(struct run *run, struct cel_text text, bool is_upper)
{
    char *bytes = run_alloc(run, text.len);

    if (!bytes)
        return stopped_value(run);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        bytes[i] = (char)(c > 127 ? c : is_upper ? toupper(c) : tolower(c));
    }
    return text_value(bytes, text.len);
}

static struct cel_value lower_ascii(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return change_case(run, args[0].text, false);
}

static struct cel_value upper_ascii(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    return change_case(run, args[0].text, true);
}

static struct cel_value substring(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text text = args[0].text;
    const int64_t points = (int64_t)text_points(run, text);
    const int64_t start = args[1].integer;
    const int64_t end = count == 3 ? args[2].integer : points;

    if (count == 3 && start > end)
        return error_value(CEL_RANGE, "invalid substring range");
    if (start < 0 || start > points || end < 0 || end > points)
        return out_of_range();
    size_t from = byte_of(text, (size_t)start);
    size_t to = byte_of(text, (size_t)end);
    return text_value(text.bytes + from, to - from);
}

/* The length of the white space at `at`, as Unicode has it; 0 for anything else. */
static size_t space_len(const char *at, size_t left)
{
    static const char *const wide[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
                                       "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

    if (strchr("\t\n\v\f\r ", *at) && *at)
        return 1;
    if (left >= 3 && memcmp(at, "\xe2\x80", 2) == 0 && (unsigned char)at[2] >= 0x80 && (unsigned char)at[2] <= 0x8a)
        return 3;
    for (size_t i = 0; i < ARRAY_LEN(wide); i++)
        if (left >= strlen(wide[i]) && memcmp(at, wide[i], strlen(wide[i])) == 0)
            return strlen(wide[i]);
    return 0;
}

static struct cel_value trim(struct run *run, const struct cel_value *args, int count)
{
    struct cel_text text = args[0].text;
    size_t end = 0;

    (void)run;
    (void)count;
    while (text.len && space_len(text.bytes, text.len)) {
        size_t len = space_len(text.bytes, text.len);
        text.bytes += len;
        text.len -= len;
    }
    for (size_t at = 0; at < text.len;) {
        size_t space = space_len(text.bytes + at, text.len - at);
        at += space ? space : point_len(text.bytes + at, text.len - at);
        end = space ? end : at;
    }
    return text_value(text.bytes, end);
}

/* Where the next separator starts at or behind `from`; an empty one stands behind each character. */
static size_t next_separator(struct cel_text text, struct cel_text separator, size_t from)
{
    if (separator.len)
        return find_from(text, separator, from);
    return from < text.len ? from + point_len(text.bytes + from, text.len - from) : text.len + 1;
}

static struct cel_value replace(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text text = args[0].text;
    const struct cel_text old = args[1].text;
    const struct cel_text new = args[2].text;
    int64_t left = count == 4 ? args[3].integer : -1;
    uint64_t places = old.len ? text.len / old.len : text.len + 1;
    size_t at = 0;
    size_t len = 0;

    if (new.len && places > CEL_MEMORY_MAX / new.len) {
        run->stopped = CEL_MEMORY;
        return stopped_value(run);
    }
    char *out = run_alloc(run, text.len + (size_t)places * new.len);
    if (!out)
        return stopped_value(run);
    /* An empty text stands before the first character too. */
    size_t found = old.len ? find_from(text, old, 0) : 0;
    while (left != 0 && found <= text.len) {
        memcpy(out + len, text.bytes + at, found - at);
        len += found - at;
        if (new.len)
            memcpy(out + len, new.bytes, new.len);
        len += new.len;
        at = found + old.len;
        found = next_separator(text, old, at);
        left--;
    }
    if (text.len > at)
        memcpy(out + len, text.bytes + at, text.len - at);
    return text_value(out, len + text.len - at);
}

static struct cel_value split(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text text = args[0].text;
    const struct cel_text separator = args[1].text;
    const int64_t most = count == 3 ? args[2].integer : -1;
    struct cel_value list = list_copy(run, NULL, 0);
    size_t at = 0;

    if (most == 0 || (separator.len == 0 && text.len == 0) || list.kind == CEL_ERROR)
        return list;
    for (int64_t parts = 1; most < 0 || parts < most; parts++) {
        size_t found = next_separator(text, separator, at);
        if (found > text.len || (separator.len == 0 && found == text.len))
            break;
        struct cel_value part = text_value(text.bytes + at, found - at);
        list = list_append(run, list, &part, 1);
        if (list.kind == CEL_ERROR)
            return list;
        at = found + separator.len;
    }
    struct cel_value rest = text_value(text.bytes + at, text.len - at);
    return list_append(run, list, &rest, 1);
}

static struct cel_value join(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text between = count == 2 ? args[1].text : (struct cel_text){"", 0};
    size_t len = 0;
    size_t at = 0;

    for (size_t i = 0; i < args[0].list->len; i++) {
        if (args[0].list->items->values[i].kind != CEL_STRING)
            return error_value(CEL_FAILED, "join: invalid input");
        len += args[0].list->items->values[i].text.len + (i ? between.len : 0);
    }
    char *out = run_alloc(run, len);
    if (!out)
        return stopped_value(run);
    for (size_t i = 0; i < args[0].list->len; i++) {
        const struct cel_text part = args[0].list->items->values[i].text;
        if (i && between.len)
            memcpy(out + at, between.bytes, between.len);
        at += i ? between.len : 0;
        if (part.len)
            memcpy(out + at, part.bytes, part.len);
        at += part.len;
    }
    return text_value(out, len);
}

static struct cel_value quote(struct run *run, const struct cel_value *args, int count)
{
    static const char from[] = "\a\b\f\n\r\t\v\\\"";
    static const char to[] = "abfnrtv\\\"";
    const struct cel_text text = args[0].text;
    char *out = run_alloc(run, 2 * text.len + 2);
    size_t len = 0;

    (void)count;
    if (!out)
        return stopped_value(run);
    out[len++] = '"';
    for (size_t i = 0; i < text.len; i++) {
        const char *special = text.bytes[i] ? strchr(from, text.bytes[i]) : NULL;
        if (!special) {
            out[len++] = text.bytes[i];
            continue;
        }
        out[len++] = '\\';
        out[len++] = to[special - from];
    }
    out[len++] = '"';
    return text_value(out, len);
}

static const struct overload rows[] = {
    {"contains", "contains_string", ".(string, string) bool", contains},
    {"startsWith", "starts_with_string", ".(string, string) bool", starts_with},
    {"endsWith", "ends_with_string", ".(string, string) bool", ends_with},
    {"charAt", "string_char_at_int", ".(string, int) string", char_at},
    {"indexOf", "string_index_of_string", ".(string, string) int", index_of},
    {"indexOf", "string_index_of_string_int", ".(string, string, int) int", index_of},
    {"lastIndexOf", "string_last_index_of_string", ".(string, string) int", last_index_of},
    {"lastIndexOf", "string_last_index_of_string_int", ".(string, string, int) int", last_index_of},
    {"lowerAscii", "string_lower_ascii", ".(string) string", lower_ascii},
    {"upperAscii", "string_upper_ascii", ".(string) string", upper_ascii},
    {"substring", "string_substring_int", ".(string, int) string", substring},
    {"substring", "string_substring_int_int", ".(string, int, int) string", substring},
    {"trim", "string_trim", ".(string) string", trim},
    {"replace", "string_replace_string_string", ".(string, string, string) string", replace},
    {"replace", "string_replace_string_string_int", ".(string, string, string, int) string", replace},
    {"split", "string_split_string", ".(string, string) list(string)", split},
    {"split", "string_split_string_int", ".(string, string, int) list(string)", split},
    {"join", "list_join", ".(list(string)) string", join},
    {"join", "list_join_string", ".(list(string), string) string", join},
    {"strings.quote", "strings_quote", "(string) string", quote},
    {"format", "string_format", ".(string, list(dyn)) string", format_call},
};

const struct overload_table string_table = {rows, ARRAY_LEN(rows)};
