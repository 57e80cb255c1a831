/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Messages name values by their path, and YAML documents know the lines of their values: following the path gives the
 * line. Done only when something failed, so that decoders need not carry positions about.
 */
#include "objects/place_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "objects/object.h"

/* The member that the path goes to next, and what follows it in the path; NULL when it names none. */
static yyjson_val *step_into(yyjson_val *val, const char *path, const char **ret_rest)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(val);

    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        size_t len = yyjson_get_len(key);
        const char *text = yyjson_get_str(key);

        if (strncmp(path, text, len) == 0 && strchr(".[:", path[len])) {
            *ret_rest = path + len;
            return yyjson_obj_iter_get_val(key);
        }
        if (strncmp(path, "[\"", 2) == 0 && strncmp(path + 2, text, len) == 0 &&
            strncmp(path + 2 + len, "\"]", 2) == 0) {
            *ret_rest = path + len + 4;
            return yyjson_obj_iter_get_val(key);
        }
    }
    return NULL;
}

static yyjson_val *step_to_item(yyjson_val *val, const char *path, const char **ret_rest)
{
    char *end;

    if (path[0] != '[' || !isdigit((unsigned char)path[1]))
        return NULL;
    unsigned long index = strtoul(path + 1, &end, 10);
    if (*end != ']')
        return NULL;
    *ret_rest = end + 1;
    return yyjson_arr_get(val, index);
}

static yyjson_val *follow(yyjson_val *val, const char *path)
{
    for (;;) {
        path += *path == '.';
        yyjson_val *next = yyjson_is_obj(val)   ? step_into(val, path, &path)
                           : yyjson_is_arr(val) ? step_to_item(val, path, &path)
                                                : NULL;
        if (!next)
            return val;
        val = next;
    }
}

struct yaml_mark place_of(const struct object *object, const char *message)
{
    if (!object->source || !object->source->yaml)
        return (struct yaml_mark){0, 0};
    return yaml_where(object->source->yaml, follow(object->root.val, message));
}
