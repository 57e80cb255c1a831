/* SPDX-License-Identifier: Apache-2.0 */
#include "local/wire/types.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/text_is.h"

/* Names are offsets into one block, so that the tables need no relocation. */
struct type_package {
    uint16_t openapi;
    uint16_t group;
    uint16_t version;
};

struct type_list {
    uint16_t row;
    uint16_t keys;
    uint16_t merge_key;
};

#include "local/wire/types_table.inc"

#define META_GROUP "meta.k8s.io"

static const char *name_at(uint16_t offset)
{
    return (const char *)&names + offset;
}

const struct type *type_at(size_t index)
{
    return index < ARRAY_LEN(types) ? &types[index] : NULL;
}

size_t type_index(const struct type *type)
{
    return (size_t)(type - types);
}

const char *type_name(const struct type *type)
{
    return name_at(type->name);
}

const char *type_package(const struct type *type)
{
    return name_at(packages[type->package].openapi);
}

const char *type_group(const struct type *type)
{
    return name_at(packages[type->package].group);
}

const char *type_version(const struct type *type)
{
    return name_at(packages[type->package].version);
}

static bool is_of_group(const struct type *type, const char *group, const char *version)
{
    return text_is(type_group(type), META_GROUP) ||
           (text_is(type_group(type), group) && text_is(type_version(type), version));
}

const struct type *type_find(const char *group, const char *version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const struct type *type = &types[i];
        if ((type->flags & TYPE_IS_KIND) && text_is(type_name(type), kind) && is_of_group(type, group, version))
            return type;
    }
    return NULL;
}

const struct type *type_find_in(const char *api_version, const char *kind)
{
    const char *slash = strchr(api_version, '/');
    _cleanup_(freep) char *group = xstrndup(api_version, slash ? (size_t)(slash - api_version) : 0);

    return type_find(group, slash ? slash + 1 : api_version, kind);
}

const struct type_row *type_rows(const struct type *type)
{
    return &rows[type->first];
}

const struct type_row *type_member(const struct type *type, const char *name)
{
    const struct type_row *members = type_rows(type);

    for (size_t i = 0; i < type->count; i++) {
        const struct type_row *found = text_is(row_name(&members[i]), name) ? &members[i] : NULL;
        if (members[i].flags & ROW_INLINE)
            found = type_member(row_struct(&members[i]), name);
        if (found)
            return found;
    }
    return NULL;
}

const struct type_row *type_numbered(const struct type *type, uint64_t number)
{
    const struct type_row *members = type_rows(type);

    for (size_t i = 0; i < type->count; i++)
        if (members[i].number == number)
            return &members[i];
    return NULL;
}

const char *row_name(const struct type_row *row)
{
    return name_at(row->name);
}

const struct type *row_struct(const struct type_row *row)
{
    return row->type >= TYPE_MESSAGE ? type_at(row->type - (size_t)TYPE_MESSAGE) : NULL;
}

static const struct type_list *list_of(const struct type_row *row)
{
    size_t index = (size_t)(row - rows);
    size_t low = 0;
    size_t high = ARRAY_LEN(lists);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lists[middle].row < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ARRAY_LEN(lists) && lists[low].row == index ? &lists[low] : NULL;
}

const char *row_list_keys(const struct type_row *row)
{
    const struct type_list *list = list_of(row);

    return list ? name_at(list->keys) : "";
}

const char *row_merge_key(const struct type_row *row)
{
    const struct type_list *list = list_of(row);

    return list ? name_at(list->merge_key) : "";
}

static const char *const go_names[] = {
    [TYPE_STRING] = "string",
    [TYPE_BOOL] = "bool",
    [TYPE_INT32] = "int32",
    [TYPE_INT64] = "int64",
    [TYPE_DOUBLE] = "float64",
    [TYPE_BYTES] = "[]uint8",
    [TYPE_QUANTITY] = "resource.Quantity",
    [TYPE_INT_OR_STRING] = "intstr.IntOrString",
    [TYPE_TIME] = "v1.Time",
    [TYPE_MICRO_TIME] = "v1.MicroTime",
    [TYPE_DURATION] = "v1.Duration",
    [TYPE_RAW] = "runtime.RawExtension",
    [TYPE_STRINGS] = "v1.ExtraValue",
    [TYPE_SCHEMA_OR_BOOL] = "v1.JSONSchemaPropsOrBool",
    [TYPE_SCHEMA_OR_LIST] = "v1.JSONSchemaPropsOrArray",
    [TYPE_SCHEMA_OR_NAMES] = "v1.JSONSchemaPropsOrStringArray",
};

const char *row_go_type(const struct type_row *row, bool is_element, char text[static TYPE_GO_NAME_MAX])
{
    const struct type *type = row_struct(row);
    const char *shape = "";

    /* A map with a name of its own, such as ResourceList, is called by it; its elements are not. */
    if (*name_at(row->go_name) && (!(row->flags & ROW_MAP) || (!is_element && row->type == TYPE_QUANTITY))) {
        shape = (row->flags & ROW_LIST) && !is_element ? "[]" : "";
        (void)snprintf(text, TYPE_GO_NAME_MAX, "%s%s", shape, name_at(row->go_name));
        return text;
    }
    if (!is_element)
        shape = row->flags & ROW_LIST ? "[]" : row->flags & ROW_MAP ? "map[string]" : "";
    if (type)
        (void)snprintf(text, TYPE_GO_NAME_MAX, "%s%s.%s", shape, type_version(type), type_name(type));
    else
        (void)snprintf(text, TYPE_GO_NAME_MAX, "%s%s", shape, go_names[row->type]);
    return text;
}

bool type_is_schema(const struct type *type)
{
    return text_is(type_name(type), "JSONSchemaProps");
}

const struct type *type_schema(void)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (type_is_schema(&types[i]))
            return &types[i];
    return NULL;
}
