/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiled schema tells about its places. */
#include <stdlib.h>
#include <string.h>

#include "cel/pattern.h"
#include "local/custom/schema_internal.h"

void schema_free(struct schema *schema)
{
    if (!schema)
        return;
    vec_foreach (&schema->patterns, pattern)
        pattern_free(*pattern);
    vec_done(&schema->patterns);
    yyjson_mut_doc_free(schema->values);
    arena_done(&schema->arena);
    free(schema);
}

const char *schema_type_name(enum schema_type type)
{
    static const char *const names[] = {
        [TYPE_NONE] = NULL,       [TYPE_ARRAY] = "array",   [TYPE_BOOLEAN] = "boolean", [TYPE_INTEGER] = "integer",
        [TYPE_NUMBER] = "number", [TYPE_OBJECT] = "object", [TYPE_STRING] = "string",
    };

    return names[type];
}

static int compare_to_name(const void *name, const void *property)
{
    return strcmp(name, ((const struct schema_property *)property)->name);
}

const struct schema_node *schema_property_find(const struct schema_node *node, const char *name)
{
    if (!node || !node->property_count)
        return NULL;
    const struct schema_property *found =
        bsearch(name, node->properties, node->property_count, sizeof *node->properties, compare_to_name);
    return found ? found->node : NULL;
}

const struct schema_node *schema_member_node(const struct schema_node *node, const char *name)
{
    const struct schema_node *named = schema_property_find(node, name);

    return named || !node ? named : node->additional;
}

const struct schema_node *schema_root(const struct schema *schema)
{
    return schema->root;
}

const struct schema_node *schema_member(const struct schema_node *node, const char *name, bool *ret_is_named)
{
    *ret_is_named = schema_property_find(node, name) != NULL;
    return schema_member_node(node, name);
}

const struct schema_node *schema_items(const struct schema_node *node)
{
    return node ? node->items : NULL;
}

const char *schema_key_at(const struct schema_node *node, size_t index)
{
    return node && index < node->key_count ? node->keys[index] : NULL;
}

yyjson_mut_val *schema_default_of(const struct schema_node *node)
{
    return node ? node->default_value : NULL;
}

bool schema_is_plain(const struct schema_node *node)
{
    return node->type != TYPE_NONE && node->type != TYPE_OBJECT && node->type != TYPE_ARRAY;
}

bool schema_preserves_unknown(const struct schema_node *node)
{
    return !node || node->preserves_unknown;
}

bool schema_is_struct(const struct schema_node *node)
{
    return node && node->property_count && !node->preserves_unknown;
}

enum schema_merge schema_merge_of(const struct schema_node *node, yyjson_mut_val *value)
{
    if (yyjson_mut_is_obj(value)) {
        if (node && node->is_atomic_map)
            return SCHEMA_ATOMIC;
        return schema_is_struct(node) ? SCHEMA_STRUCT : SCHEMA_MAP;
    }
    if (yyjson_mut_is_arr(value)) {
        if (node && node->list == LIST_MAP)
            return SCHEMA_LIST_KEYED;
        return node && node->list == LIST_SET ? SCHEMA_LIST_SET : SCHEMA_ATOMIC;
    }
    return SCHEMA_LEAF;
}
