/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/duplicates.h"

#include <stdbool.h>
#include <string.h>

#include "base/strmap.h"

enum { FEW_MEMBERS = 16 };

/* Most objects have few members and no duplicates, which needs no map to see. */
static bool has_duplicates_few(yyjson_mut_val *object)
{
    const char *names[FEW_MEMBERS];
    size_t count = 0;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(names[i], name) == 0)
                return true;
        }
        names[count++] = name;
    }
    return false;
}

void duplicates_drop_members(yyjson_mut_val *object, duplicate_fn fn, void *arg)
{
    struct strmap last;

    if (yyjson_mut_obj_size(object) <= FEW_MEMBERS && !has_duplicates_few(object))
        return;
    strmap_init(&last);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        if (strmap_put(&last, "", yyjson_mut_get_str(key), key) && fn)
            fn(arg, yyjson_mut_get_str(key));
    }
    if (last.len < yyjson_mut_obj_size(object)) {
        iter = yyjson_mut_obj_iter_with(object);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            if (strmap_get(&last, "", yyjson_mut_get_str(key)) != key)
                (void)yyjson_mut_obj_iter_remove(&iter);
        }
    }
    strmap_done(&last);
}

void duplicates_drop(yyjson_mut_val *value)
{
    if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(value);
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&items));)
            duplicates_drop(item);
    } else if (yyjson_mut_is_obj(value)) {
        duplicates_drop_members(value, NULL, NULL);
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
            duplicates_drop(yyjson_mut_obj_iter_get_val(key));
    }
}
