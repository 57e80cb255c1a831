/* SPDX-License-Identifier: Apache-2.0 */

/*
 * yyjson keeps no positions, so that a message names a line only for what cannot be parsed; what parses but does not
 * fit is named by its path, which is built from the chain of places when something fails and not before.
 */
#include "text/json.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "text/file.h"

/* Doubles hold all whole numbers up to here. */
#define EXACT_MAX 9007199254740992.0

/* The end of the string that starts at `at`, or `end`: the next quote with an even number of backslashes before it. */
static const char *skip_string(const char *at, const char *end)
{
    const char *start = at + 1;

    for (const char *quote = start; (quote = memchr(quote, '"', (size_t)(end - quote))); quote++) {
        const char *before = quote;

        while (before > start && before[-1] == '\\')
            before--;
        if ((quote - before) % 2 == 0)
            return quote;
    }
    return end;
}

/* Where the text becomes nested too deeply, NULL when it does not. */
static const char *find_too_deep(const char *text, size_t len)
{
    const char *end = text + len;
    size_t depth = 0;

    for (const char *at = text; at < end; at++) {
        if (*at == '"')
            at = skip_string(at, end);
        else if (*at == '[' || *at == '{')
            depth++;
        else if ((*at == ']' || *at == '}') && depth)
            depth--;
        if (depth > JSON_DEPTH_MAX)
            return at;
    }
    return NULL;
}

static int fail_at_position(const char *text, size_t len, size_t position, const char *name, const char *what,
                            struct err *err)
{
    size_t line = 0;
    size_t column = 0;
    size_t character = 0;

    if (!yyjson_locate_pos(text, len, position, &line, &column, &character))
        return err_set(err, -EINVAL, "%s: %s", name, what);
    return err_set(err, -EINVAL, "%s:%zu:%zu: %s", name, line, column, what);
}

int json_parse(const char *text, size_t len, const char *name, yyjson_doc **ret_doc, struct err *err)
{
    yyjson_read_err problem = {0};
    char what[64];

    const char *deep = find_too_deep(text, len);
    if (deep) {
        (void)snprintf(what, sizeof what, "nested too deeply, expected at most %d levels", JSON_DEPTH_MAX);
        return fail_at_position(text, len, (size_t)(deep - text), name, what, err);
    }
    if (len == 0)
        return err_set(err, -EINVAL, "%s: is empty, expected a JSON document", name);

    /* Without the flag for in-situ reading yyjson only reads from the text. */
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text, len, YYJSON_READ_NOFLAG, NULL, &problem);
    if (!doc)
        return fail_at_position(text, len, problem.pos, name, problem.msg, err);
    *ret_doc = doc;
    return 0;
}

yyjson_mut_doc *json_new_object(yyjson_mut_val **ret_root)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    BUG_ON(!doc);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    if (ret_root)
        *ret_root = root;
    return doc;
}

int json_read_file(const char *path, size_t max_bytes, yyjson_doc **ret_doc, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    int r = file_read(path, max_bytes, &text, &len, err);
    if (r < 0)
        return r;
    return json_parse(text, len, file_name(path), ret_doc, err);
}

struct json_at json_root(yyjson_doc *doc)
{
    return (struct json_at){.val = yyjson_doc_get_root(doc)};
}

/* Letters, digits, '_' and '-' stand in a path as they are, other keys in brackets and quotes. */
static bool is_plain(const char *key)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    return *key && key[strspn(key, plain)] == '\0';
}

/* Appends to the text at `used`; what does not fit is only counted. */
__attribute__((format(printf, 4, 5))) static size_t append(char *text, size_t size, size_t used, const char *format,
                                                           ...)
{
    va_list args;

    va_start(args, format);
    int count = vsnprintf(used < size ? text + used : NULL, used < size ? size - used : 0, format, args);
    va_end(args);
    return used + (count > 0 ? (size_t)count : 0);
}

/* The depth is bounded by JSON_DEPTH_MAX. */
static size_t append_path(const struct json_at *at, char *text, size_t size)
{
    if (!at->parent)
        return 0;

    size_t used = append_path(at->parent, text, size);
    if (!at->key)
        return append(text, size, used, "[%zu]", at->index);
    if (!is_plain(at->key))
        return append(text, size, used, "[\"%s\"]", at->key);
    return append(text, size, used, used ? ".%s" : "%s", at->key);
}

