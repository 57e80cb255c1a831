/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/values.h"

#include <stdlib.h>
#include <string.h>

#include "kube/client/meta.h"

yyjson_val *value_at_keys(yyjson_val *object, const char *const *keys)
{
    for (; *keys; keys++)
        object = yyjson_obj_get(object, *keys);
    return object;
}

int64_t number_of(yyjson_val *value, int64_t fallback)
{
    return yyjson_is_int(value) ? yyjson_get_sint(value) : fallback;
}

nsec_t time_of(yyjson_val *value)
{
    nsec_t time = 0;

    if (!yyjson_is_str(value) || time_parse(yyjson_get_str(value), &time, NULL) < 0)
        return 0;
    return time;
}

bool array_has(yyjson_val *array, const char *text)
{
    size_t i, max;
    yyjson_val *item;

    yyjson_arr_foreach(array, i, max, item)
    {
        if (yyjson_equals_str(item, text))
            return true;
    }
    return false;
}

yyjson_val *condition_of(yyjson_val *object, const char *type)
{
    size_t i, max;
    yyjson_val *condition;

    yyjson_arr_foreach(value_at(object, "status", "conditions"), i, max, condition)
    {
        if (yyjson_equals_str(yyjson_obj_get(condition, "type"), type))
            return condition;
    }
    return NULL;
}

bool condition_is_true(yyjson_val *object, const char *type)
{
    return yyjson_equals_str(yyjson_obj_get(condition_of(object, type), "status"), "True");
}

int64_t scaled_of(yyjson_val *value, int64_t fallback_percent, int64_t total, bool is_rounded_up)
{
    int64_t percent = fallback_percent;

    if (yyjson_is_int(value))
        return yyjson_get_sint(value);
    if (yyjson_is_str(value))
        percent = strtol(yyjson_get_str(value), NULL, 10);
    return (percent * total + (is_rounded_up ? 99 : 0)) / 100;
}
