/* SPDX-License-Identifier: Apache-2.0 */

/* Semantic versions, such as "1.2.3-rc.1+build". */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "cel/library/library.h"

#define SEMVER "kubernetes.Semver"

static bool is_identifier(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)at[i]) && at[i] != '-')
            return false;
    return len > 0;
}

static bool is_number(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isdigit((unsigned char)text.bytes[i]))
            return false;
    return text.len > 0;
}

static bool read_version_number(struct cel_text text, uint64_t *ret_number)
{
    if (!is_number(text) || (text.len > 1 && text.bytes[0] == '0'))
        return false;
    *ret_number = 0;
    for (size_t i = 0; i < text.len; i++)
        if (__builtin_mul_overflow(*ret_number, 10U, ret_number) ||
            __builtin_add_overflow(*ret_number, (unsigned)(text.bytes[i] - '0'), ret_number))
            return false;
    return true;
}

/* Identifiers between dots; those of a pre-release are kept. */
static bool read_identifiers(struct arena *arena, struct cel_text text, bool is_pre, struct cel_semver *version)
{
    size_t parts = 1;
    uint64_t number;

    for (size_t i = 0; i < text.len; i++)
        parts += text.bytes[i] == '.';
    struct cel_text *kept = arena_calloc(arena, parts, sizeof *kept);
    for (size_t part = 0, at = 0; part < parts; part++) {
        const char *dot = memchr(text.bytes + at, '.', text.len - at);
        size_t len = dot ? (size_t)(dot - text.bytes) - at : text.len - at;
        kept[part] = (struct cel_text){text.bytes + at, len};
        if (!is_identifier(kept[part].bytes, len))
            return false;
        if (is_pre && is_number(kept[part]) && !read_version_number(kept[part], &number))
            return false;
        at += len + 1;
    }
    if (is_pre) {
        version->pre = kept;
        version->pre_count = (uint32_t)parts;
    }
    return true;
}

static bool read_core(struct cel_text text, struct cel_semver *version)
{
    uint64_t *const numbers[] = {&version->major, &version->minor, &version->patch};

    for (int i = 0; i < 3; i++) {
        const char *dot = memchr(text.bytes, '.', text.len);
        size_t len = i < 2 ? (dot ? (size_t)(dot - text.bytes) : text.len + 1) : text.len;
        if (len > text.len || !read_version_number((struct cel_text){text.bytes, len}, numbers[i]))
            return false;
        text.bytes += len + (i < 2);
        text.len -= len + (i < 2);
    }
    return true;
}

bool read_semver(struct arena *arena, struct cel_text text, struct cel_semver *ret_version)
{
    *ret_version = (struct cel_semver){0};
    /* The third number ends the core: what is behind it begins at the first plus or minus there. */
    const char *first = memchr(text.bytes, '.', text.len);
    const char *second = first ? memchr(first + 1, '.', text.len - (size_t)(first + 1 - text.bytes)) : NULL;
    if (!second)
        return false;
    size_t core = (size_t)(second + 1 - text.bytes);
    while (core < text.len && text.bytes[core] != '-' && text.bytes[core] != '+')
        core++;
    struct cel_text rest = {text.bytes + core, text.len - core};
    const char *plus = memchr(rest.bytes, '+', rest.len);
    size_t pre_len = plus ? (size_t)(plus - rest.bytes) : rest.len;
    if (!read_core((struct cel_text){text.bytes, core}, ret_version))
        return false;
    if (pre_len && !read_identifiers(arena, (struct cel_text){rest.bytes + 1, pre_len - 1}, true, ret_version))
        return false;
    return !plus || read_identifiers(arena, (struct cel_text){plus + 1, rest.len - pre_len - 1}, false, ret_version);
}

int cel_semver(struct arena *arena, const char *text, struct cel_value *ret_value)
{
    struct cel_semver *version = arena_calloc(arena, 1, sizeof *version);
    const char *copy = arena_strdup(arena, text);

    if (!read_semver(arena, (struct cel_text){copy, strlen(copy)}, version))
        return -EINVAL;
    *ret_value = (struct cel_value){.kind = CEL_SEMVER, .semver = version};
    return 0;
}

static int compare_pre(struct cel_text a, struct cel_text b)
{
    bool is_a_number = is_number(a);
    bool is_b_number = is_number(b);

    if (is_a_number != is_b_number)
        return is_a_number ? -1 : 1;
    if (is_a_number && a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return text_compare(a, b);
}

int compare_semver(const struct cel_semver *a, const struct cel_semver *b)
{
    const uint64_t numbers[][2] = {{a->major, b->major}, {a->minor, b->minor}, {a->patch, b->patch}};

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i][0] != numbers[i][1])
            return numbers[i][0] < numbers[i][1] ? -1 : 1;
    if (a->pre_count == 0 || b->pre_count == 0)
        return (a->pre_count == 0) - (b->pre_count == 0);
    for (uint32_t i = 0; i < MIN(a->pre_count, b->pre_count); i++) {
        int found = compare_pre(a->pre[i], b->pre[i]);
        if (found)
            return found;
    }
    return a->pre_count < b->pre_count ? -1 : a->pre_count > b->pre_count;
}

