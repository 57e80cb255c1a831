/* SPDX-License-Identifier: Apache-2.0 */
#include "local/builtin/members.h"

#include <string.h>

yyjson_mut_val *member_get(yyjson_mut_val *object, const char *path)
{
    while (object && *path) {
        size_t len = strcspn(path, ".");
        object = yyjson_mut_obj_getn(object, path, len);
        path += len;
        path += *path == '.';
    }
    return yyjson_mut_is_null(object) ? NULL : object;
}

const char *member_text(yyjson_mut_val *object, const char *path)
{
    const char *text = yyjson_mut_get_str(member_get(object, path));

    return text ? text : "";
}

bool member_is(yyjson_mut_val *object, const char *path, const char *text)
{
    return strcmp(member_text(object, path), text) == 0;
}

int64_t member_number(yyjson_mut_val *object, const char *path, int64_t otherwise)
{
    yyjson_mut_val *value = member_get(object, path);

    return yyjson_mut_is_int(value) ? yyjson_mut_get_sint(value) : otherwise;
}

bool member_is_true(yyjson_mut_val *object, const char *path)
{
    return yyjson_mut_get_bool(member_get(object, path));
}

void member_set(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, yyjson_mut_val *value)
{
    yyjson_mut_obj_put(object, yyjson_mut_strcpy(doc, name), value);
}

void member_set_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *text)
{
    member_set(doc, object, name, yyjson_mut_strcpy(doc, text));
}

void member_default(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, yyjson_mut_val *value)
{
    yyjson_mut_val *found = yyjson_mut_obj_get(object, name);

    if (!found || yyjson_mut_is_null(found))
        member_set(doc, object, name, value);
}

yyjson_mut_val *member_object(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name)
{
    yyjson_mut_val *found = yyjson_mut_obj_get(object, name);

    if (!yyjson_mut_is_obj(found)) {
        found = yyjson_mut_obj(doc);
        member_set(doc, object, name, found);
    }
    return found;
}
