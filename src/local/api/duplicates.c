/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/duplicates.h"

#include <stdbool.h>

#include "base/strmap.h"

void duplicates_drop(yyjson_mut_val *value)
{
    struct strmap last;
    bool has_duplicates = false;

    if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(value);
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&items));)
            duplicates_drop(item);
    }
    if (!yyjson_mut_is_obj(value))
        return;
    strmap_init(&last);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        duplicates_drop(yyjson_mut_obj_iter_get_val(key));
        has_duplicates |= strmap_put(&last, "", yyjson_mut_get_str(key), key) != NULL;
    }
    if (has_duplicates) {
        iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            if (strmap_get(&last, "", yyjson_mut_get_str(key)) != key)
                (void)yyjson_mut_obj_iter_remove(&iter);
        }
    }
    strmap_done(&last);
}
