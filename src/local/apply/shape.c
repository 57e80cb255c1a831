/* SPDX-License-Identifier: Apache-2.0 */
#include "local/apply/shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/wire/types.h"

enum { STEP_BYTES_MAX = 64 << 10 };

/* --- Built-in kinds --- */

static bool is_map_itself(const struct shape *shape)
{
    return shape->row && (shape->row->flags & ROW_MAP) && !shape->is_element;
}

static bool is_list_itself(const struct shape *shape)
{
    return shape->row && (shape->row->flags & ROW_LIST) && !shape->is_element;
}

static enum schema_merge merge_builtin(const struct shape *shape, yyjson_mut_val *value)
{
    unsigned flags = shape->row ? shape->row->flags : 0;

    if (yyjson_mut_is_obj(value)) {
        if ((flags & ROW_ATOMIC) || (shape->row && shape->row->type == TYPE_RAW))
            return SCHEMA_ATOMIC;
        return is_map_itself(shape) ? SCHEMA_MAP : SCHEMA_STRUCT;
    }
    if (!yyjson_mut_is_arr(value))
        return SCHEMA_LEAF;
    if (!is_list_itself(shape) || !(flags & (ROW_KEYED | ROW_SET)))
        return SCHEMA_ATOMIC;
    return flags & ROW_KEYED ? SCHEMA_LIST_KEYED : SCHEMA_LIST_SET;
}

static void enter_builtin(struct shape *shape, const struct type *type, const char *name, bool *ret_is_named)
{
    if (is_map_itself(shape)) {
        shape->is_element = true;
        *ret_is_named = false;
        return;
    }
    shape->row = type ? type_member(type, name) : NULL;
    shape->is_element = false;
    *ret_is_named = true;
}

/* The struct whose members an object at this place has; NULL when the tables have none. */
static const struct type *struct_of(const struct shape *shape)
{
    return shape->is_root ? shape->root : shape->row ? row_struct(shape->row) : NULL;
}

/* --- Both --- */

struct shape shape_of(const struct api_kind *kind, const struct schema *schema)
{
    return (struct shape){
        .node = schema ? schema_root(schema) : NULL,
        .root = schema ? NULL : type_find(kind->group, kind->version, kind->kind),
        .is_custom = schema != NULL,
        .is_root = true,
    };
}

enum schema_merge shape_merge(const struct shape *shape, yyjson_mut_val *value)
{
    if (shape->is_root)
        return SCHEMA_STRUCT;
    return shape->is_custom ? schema_merge_of(shape->node, value) : merge_builtin(shape, value);
}

struct shape shape_member(const struct shape *shape, const char *name, bool *ret_is_named)
{
    struct shape member = *shape;

    member.is_root = false;
    if (!shape->is_custom) {
        enter_builtin(&member, struct_of(shape), name, ret_is_named);
        return member;
    }
    /* The metadata of custom kinds is that of all kinds. */
    if (shape->is_root && strcmp(name, "metadata") == 0) {
        member.is_custom = false;
        enter_builtin(&member, type_find("", "v1", "ConfigMap"), name, ret_is_named);
        return member;
    }
    member.node = schema_member(shape->node, name, ret_is_named);
    *ret_is_named |= shape->is_root;
    return member;
}

struct shape shape_items(const struct shape *shape)
{
    struct shape items = *shape;

    items.node = schema_items(shape->node);
    items.is_element = true;
    return items;
}

/* The key at an index of a text of keys with spaces between them; NULL past the last one. */
static const char *key_in(const char *keys, size_t index, struct arena *arena)
{
    for (; index > 0 && *keys; index--) {
        keys += strcspn(keys, " ");
        keys += strspn(keys, " ");
    }
    size_t len = strcspn(keys, " ");
    char *key = arena_alloc(arena, len + 1);

    memcpy(key, keys, len);
    key[len] = '\0';
    return len ? key : NULL;
}

static const char *key_at(const struct shape *shape, size_t index, struct arena *arena)
{
    if (shape->is_custom)
        return schema_key_at(shape->node, index);
    return shape->row ? key_in(row_list_keys(shape->row), index, arena) : NULL;
}

