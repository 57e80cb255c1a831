/* SPDX-License-Identifier: Apache-2.0 */
#include "services/operator/conf.h"

#include <string.h>

yyjson_val *conf_at(yyjson_val *spec, const char *path)
{
    while (spec && *path) {
        size_t len = strcspn(path, ".");

        spec = yyjson_obj_getn(spec, path, len);
        path += len + (path[len] == '.');
    }
    return yyjson_is_null(spec) ? NULL : spec;
}

const char *conf_text(yyjson_val *spec, const char *path, const char *fallback)
{
    const char *text = yyjson_get_str(conf_at(spec, path));

    return text ? text : fallback;
}

int conf_int(yyjson_val *spec, const char *path, int fallback)
{
    yyjson_val *value = conf_at(spec, path);
    int64_t number = yyjson_get_sint(value);

    return yyjson_is_int(value) && number >= INT32_MIN && number <= INT32_MAX ? (int)number : fallback;
}

bool conf_bool(yyjson_val *spec, const char *path, bool fallback)
{
    yyjson_val *value = conf_at(spec, path);

    return yyjson_is_bool(value) ? yyjson_get_bool(value) : fallback;
}

yyjson_val *conf_full(yyjson_val *spec, const char *path)
{
    yyjson_val *value = conf_at(spec, path);

    return yyjson_get_len(value) && yyjson_is_ctn(value) ? value : NULL;
}
