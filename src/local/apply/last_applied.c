/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever goes from `kubectl apply` to `kubectl apply --server-side` owns fields twice: as the manager of the former, and
 * by the annotation that it keeps. What the annotation says and the object still has may be taken over without conflict.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "local/apply/fields.h"
#include "local/apply/owners_internal.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

enum { ANNOTATION_BYTES_MAX = 256 << 10 };

static yyjson_mut_val *annotations_of(yyjson_mut_val *object)
{
    return yyjson_mut_obj_get(yyjson_mut_obj_get(object, "metadata"), "annotations");
}

struct fields *owners_last_applied(struct owners *owners, yyjson_mut_val *live)
{
    yyjson_mut_val *annotation = yyjson_mut_obj_get(annotations_of(live), LAST_APPLIED);

    if (!yyjson_mut_is_str(annotation))
        return NULL;
    yyjson_doc *read = yyjson_read(yyjson_mut_get_str(annotation), yyjson_mut_get_len(annotation), 0);
    yyjson_mut_doc *doc = read ? yyjson_doc_mut_copy(read, NULL) : NULL;
    yyjson_doc_free(read);
    yyjson_mut_val *root = doc ? yyjson_mut_doc_get_root(doc) : NULL;
    struct fields *fields = NULL;
    if (yyjson_mut_is_obj(root)) {
        struct tree_changes changes = tree_compare(&owners->shape, root, live, &owners->arena);
        fields = tree_fields(&owners->shape, root, &owners->arena);
        fields = fields_difference(fields, changes.modified, &owners->arena);
        fields = fields_difference(fields, changes.removed, &owners->arena);
    }
    yyjson_mut_doc_free(doc);
    return fields;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(yyjson_mut_get_str(*(yyjson_mut_val *const *)a), yyjson_mut_get_str(*(yyjson_mut_val *const *)b));
}

/* A copy with the members of all objects in the order of their names, as the API server writes the annotation. */
static yyjson_mut_val *sorted_copy(yyjson_mut_val *value, yyjson_mut_doc *doc)
{
    if (yyjson_mut_is_arr(value)) {
        yyjson_mut_val *list = yyjson_mut_arr(doc);
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
            yyjson_mut_arr_append(list, sorted_copy(item, doc));
        return list;
    }
    if (!yyjson_mut_is_obj(value))
        return yyjson_mut_val_mut_copy(doc, value);
    VEC(yyjson_mut_val *) keys = {0};
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
        vec_push(&keys, key);
    if (keys.len)
        qsort(keys.items, keys.len, sizeof *keys.items, compare_keys);
    vec_foreach (&keys, key)
        yyjson_mut_obj_add(object, yyjson_mut_val_mut_copy(doc, *key),
                           sorted_copy(yyjson_mut_obj_iter_get_val(*key), doc));
    vec_done(&keys);
    return object;
}

void owners_set_last_applied(yyjson_mut_doc *doc, yyjson_mut_val *config)
{
    yyjson_mut_val *annotations = annotations_of(yyjson_mut_doc_get_root(doc));

    if (!yyjson_mut_obj_get(annotations, LAST_APPLIED))
        return;
    yyjson_mut_val *applied = sorted_copy(config, doc);
    (void)yyjson_mut_obj_remove_key(yyjson_mut_obj_get(applied, "metadata"), "managedFields");
    (void)yyjson_mut_obj_remove_key(annotations_of(applied), LAST_APPLIED);
    size_t len = 0;
    _cleanup_(freep) char *text = yyjson_mut_val_write(applied, YYJSON_WRITE_NOFLAG, &len);
    if (!text || len >= ANNOTATION_BYTES_MAX)
        return;
    text[len++] = '\n';  // in place of the NUL: the length is told
    yyjson_mut_obj_put(annotations, yyjson_mut_str(doc, LAST_APPLIED), yyjson_mut_strncpy(doc, text, len));
}
