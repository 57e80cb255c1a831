/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/fields.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/time.h"

static int decode_int(const struct json_at *at, const struct field *field, enum json_need need, void *to,
                      struct err *err)
{
    int64_t min = field->type == FIELD_INT64 ? INT64_MIN : field->type == FIELD_COUNT ? 0 : INT32_MIN;
    int64_t max = field->type == FIELD_INT64 ? INT64_MAX : INT32_MAX;
    int64_t value = 0;

    int r = json_member_int64(at, field->key, need, min, max, &value, err);
    if (r > 0 && field->type == FIELD_INT64)
        *(int64_t *)to = value;
    else if (r > 0)
        *(int32_t *)to = (int32_t)value;
    return r;
}

static int decode_time(const struct json_at *at, const struct field *field, enum json_need need, void *to,
                       struct err *err)
{
    const char *text = NULL;
    nsec_t value = 0;
    struct err problem = {0};

    int r = json_member_str(at, field->key, need, &text, err);
    if (r <= 0 || *text == '\0')
        return r;

    r = field->type == FIELD_TIME ? time_parse(text, &value, &problem) : duration_parse(text, &value, &problem);
    if (r < 0) {
        struct json_at member = {.parent = at, .key = field->key};
        return json_fail(&member, err, r, "%s", problem.text);
    }
    *(nsec_t *)to = value;
    return 1;
}

static int field_decode(const struct json_at *at, const struct field *field, void *to, struct err *err)
{
    enum json_need need = field->is_required ? JSON_REQUIRED : JSON_OPTIONAL;

    switch (field->type) {
    case FIELD_STR:
        return json_member_str(at, field->key, need, to, err);
    case FIELD_BOOL:
        return json_member_bool(at, field->key, need, to, err);
    case FIELD_INT32:
    case FIELD_COUNT:
    case FIELD_INT64:
        return decode_int(at, field, need, to, err);
    case FIELD_DOUBLE:
        return json_member_double(at, field->key, need, -INFINITY, INFINITY, to, err);
    case FIELD_OBJECT:
        return json_member_object(at, field->key, need, to, err);
    case FIELD_ARRAY:
        return json_member_array(at, field->key, need, to, err);
    case FIELD_TIME:
    case FIELD_DURATION:
        return decode_time(at, field, need, to, err);
    }
    return 0;
}

int fields_decode(const struct json_at *at, const struct field *fields, size_t count, void *into, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        TRY(field_decode(at, &fields[i], (char *)into + fields[i].offset, err));
    return 0;
}

struct json_at json_member(const struct json_at *at, const char *key)
{
    struct json_at member = {.parent = at, .key = key};

    if (yyjson_is_obj(at->val))
        member.val = yyjson_obj_get(at->val, key);
    if (yyjson_is_null(member.val))
        member.val = NULL;
    return member;
}

const char *json_peek_str(const struct json_at *at, const char *key)
{
    yyjson_val *val = yyjson_is_obj(at->val) ? yyjson_obj_get(at->val, key) : NULL;
    const char *text = yyjson_get_str(val);

    return text && strlen(text) == yyjson_get_len(val) ? text : NULL;
}

int64_t json_peek_int(const struct json_at *at, const char *key, int64_t fallback)
{
    struct json_at member = json_member(at, key);
    int64_t value = fallback;

    if (member.val && json_int64(&member, INT64_MIN, INT64_MAX, &value, NULL) < 0)
        return fallback;
    return value;
}

int pairs_decode(struct arena *arena, const struct json_at *at, const struct str_pair **ret_pairs, size_t *ret_count,
                 struct err *err)
{
    struct str_pair *pairs = arena_calloc(arena, json_len(at), sizeof *pairs);
    size_t count = 0;

    if (at->val)
        TRY(json_object(at, err));
    for (struct json_at item = {0}; json_next(at, &item); count++) {
        pairs[count].key = item.key;
        TRY(json_str(&item, &pairs[count].value, err));
    }
    *ret_pairs = pairs;
    *ret_count = count;
    return 0;
}

int strings_decode(struct arena *arena, const struct json_at *at, const char *const **ret_strings, size_t *ret_count,
                   struct err *err)
{
    const char **strings = arena_calloc(arena, json_len(at), sizeof *strings);
    size_t count = 0;

    if (at->val)
        TRY(json_array(at, err));
    for (struct json_at item = {0}; json_next(at, &item); count++)
        TRY(json_str(&item, &strings[count], err));
    *ret_strings = strings;
    *ret_count = count;
    return 0;
}

const char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    BUG_ON(len < 0);

    char *text = arena_alloc(arena, (size_t)len + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

const char *number_format(yyjson_val *number, char text[static NUMBER_TEXT_MAX])
{
    if (yyjson_is_sint(number)) {
        (void)snprintf(text, NUMBER_TEXT_MAX, "%lld", (long long)yyjson_get_sint(number));
    } else if (yyjson_is_uint(number)) {
        (void)snprintf(text, NUMBER_TEXT_MAX, "%llu", (unsigned long long)yyjson_get_uint(number));
    } else {
        double value = yyjson_get_num(number);
        for (int digits = 15; digits <= 17; digits++) {
            (void)snprintf(text, NUMBER_TEXT_MAX, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
    }
    return text;
}

void text_flatten(char *text)
{
    for (; *text; text++) {
        if (iscntrl((unsigned char)*text))
            *text = '?';
    }
}

bool int_parse(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
    char *end;

    if (*text == '\0' || strspn(text, "+-0123456789") != strlen(text))
        return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || *end != '\0' || value < min || value > max)
        return false;
    *ret_value = value;
    return true;
}
