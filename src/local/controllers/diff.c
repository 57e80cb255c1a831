/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/diff.h"

static bool is_same(yyjson_mut_doc *doc, yyjson_val *old, yyjson_mut_val *wanted)
{
    return old && yyjson_mut_equals(yyjson_val_mut_copy(doc, old), wanted);
}

static bool diff_member(yyjson_mut_doc *doc, yyjson_mut_val *patch, const char *key, yyjson_val *old,
                        yyjson_mut_val *wanted)
{
    if (is_same(doc, old, wanted))
        return false;
    yyjson_mut_val *name = yyjson_mut_strcpy(doc, key);
    if (!yyjson_is_obj(old) || !yyjson_mut_is_obj(wanted))
        return yyjson_mut_obj_add(patch, name, yyjson_mut_val_mut_copy(doc, wanted));
    yyjson_mut_val *inner = yyjson_mut_obj(doc);
    (void)diff_objects(doc, inner, old, wanted);
    return yyjson_mut_obj_add(patch, name, inner);
}

bool diff_objects(yyjson_mut_doc *doc, yyjson_mut_val *patch, yyjson_val *old, yyjson_mut_val *wanted)
{
    bool is_different = false;
    size_t i, max;
    yyjson_mut_val *key, *value;
    yyjson_val *old_key, *old_value;

    yyjson_mut_obj_foreach(wanted, i, max, key, value)
    {
        const char *name = yyjson_mut_get_str(key);

        is_different |= diff_member(doc, patch, name, yyjson_obj_get(old, name), value);
    }
    yyjson_obj_foreach(old, i, max, old_key, old_value)
    {
        if (yyjson_mut_obj_get(wanted, yyjson_get_str(old_key)))
            continue;
        is_different = true;
        (void)yyjson_mut_obj_add(patch, yyjson_mut_strcpy(doc, yyjson_get_str(old_key)), yyjson_mut_null(doc));
    }
    return is_different;
}
