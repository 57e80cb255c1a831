/* SPDX-License-Identifier: Apache-2.0 */
#include "local/custom/schema_internal.h"

/* Nulls where none may be stand for members that are left out. */
static void drop_nulls(const struct schema_node *node, yyjson_mut_val *object)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct schema_node *child = schema_member_node(node, yyjson_mut_get_str(key));
        if (child && !child->is_nullable && yyjson_mut_is_null(yyjson_mut_obj_iter_get_val(key)))
            (void)yyjson_mut_obj_iter_remove(&iter);
    }
}

static void default_object(const struct schema_node *node, yyjson_mut_val *object, yyjson_mut_doc *doc)
{
    drop_nulls(node, object);
    for (size_t i = 0; i < node->property_count; i++) {
        const struct schema_property *property = &node->properties[i];
        if (property->node->default_value && !yyjson_mut_obj_get(object, property->name))
            yyjson_mut_obj_add(object, yyjson_mut_strcpy(doc, property->name),
                               yyjson_mut_val_mut_copy(doc, property->node->default_value));
    }

    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct schema_node *child = schema_member_node(node, yyjson_mut_get_str(key));
        if (child)
            schema_default_value(child, yyjson_mut_obj_iter_get_val(key), doc);
    }
}

void schema_default_value(const struct schema_node *node, yyjson_mut_val *value, yyjson_mut_doc *doc)
{
    if (yyjson_mut_is_obj(value)) {
        default_object(node, value, doc);
    } else if (yyjson_mut_is_arr(value) && node->items) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
            schema_default_value(node->items, item, doc);
    }
}

bool schema_has_defaults(const struct schema *schema)
{
    return schema->has_defaults;
}

void schema_default(const struct schema *schema, yyjson_mut_doc *doc)
{
    schema_default_value(schema->root, yyjson_mut_doc_get_root(doc), doc);
}