/* One part of a version that is tidied up: leading zeros go. */
static struct cel_text without_zeros(struct cel_text part)
{
    size_t zeros = 0;

    if (part.len < 2)
        return part;
    while (zeros < part.len && part.bytes[zeros] == '0')
        zeros++;
    if (zeros && (zeros == part.len || !isdigit((unsigned char)part.bytes[zeros])))
        zeros--;
    return (struct cel_text){part.bytes + zeros, part.len - zeros};
}

/* "v01.2" as "1.2.0"; false when it cannot be made a version of three numbers. */
static bool normalize(struct run *run, struct cel_text text, struct cel_text *ret_text)
{
    char *out = run_alloc(run, text.len + 8);
    size_t len = 0;
    int parts = 0;

    if (!out)
        return false;
    if (text.len && *text.bytes == 'v') {
        text.bytes++;
        text.len--;
    }
    for (bool is_last = false; !is_last; parts++) {
        const char *dot = parts < 2 ? memchr(text.bytes, '.', text.len) : NULL;
        struct cel_text part = {text.bytes, dot ? (size_t)(dot - text.bytes) : text.len};
        is_last = !dot;
        text.bytes += part.len + (dot != NULL);
        text.len -= part.len + (dot != NULL);
        part = without_zeros(part);
        if (is_last && parts < 2 && (memchr(part.bytes, '+', part.len) || memchr(part.bytes, '-', part.len)))
            return false;
        if (parts)
            out[len++] = '.';
        if (part.len)
            memcpy(out + len, part.bytes, part.len);
        len += part.len;
    }
    for (; parts < 3; parts++) {
        out[len++] = '.';
        out[len++] = '0';
    }
    *ret_text = (struct cel_text){out, len};
    return true;
}

static bool read_version(struct run *run, const struct cel_value *args, int count, struct cel_semver *ret_version)
{
    struct cel_text text = args[0].text;

    if (count == 2 && args[1].boolean && !normalize(run, text, &text))
        return false;
    /* It has no more parts than characters. */
    return run_takes(run, (text.len + 2) * sizeof text) && read_semver(run->arena, text, ret_version);
}

static struct cel_value semver(struct run *run, const struct cel_value *args, int count)
{
    struct cel_semver *version = run_alloc(run, sizeof *version);

    if (!version || !read_version(run, args, count, version))
        return run->stopped ? stopped_value(run) : error_value(CEL_FAILED, "not a semantic version");
    return (struct cel_value){.kind = CEL_SEMVER, .semver = version};
}

static struct cel_value is_semver(struct run *run, const struct cel_value *args, int count)
{
    struct cel_semver version;

    return cel_bool(read_version(run, args, count, &version));
}

static struct cel_value major_of(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int((int64_t)args[0].semver->major);
}

static struct cel_value minor_of(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int((int64_t)args[0].semver->minor);
}

static struct cel_value patch_of(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int((int64_t)args[0].semver->patch);
}

static struct cel_value is_greater_than(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(compare_semver(args[0].semver, args[1].semver) > 0);
}

static struct cel_value is_less_than(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(compare_semver(args[0].semver, args[1].semver) < 0);
}

static struct cel_value compare_to(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int(compare_semver(args[0].semver, args[1].semver));
}

static const struct overload rows[] = {
    {"semver", "string_to_semver", "(string) " SEMVER, semver},
    {"semver", "string_bool_to_semver", "(string, bool) " SEMVER, semver},
    {"isSemver", "is_semver_string", "(string) bool", is_semver},
    {"isSemver", "is_semver_string_bool", "(string, bool) bool", is_semver},
    {"major", "semver_major", ".(" SEMVER ") int", major_of},
    {"minor", "semver_minor", ".(" SEMVER ") int", minor_of},
    {"patch", "semver_patch", ".(" SEMVER ") int", patch_of},
    {"isGreaterThan", "semver_is_greater_than", ".(" SEMVER ", " SEMVER ") bool", is_greater_than},
    {"isLessThan", "semver_is_less_than", ".(" SEMVER ", " SEMVER ") bool", is_less_than},
    {"compareTo", "semver_compare_to", ".(" SEMVER ", " SEMVER ") int", compare_to},
};

const struct overload_table semver_table = {rows, ARRAY_LEN(rows)};
