/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/imposed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/assets/assets.h"
#include "console/assets/kinds.h"
#include "console/data/items.h"
#include "console/rest/context.h"

/* A kind of data source, and where workloads have it. `object` is the member with the name of an object. */
static const struct source_row {
    const char *kind;
    const char *list;
    const char *object;
} sources[] = {
    {"pvc", "pvc", "claimName"},
    {"nfs", "nfs", NULL},
    {"hostPath", "hostPath", NULL},
    {"config-map", "configMapVolume", NULL},
};

static yyjson_mut_val *list_of(yyjson_mut_doc *doc, yyjson_mut_val *spec, const char *name)
{
    yyjson_mut_val *storage = yyjson_mut_obj_get(spec, "storage");

    if (!storage)
        storage = yyjson_mut_obj_add_obj(doc, spec, "storage");
    yyjson_mut_val *list = yyjson_mut_obj_get(storage, name);
    return list ? list : yyjson_mut_obj_add_arr(doc, storage, name);
}

/* A claim that the console makes has the name of its asset. */
static void put_claim(yyjson_mut_doc *doc, const struct asset_kind *kind, yyjson_val *item, yyjson_mut_val *source,
                      const char *member)
{
    _cleanup_(freep) char *made = asset_object_name(kind, item);

    if (!made)
        return;
    (void)yyjson_mut_obj_remove_key(source, member);
    put_text(doc, source, member, made);
    (void)yyjson_mut_obj_remove_key(source, "existingPvc");
    (void)yyjson_mut_obj_remove_key(source, "claimInfo");
    (void)yyjson_mut_obj_add_bool(doc, source, "existingPvc", true);
}

/* A spec that is changed has them already. */
static bool has_value(yyjson_mut_val *list, yyjson_mut_val *value)
{
    yyjson_mut_val *item;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(list, &iter);
    while ((item = yyjson_mut_arr_iter_next(&iter))) {
        if (yyjson_mut_equals(item, value))
            return true;
    }
    return false;
}

/* 1: it was one of this kind. */
static int add_source(struct request *request, const struct source_row *row, const char *id, yyjson_mut_val *spec,
                      struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *found = NULL;
    const struct asset_kind *kind = asset_kind_find(row->kind);
    int r = item_get(request->console->db, kind->item, id, &found, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    yyjson_mut_val *source = copy_item(request->doc, yyjson_doc_ptr_get(found, "/spec"));
    put_text(request->doc, source, "name", yyjson_get_str(yyjson_doc_ptr_get(found, "/meta/name")));
    if (row->object)
        put_claim(request->doc, kind, yyjson_doc_get_root(found), source, row->object);
    yyjson_mut_val *list = list_of(request->doc, spec, row->list);
    if (!has_value(list, source))
        (void)yyjson_mut_arr_append(list, source);
    return 1;
}

int imposed_add(struct request *request, yyjson_mut_val *ids, yyjson_mut_val *spec, struct err *err)
{
    yyjson_mut_val *one;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(ids, &iter);
    while ((one = yyjson_mut_arr_iter_next(&iter))) {
        const char *id = yyjson_mut_get_str(one);
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_LEN(sources); i++)
            r = add_source(request, &sources[i], id, spec, err);
        if (r < 0)
            return r;
        if (r == 0)
            return err_set(err, -ENOSYS,
                           "the policy imposes the data source '%.50s', whose kind is not supported in workloads yet",
                           id);
    }
    return 0;
}
