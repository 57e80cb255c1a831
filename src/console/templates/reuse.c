/* SPDX-License-Identifier: Apache-2.0 */
#include "console/templates/reuse.h"

#include <errno.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/place.h"
#include "console/rest/context.h"
#include "console/workloads/kinds.h"

static bool has_name(yyjson_mut_val *list, const char *name)
{
    yyjson_mut_val *item;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(list, &iter);
    while ((item = yyjson_mut_arr_iter_next(&iter))) {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(item, "name"), name))
            return true;
    }
    return false;
}

static void join(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_mut_val *from)
{
    yyjson_mut_val *item;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(from, &iter);
    while ((item = yyjson_mut_arr_iter_next(&iter))) {
        const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(item, "name"));

        if (name && !has_name(to, name))
            (void)yyjson_mut_arr_append(to, yyjson_mut_val_mut_copy(doc, item));
    }
}

void reuse_fill(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_mut_val *from, bool joins)
{
    size_t index, max;
    yyjson_mut_val *key, *value;

    yyjson_mut_obj_foreach(from, index, max, key, value)
    {
        yyjson_mut_val *there = yyjson_mut_obj_get(to, yyjson_mut_get_str(key));

        if (!there)
            (void)yyjson_mut_obj_put(to, yyjson_mut_strcpy(doc, yyjson_mut_get_str(key)),
                                     yyjson_mut_val_mut_copy(doc, value));
        else if (yyjson_mut_is_obj(there) && yyjson_mut_is_obj(value))
            reuse_fill(doc, there, value, joins);
        else if (joins && yyjson_mut_is_arr(there) && yyjson_mut_is_arr(value))
            join(doc, there, value);
    }
}

static int find_template(struct request *request, const struct workload_kind *kind, const struct place *place,
                         const char *id, yyjson_doc **ret_doc, struct err *err)
{
    struct err own = {0};
    struct place there;
    int r = item_get(request->console->db, ITEM_WORKLOAD_TEMPLATE, id, ret_doc, &own);
    bool is_right = false;

    if (r < 0 && r != -ENOENT)
        return err_set(err, r, "%s", own.text);
    if (r == 0) {
        place_load(yyjson_doc_ptr_get(*ret_doc, "/place"), &there);
        is_right = place_holds(&there, place) && yyjson_equals_str(yyjson_doc_ptr_get(*ret_doc, "/type"), kind->type);
    }
    return is_right ? 0 : err_set(err, -EINVAL, "templateId: the project has no %s template '%.50s'", kind->type, id);
}

int reuse_apply(struct request *request, const struct workload_kind *kind, const struct place *place, const char *id,
                const struct json_at *body, yyjson_doc **ret_body, struct err *err)
{
    static const char *const members[] = {"spec", "masterSpecSameAsWorker"};
    _cleanup_(json_doc_freep) yyjson_doc *found = NULL;
    int r = find_template(request, kind, place, id, &found, err);

    if (r < 0)
        return r;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *whole = yyjson_val_mut_copy(doc, body->val);
    yyjson_mut_val *from = yyjson_mut_obj(doc);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        yyjson_val *value = yyjson_obj_get(yyjson_doc_get_root(found), members[i]);

        if (value)
            (void)yyjson_mut_obj_add_val(doc, from, members[i], yyjson_val_mut_copy(doc, value));
    }
    reuse_fill(doc, whole, from, true);
    yyjson_mut_doc_set_root(doc, whole);
    *ret_body = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!*ret_body);
    yyjson_mut_doc_free(doc);
    return 0;
}
