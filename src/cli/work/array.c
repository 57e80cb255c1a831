/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void array_spec_done(struct array_spec *array)
{
    vec_done(&array->indexes);
}

/* Digits alone, up to `max`; moves `*at` behind them. */
static bool read_number(const char **at, int64_t max, int64_t *ret)
{
    size_t digits = strspn(*at, "0123456789");

    if (digits == 0 || digits > 9)
        return false;
    *ret = strtoll(*at, NULL, 10);
    *at += digits;
    return *ret <= max;
}

static bool has_index(const struct array_spec *array, int64_t index)
{
    vec_foreach (&array->indexes, at) {
        if (*at == index)
            return true;
    }
    return false;
}

static int add_range(struct array_spec *array, int64_t first, int64_t last, int64_t step, struct err *err)
{
    for (int64_t index = first; index <= last; index += step) {
        if (array->indexes.len >= ARRAY_JOBS_MAX)
            return err_set(err, -EINVAL, "an array has at most %d jobs", ARRAY_JOBS_MAX);
        if (has_index(array, index))
            continue;
        array->first = array->indexes.len == 0 ? index : MIN(array->first, index);
        array->last = array->indexes.len == 0 ? index : MAX(array->last, index);
        vec_push(&array->indexes, index);
    }
    return 0;
}

/* "5", "1-16" or "1-16:2". */
static int read_range(struct array_spec *array, const char **at, const char *text, struct err *err)
{
    int64_t first = 0;
    int64_t last = 0;
    int64_t step = 1;
    bool is_fine = read_number(at, ARRAY_INDEX_MAX, &first);

    last = first;
    if (is_fine && **at == '-') {
        ++*at;
        is_fine = read_number(at, ARRAY_INDEX_MAX, &last) && last >= first;
        if (is_fine && **at == ':') {
            ++*at;
            is_fine = read_number(at, ARRAY_INDEX_MAX, &step) && step > 0;
        }
    }
    if (!is_fine)
        return err_set(err, -EINVAL, "array '%s': expected indexes such as 0-15, 1,3,5 or 0-15:4%%2", text);
    if (array->step == 0)
        array->step = step;
    return add_range(array, first, last, step, err);
}

static int parse(const char *text, struct array_spec *array, struct err *err)
{
    const char *at = text;
    int code = read_range(array, &at, text, err);

    while (code == 0 && *at == ',') {
        at++;
        code = read_range(array, &at, text, err);
    }
    if (code < 0)
        return code;
    if (*at == '%') {
        at++;
        if (!read_number(&at, ARRAY_INDEX_MAX, &array->limit) || array->limit == 0)
            return err_set(err, -EINVAL, "array '%s': expected a number of jobs at a time after '%%'", text);
    }
    return *at ? err_set(err, -EINVAL, "array '%s': unexpected '%s'", text, at) : 0;
}

int array_parse(const char *text, struct array_spec *ret, struct err *err)
{
    struct array_spec array = {0};
    int code = parse(text, &array, err);

    if (code < 0)
        array_spec_done(&array);
    else
        *ret = array;
    return code;
}