/* A key that is left out: a text that Go always writes is empty then. */
static yyjson_mut_val *missing_key(const struct shape *shape, const char *key)
{
    static const char protocol[] = "TCP";
    static yyjson_mut_val by_default = {
        .tag = ((sizeof protocol - 1) << YYJSON_TAG_BIT) | YYJSON_TYPE_STR,
        .uni = {.str = protocol},
    };
    static yyjson_mut_val empty = {.tag = YYJSON_TYPE_STR, .uni = {.str = ""}};
    const struct type_row *row = row_struct(shape->row) ? type_member(row_struct(shape->row), key) : NULL;

    if (strcmp(key, "protocol") == 0)
        return &by_default;
    return row && row->type == TYPE_STRING && !(row->flags & (ROW_OMIT_EMPTY | ROW_POINTER)) ? &empty : NULL;
}

static yyjson_mut_val *key_value(const struct shape *shape, yyjson_mut_val *element, const char *key)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(element, key);
    bool is_named;

    if (value)
        return value;
    if (shape->is_custom)
        return schema_default_of(schema_member(schema_items(shape->node), key, &is_named));
    return missing_key(shape, key);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_json(struct strbuf *text, yyjson_mut_val *value)
{
    char *json = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, NULL);

    strbuf_addstr(text, json ? json : "null");
    free(json);
}

/* The keys of a schema come in any order, and in sets by name. */
static bool add_keys(const struct shape *shape, yyjson_mut_val *element, struct strbuf *text, struct arena *arena)
{
    size_t count = 0;

    while (key_at(shape, count, arena))
        count++;
    const char **keys = arena_calloc(arena, count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = key_at(shape, i, arena);
    qsort(keys, count, sizeof *keys, compare_texts);
    strbuf_addstr(text, "k:{");
    bool has_any = false;
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *value = key_value(shape, element, keys[i]);
        /* shareID is optional, the only key without a default that may be missing. */
        if (!value && strcmp(keys[i], "shareID") == 0)
            continue;
        if (!value || yyjson_mut_is_ctn(value))
            return false;
        strbuf_addf(text, "%s\"%s\":", has_any ? "," : "", keys[i]);
        add_json(text, value);
        has_any = true;
    }
    strbuf_addch(text, '}');
    return has_any;
}

const char *shape_step(const struct shape *shape, yyjson_mut_val *element, struct arena *arena)
{
    struct strbuf text;
    bool is_whole = true;

    strbuf_init(&text, STEP_BYTES_MAX);
    if (key_at(shape, 0, arena)) {
        is_whole = yyjson_mut_is_obj(element) && add_keys(shape, element, &text, arena);
    } else {
        strbuf_addstr(&text, "v:");
        add_json(&text, element);
    }
    const char *step = is_whole && !text.is_cut ? arena_strdup(arena, text.text) : NULL;
    strbuf_done(&text);
    return step;
}

/* --- Declared types --- */

static enum shape_type type_builtin(const struct shape *shape)
{
    if (is_list_itself(shape))
        return SHAPE_LIST;
    if (is_map_itself(shape) || (shape->row && row_struct(shape->row)))
        return SHAPE_OBJECT;
    switch (shape->row ? shape->row->type : TYPE_RAW) {
    case TYPE_STRING:
    case TYPE_BYTES:
        return SHAPE_TEXT;
    case TYPE_BOOL:
        return SHAPE_BOOL;
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_DOUBLE:
        return SHAPE_NUMBER;
    default:
        return SHAPE_ANY;
    }
}

enum shape_type shape_type_of(const struct shape *shape)
{
    static const enum shape_type types[] = {
        [SCHEMA_IS_NUMBER] = SHAPE_NUMBER, [SCHEMA_IS_TEXT] = SHAPE_TEXT,     [SCHEMA_IS_BOOL] = SHAPE_BOOL,
        [SCHEMA_IS_LIST] = SHAPE_LIST,     [SCHEMA_IS_OBJECT] = SHAPE_OBJECT, [SCHEMA_IS_ANY] = SHAPE_ANY};

    if (shape->is_root)
        return SHAPE_OBJECT;
    return shape->is_custom ? types[schema_type_of(shape->node)] : type_builtin(shape);
}

bool shape_declares(const struct shape *shape, const struct shape *member, bool is_named)
{
    if (!is_named || member->row)
        return true;
    const struct type *type = struct_of(shape);
    /* Nothing is known about what is inside of a value of any form. */
    return !type;
}
