/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members that the schema does not specify go. Below a place that preserves unknown members only those places count that
 * the schema specifies again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/api/duplicates.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/custom/schema_internal.h"

static void note_unknown(struct field_faults *faults, const struct field *field)
{
    struct strbuf text;

    if (!faults || faults->texts.len >= FIELD_FAULTS_MAX)
        return;
    strbuf_init(&text, PROBLEM_BYTES_MAX);
    strbuf_addstr(&text, "unknown field \"");
    field_format(field, &text);
    strbuf_addch(&text, '"');
    vec_push(&faults->texts, strbuf_take(&text));
    strbuf_done(&text);
}

/* --- Metadata, which no schema specifies --- */

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void keep_only(const char *const *names, size_t count, yyjson_mut_val *object, const struct field *field,
                      struct field_faults *faults)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        if (is_one_of(names, count, yyjson_mut_get_str(key)))
            continue;
        note_unknown(faults, FIELD(field, yyjson_mut_get_str(key)));
        (void)yyjson_mut_obj_iter_remove(&iter);
    }
}

static void prune_metadata(yyjson_mut_val *metadata, const struct field *field, struct field_faults *faults)
{
    static const char *const members[] = {
        "name",       "generateName",      "namespace",       "selfLink",
        "uid",        "resourceVersion",   "generation",      "creationTimestamp",
        "labels",     "deletionTimestamp", "ownerReferences", "deletionGracePeriodSeconds",
        "finalizers", "annotations",       "managedFields",
    };
    static const char *const of_owners[] = {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"};
    const struct field owners = field_member(field, "ownerReferences");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(yyjson_mut_obj_get(metadata, "ownerReferences"));
    size_t index = 0;

    for (yyjson_mut_val *owner; (owner = yyjson_mut_arr_iter_next(&iter)); index++) {
        const struct field item = field_item(&owners, index);
        keep_only(of_owners, ARRAY_LEN(of_owners), owner, &item, faults);
    }
    keep_only(members, ARRAY_LEN(members), metadata, field, faults);
}

static bool is_of_resource(const char *name)
{
    return strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0 || strcmp(name, "metadata") == 0;
}

/* --- Everything else --- */

static void prune_object(const struct schema_node *node, yyjson_mut_val *object, bool is_resource,
                         const struct field *field, struct field_faults *faults)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
        const struct field member = field_member(field, name);
        if (is_resource && is_of_resource(name)) {
            if (strcmp(name, "metadata") == 0)
                prune_metadata(value, &member, faults);
            continue;
        }
        const struct schema_node *child = schema_member_node(node, name);
        if (child) {
            schema_prune_value(child, value, child->is_embedded, &member, faults);
        } else if (!node->preserves_unknown && !node->allows_additional) {
            note_unknown(faults, &member);
            (void)yyjson_mut_obj_iter_remove(&iter);
        }
    }
}

void schema_prune_value(const struct schema_node *node, yyjson_mut_val *value, bool is_resource,
                        const struct field *field, struct field_faults *faults)
{
    if (yyjson_mut_is_obj(value)) {
        prune_object(node, value, is_resource, field, faults);
    } else if (yyjson_mut_is_arr(value) && node->items) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        size_t index = 0;
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter)); index++) {
            const struct field at = field_item(field, index);
            schema_prune_value(node->items, item, node->items->is_embedded, &at, faults);
        }
    }
}

/* 2.0 is stored as 2, wherever it stands. */
static void make_whole(yyjson_mut_val *value)
{
    if (yyjson_mut_is_obj(value)) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
            make_whole(yyjson_mut_obj_iter_get_val(key));
    } else if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
            make_whole(item);
    } else if (yyjson_mut_is_real(value)) {
        double number = yyjson_mut_get_real(value);
        if (fabs(number) < 0x1p63 && trunc(number) == number)
            (void)yyjson_mut_set_sint(value, (int64_t)number);
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void schema_prune(const struct schema *schema, yyjson_mut_doc *doc, struct field_faults *faults)
{
    uint32_t before = faults ? faults->texts.len : 0;

    duplicates_drop(yyjson_mut_doc_get_root(doc));
    make_whole(yyjson_mut_doc_get_root(doc));
    schema_prune_value(schema->root, yyjson_mut_doc_get_root(doc), true, NULL, faults);
    if (faults && faults->texts.len > before)
        qsort(faults->texts.items + before, faults->texts.len - before, sizeof *faults->texts.items, compare_texts);
}