const char *json_path(const struct json_at *at, char *text, size_t size)
{
    size_t wanted = at->parent ? append_path(at, text, size) : append(text, size, 0, "the document");

    if (wanted >= size && size >= sizeof "...")
        memcpy(text + size - sizeof "...", "...", sizeof "...");
    return text;
}

int json_fail(const struct json_at *at, struct err *err, int code, const char *format, ...)
{
    char what[256];
    char path[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_set(err, code, "%s: %s", json_path(at, path, sizeof path), what);
}

/* What a person calls the value. */
static const char *found(const struct json_at *at)
{
    if (!at->val)
        return "nothing";
    if (yyjson_is_bool(at->val))
        return "boolean";
    return yyjson_is_num(at->val) ? "number" : yyjson_get_type_desc(at->val);
}

static int fail_type(const struct json_at *at, const char *expected, struct err *err)
{
    return json_fail(at, err, -EINVAL, "expected %s, found %s", expected, found(at));
}

int json_str(const struct json_at *at, const char **ret_text, struct err *err)
{
    /* In YAML a bare 7 is a number, and a bare yes or n is true or false. */
    if (yyjson_is_num(at->val) || yyjson_is_bool(at->val))
        return json_fail(at, err, -EINVAL, "expected a string, found %s; put it in quotes",
                         yyjson_is_num(at->val) ? "number" : "boolean");
    if (!yyjson_is_str(at->val))
        return fail_type(at, "a string", err);

    const char *text = yyjson_get_str(at->val);
    if (strlen(text) != yyjson_get_len(at->val))
        return json_fail(at, err, -EINVAL, "expected a string without NUL characters");
    *ret_text = text;
    return 0;
}

/* The number as a whole one; false when it is not. */
static bool as_int64(yyjson_val *val, int64_t *ret_value)
{
    if (yyjson_is_sint(val)) {
        *ret_value = yyjson_get_sint(val);
        return true;
    }
    if (yyjson_is_uint(val)) {
        *ret_value = (int64_t)yyjson_get_uint(val);
        return yyjson_get_uint(val) <= INT64_MAX;
    }
    double real = yyjson_get_real(val);
    if (!yyjson_is_real(val) || fabs(real) > EXACT_MAX || trunc(real) != real)
        return false;
    *ret_value = (int64_t)real;
    return true;
}

static int fail_int64(const struct json_at *at, int64_t min, int64_t max, struct err *err)
{
    char expected[96];
    long long low = min;
    long long high = max;

    if (min == INT64_MIN && max == INT64_MAX)
        (void)snprintf(expected, sizeof expected, "a whole number");
    else if (max == INT64_MAX)
        (void)snprintf(expected, sizeof expected, "a whole number >= %lld", low);
    else if (min == INT64_MIN)
        (void)snprintf(expected, sizeof expected, "a whole number <= %lld", high);
    else
        (void)snprintf(expected, sizeof expected, "a whole number from %lld to %lld", low, high);

    int64_t value = 0;
    if (as_int64(at->val, &value))
        return json_fail(at, err, -EINVAL, "expected %s, found %lld", expected, (long long)value);
    if (yyjson_is_num(at->val))
        return json_fail(at, err, -EINVAL, "expected %s, found %.17g", expected, yyjson_get_num(at->val));
    return fail_type(at, expected, err);
}

int json_int64(const struct json_at *at, int64_t min, int64_t max, int64_t *ret_value, struct err *err)
{
    int64_t value = 0;

    if (!as_int64(at->val, &value) || value < min || value > max)
        return fail_int64(at, min, max, err);
    *ret_value = value;
    return 0;
}

static int fail_double(const struct json_at *at, double min, double max, struct err *err)
{
    char expected[96];
    bool has_min = min > -DBL_MAX;
    bool has_max = max < DBL_MAX;

    if (!has_min && !has_max)
        (void)snprintf(expected, sizeof expected, "a number");
    else if (!has_max)
        (void)snprintf(expected, sizeof expected, "a number >= %g", min);
    else if (!has_min)
        (void)snprintf(expected, sizeof expected, "a number <= %g", max);
    else
        (void)snprintf(expected, sizeof expected, "a number from %g to %g", min, max);

    if (yyjson_is_num(at->val))
        return json_fail(at, err, -EINVAL, "expected %s, found %.17g", expected, yyjson_get_num(at->val));
    return fail_type(at, expected, err);
}

int json_double(const struct json_at *at, double min, double max, double *ret_value, struct err *err)
{
    double value = yyjson_is_num(at->val) ? yyjson_get_num(at->val) : NAN;

    /* NaN passes no comparison, infinity none against a finite limit; the caller's limits may be infinite. */
    if (!isfinite(value) || value < min || value > max)
        return fail_double(at, min, max, err);
    *ret_value = value;
    return 0;
}

int json_bool(const struct json_at *at, bool *ret_value, struct err *err)
{
    if (!yyjson_is_bool(at->val))
        return fail_type(at, "true or false", err);
    *ret_value = yyjson_get_bool(at->val);
    return 0;
}

int json_array(const struct json_at *at, struct err *err)
{
    return yyjson_is_arr(at->val) ? 0 : fail_type(at, "an array", err);
}

int json_object(const struct json_at *at, struct err *err)
{
    return yyjson_is_obj(at->val) ? 0 : fail_type(at, "an object", err);
}

/* Finds the member: 1 when it has a value, 0 when it may be missing and is. */
static int find_member(const struct json_at *at, const char *key, enum json_need need, struct json_at *ret_member,
                       struct err *err)
{
    *ret_member = (struct json_at){.parent = at, .key = key};
    if (at->val && !yyjson_is_obj(at->val))
        return fail_type(at, "an object", err);

    yyjson_val *val = yyjson_obj_get(at->val, key);
    if (!val || yyjson_is_null(val)) {
        if (need == JSON_OPTIONAL)
            return 0;
        return json_fail(ret_member, err, -EINVAL, "is missing");
    }
    ret_member->val = val;
    return 1;
}

int json_member_str(const struct json_at *at, const char *key, enum json_need need, const char **ret_text,
                    struct err *err)
{
    struct json_at member;
    int r = find_member(at, key, need, &member, err);

    if (r > 0 && json_str(&member, ret_text, err) < 0)
        return -EINVAL;
    return r;
}

int json_member_int64(const struct json_at *at, const char *key, enum json_need need, int64_t min, int64_t max,
                      int64_t *ret_value, struct err *err)
{
    struct json_at member;
    int r = find_member(at, key, need, &member, err);

    if (r > 0 && json_int64(&member, min, max, ret_value, err) < 0)
        return -EINVAL;
    return r;
}

int json_member_double(const struct json_at *at, const char *key, enum json_need need, double min, double max,
                       double *ret_value, struct err *err)
{
    struct json_at member;
    int r = find_member(at, key, need, &member, err);

    if (r > 0 && json_double(&member, min, max, ret_value, err) < 0)
        return -EINVAL;
    return r;
}

int json_member_bool(const struct json_at *at, const char *key, enum json_need need, bool *ret_value, struct err *err)
{
    struct json_at member;
    int r = find_member(at, key, need, &member, err);

    if (r > 0 && json_bool(&member, ret_value, err) < 0)
        return -EINVAL;
    return r;
}

int json_member_array(const struct json_at *at, const char *key, enum json_need need, struct json_at *ret_array,
                      struct err *err)
{
    int r = find_member(at, key, need, ret_array, err);

    if (r > 0 && json_array(ret_array, err) < 0)
        return -EINVAL;
    return r;
}

int json_member_object(const struct json_at *at, const char *key, enum json_need need, struct json_at *ret_object,
                       struct err *err)
{
    int r = find_member(at, key, need, ret_object, err);

    if (r > 0 && json_object(ret_object, err) < 0)
        return -EINVAL;
    return r;
}

bool json_next(const struct json_at *at, struct json_at *item)
{
    bool is_first = !item->val;
    size_t index = is_first ? 0 : item->index + 1;

    if (!yyjson_is_ctn(at->val) || index >= yyjson_get_len(at->val))
        return false;

    /* The values of a document lie behind one another: a container is followed by its first value, a key by its own. */
    yyjson_val *next = is_first ? unsafe_yyjson_get_first(at->val) : unsafe_yyjson_get_next(item->val);
    bool is_member = yyjson_is_obj(at->val);
    *item = (struct json_at){
        .val = is_member ? next + 1 : next,
        .parent = at,
        .key = is_member ? yyjson_get_str(next) : NULL,
        .index = index,
    };
    return true;
}

void json_add_string(struct strbuf *text, const char *value)
{
    yyjson_val scratch;
    char *quoted;

    memset(&scratch, 0, sizeof scratch);
    (void)yyjson_set_str(&scratch, value);
    quoted = yyjson_val_write(&scratch, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    strbuf_addstr(text, quoted ? quoted : "\"\"");
    free(quoted);
}
