/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One document from libyaml's events. An alias copies the value that its anchor names. What the copies add is counted
 * against YAML_ALIAS_MAX, since ten aliases of ten aliases of ten aliases are a gigabyte soon.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "text/json.h"
#include "text/yaml.h"
#include "text/yaml_internal.h"

/* Mappings with more keys than this look them up by hash. */
enum { FEW_KEYS = 16 };

static struct yaml_frame *top(struct yaml_builder *b)
{
    return b->frames.len ? &b->frames.items[b->frames.len - 1] : NULL;
}

static void frame_done(struct yaml_frame *frame)
{
    map64_done(&frame->keys);
    vec_done(&frame->merged);
}

void yaml_build_done(struct yaml_builder *b)
{
    vec_foreach (&b->frames, frame)
        frame_done(frame);
    vec_done(&b->frames);
    vec_done(&b->marks);
    vec_done(&b->anchors);
    intern_done(&b->anchor_names);
    yyjson_mut_doc_free(b->doc);
    b->doc = NULL;
    b->root = NULL;
    b->alias_bytes = 0;
}

void yaml_build_init(struct yaml_builder *b)
{
    b->doc = yyjson_mut_doc_new(NULL);
    BUG_ON(!b->doc);
    intern_init(&b->anchor_names);
}

/* FNV-1a: only spreads keys over a table that looks at the keys themselves before it believes them equal. */

static bool same_key(yyjson_mut_val *a, yyjson_mut_val *b)
{
    return yyjson_mut_get_len(a) == yyjson_mut_get_len(b) &&
           memcmp(yyjson_mut_get_str(a), yyjson_mut_get_str(b), yyjson_mut_get_len(a)) == 0;
}

static void index_keys(struct yaml_frame *frame)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(frame->container);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
        map64_put(&frame->keys, hash_bytes(yyjson_mut_get_str(key), yyjson_mut_get_len(key), 0), (uintptr_t)key);
}

static bool has_key(struct yaml_frame *frame, yyjson_mut_val *key)
{
    const char *text = yyjson_mut_get_str(key);
    size_t len = yyjson_mut_get_len(key);
    uint64_t found = 0;

    if (yyjson_mut_obj_size(frame->container) > FEW_KEYS) {
        if (map64_len(&frame->keys) == 0)
            index_keys(frame);
        if (!map64_get(&frame->keys, hash_bytes(text, len, 0), &found))
            return false;
        if (same_key((yyjson_mut_val *)(uintptr_t)found, key))
            return true;
        /* Two keys share the hash: only the mapping itself knows. */
    }
    return yyjson_mut_obj_getn(frame->container, text, len) != NULL;
}

static void add_pair(struct yaml_frame *frame, yyjson_mut_val *key, yyjson_mut_val *val)
{
    (void)yyjson_mut_obj_add(frame->container, key, val);
    if (map64_len(&frame->keys) > 0)
        map64_put(&frame->keys, hash_bytes(yyjson_mut_get_str(key), yyjson_mut_get_len(key), 0), (uintptr_t)key);
}

/* Notes what a << names: a mapping, or a sequence of them. */
static int add_merged(struct yaml_builder *b, struct yaml_frame *frame, yyjson_mut_val *val)
{
    if (yyjson_mut_is_obj(val)) {
        vec_push(&frame->merged, val);
        return 0;
    }
    if (!yyjson_mut_is_arr(val))
        return yaml_fail(b, frame->merge_mark, "<< takes a mapping or a list of mappings");

    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(val);
    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (!yyjson_mut_is_obj(item))
            return yaml_fail(b, frame->merge_mark, "<< takes a mapping or a list of mappings");
        vec_push(&frame->merged, item);
    }
    return 0;
}

/* Puts a value where it belongs. A container is put there when it opens. */
static int attach(struct yaml_builder *b, yyjson_mut_val *val)
{
    struct yaml_frame *frame = top(b);

    if (!frame) {
        b->root = val;
    } else if (!frame->is_map) {
        (void)yyjson_mut_arr_append(frame->container, val);
    } else if (frame->is_merging) {
        frame->is_merging = false;
        return add_merged(b, frame, val);
    } else {
        add_pair(frame, frame->key, val);
        frame->key = NULL;
    }
    return 0;
}

static bool wants_key(const struct yaml_frame *frame)
{
    return frame && frame->is_map && !frame->key && !frame->is_merging;
}

static int set_key(struct yaml_builder *b, yyjson_mut_val *key, struct yaml_mark mark)
{
    struct yaml_frame *frame = top(b);

    if (has_key(frame, key)) {
        if (!b->on_twice)
            return yaml_fail(b, mark, "the key '%.60s' is defined twice in this mapping", yyjson_mut_get_str(key));
        b->on_twice(b->twice_arg, yyjson_mut_get_str(key), mark);
    }
    frame->key = key;
    vec_push(&b->marks, mark);
    return 0;
}

static void set_anchor(struct yaml_builder *b, const yaml_char_t *anchor, yyjson_mut_val *val)
{
    if (!anchor)
        return;

    uint32_t id = intern_id(&b->anchor_names, (const char *)anchor, strlen((const char *)anchor));
    if (id >= b->anchors.len)
        vec_resize(&b->anchors, id + 1);
    b->anchors.items[id] = val;
}

static const struct tag {
    const char *name;
    enum yaml_scalar_type type;
} tags[] = {
    {YAML_NULL_TAG, YAML_SCALAR_NULL},
    {YAML_BOOL_TAG, YAML_SCALAR_BOOL},
    {YAML_INT_TAG, YAML_SCALAR_INT},
    {YAML_FLOAT_TAG, YAML_SCALAR_REAL},
};

static bool fits_tag(struct yaml_scalar *scalar, enum yaml_scalar_type wanted)
{
    if (wanted == YAML_SCALAR_REAL && scalar->type == YAML_SCALAR_INT) {
        scalar->type = YAML_SCALAR_REAL;
        scalar->real = (double)scalar->integer;
    }
    return scalar->type == wanted || (wanted == YAML_SCALAR_INT && scalar->type == YAML_SCALAR_UINT);
}

/* What the scalar means: by its tag if it has one that YAML defines, else by its text, unless that is quoted. */
static int resolve(struct yaml_builder *b, const yaml_event_t *event, struct yaml_scalar *ret_scalar)
{
    const char *text = (const char *)event->data.scalar.value;
    const char *tag = (const char *)event->data.scalar.tag;
    struct yaml_mark mark = yaml_mark_of(event->start_mark);

    *ret_scalar = (struct yaml_scalar){.type = YAML_SCALAR_STRING};
    if (event->data.scalar.plain_implicit)
        *ret_scalar = yaml_scalar_resolve(text, event->data.scalar.length);
    for (size_t i = 0; tag && i < ARRAY_LEN(tags); i++) {
        if (strcmp(tag, tags[i].name) != 0)
            continue;
        *ret_scalar = yaml_scalar_resolve(text, event->data.scalar.length);
        if (!fits_tag(ret_scalar, tags[i].type))
            return yaml_fail(b, mark, "'%.60s' does not fit its tag %s", text, tag);
    }
    if (ret_scalar->type == YAML_SCALAR_NOT_FINITE)
        return yaml_fail(b, mark, "'%.60s' is not a number in JSON; quote it to make it a string", text);
    return 0;
}

static yyjson_mut_val *scalar_value(struct yaml_builder *b, const yaml_event_t *event, const struct yaml_scalar *scalar)
{
    switch (scalar->type) {
    case YAML_SCALAR_NULL:
        return yyjson_mut_null(b->doc);
    case YAML_SCALAR_BOOL:
        return yyjson_mut_bool(b->doc, scalar->is_true);
    case YAML_SCALAR_INT:
        return scalar->integer < 0 ? yyjson_mut_sint(b->doc, scalar->integer)
                                   : yyjson_mut_uint(b->doc, (uint64_t)scalar->integer);
    case YAML_SCALAR_UINT:
        return yyjson_mut_uint(b->doc, scalar->natural);
    case YAML_SCALAR_REAL:
        return yyjson_mut_real(b->doc, scalar->real);
    case YAML_SCALAR_STRING:
    case YAML_SCALAR_MERGE:
    case YAML_SCALAR_NOT_FINITE:
        break;
    }
    return yyjson_mut_strncpy(b->doc, (const char *)event->data.scalar.value, event->data.scalar.length);
}

/* A key as JSON wants it, a string: kubectl turns `on: x` into "true" and `1: x` into "1". */
static int key_value(struct yaml_builder *b, yyjson_mut_val *val, struct yaml_mark mark, yyjson_mut_val **ret_key)
{
    char text[48];

    if (yyjson_mut_is_str(val)) {
        *ret_key = val;
        return 0;
    }
    if (yyjson_mut_is_bool(val))
        (void)snprintf(text, sizeof text, "%s", yyjson_mut_get_bool(val) ? "true" : "false");
    else if (yyjson_mut_is_sint(val))
        (void)snprintf(text, sizeof text, "%lld", (long long)yyjson_mut_get_sint(val));
    else if (yyjson_mut_is_uint(val))
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)yyjson_mut_get_uint(val));
    else if (yyjson_mut_is_real(val))
        (void)snprintf(text, sizeof text, "%.15g", yyjson_mut_get_real(val));
    else
        return yaml_fail(b, mark, "a key has to be a string");
    *ret_key = yyjson_mut_strcpy(b->doc, text);
    return 0;
}

static int on_scalar(struct yaml_builder *b, const yaml_event_t *event)
{
    struct yaml_mark mark = yaml_mark_of(event->start_mark);
    struct yaml_scalar scalar;

    int r = resolve(b, event, &scalar);
    if (r < 0)
        return r;
    if (wants_key(top(b)) && scalar.type == YAML_SCALAR_MERGE) {
        top(b)->is_merging = true;
        top(b)->merge_mark = mark;
        return 0;
    }

    yyjson_mut_val *val = scalar_value(b, event, &scalar);
    set_anchor(b, event->data.scalar.anchor, val);
    if (wants_key(top(b))) {
        yyjson_mut_val *key = NULL;

        r = key_value(b, val, mark, &key);
        return r < 0 ? r : set_key(b, key, mark);
    }
    if (!top(b) || !top(b)->is_merging)
        vec_push(&b->marks, mark);
    return attach(b, val);
}

static int on_start(struct yaml_builder *b, bool is_map, const yaml_char_t *anchor, struct yaml_mark mark)
{
    struct yaml_frame *parent = top(b);
    struct yaml_frame frame = {.is_map = is_map, .mark_count = b->marks.len};

    if (b->frames.len >= JSON_DEPTH_MAX)
        return yaml_fail(b, mark, "nested too deeply, expected at most %d levels", JSON_DEPTH_MAX);
    if (wants_key(parent) && is_map)
        return yaml_fail(b, mark, "a key has to be a string; a template's {{ }} has to be filled in first");
    if (wants_key(parent))
        return yaml_fail(b, mark, "a key has to be a string");

    frame.container = is_map ? yyjson_mut_obj(b->doc) : yyjson_mut_arr(b->doc);
    set_anchor(b, anchor, frame.container);
    if (parent && parent->is_merging) {
        /* It stays outside of the document: its parent takes it in when it is whole. */
        frame.is_detached = true;
    } else {
        int r = attach(b, frame.container);
        if (r < 0)
            return r;
    }
    vec_push(&b->marks, mark);
    vec_push(&b->frames, frame);
    return 0;
}

/* Adds a copy of `val` and of all in it, with the mark of the alias that asks for it. */
static int copy_value(struct yaml_builder *b, yyjson_mut_val *val, struct yaml_mark mark, size_t depth,
                      yyjson_mut_val **ret_copy)
{
    size_t index;
    size_t max;
    yyjson_mut_val *key;
    yyjson_mut_val *item;
    yyjson_mut_val *copy = NULL;

    b->alias_bytes += sizeof *val + (yyjson_mut_is_str(val) ? yyjson_mut_get_len(val) : 0);
    if (b->alias_bytes > YAML_ALIAS_MAX)
        return yaml_fail(b, mark, "aliases make more than %d MiB of this document", YAML_ALIAS_MAX >> 20);
    if (depth > JSON_DEPTH_MAX)
        return yaml_fail(b, mark, "nested too deeply, expected at most %d levels", JSON_DEPTH_MAX);

    vec_push(&b->marks, mark);
    *ret_copy = yyjson_mut_is_obj(val)   ? yyjson_mut_obj(b->doc)
                : yyjson_mut_is_arr(val) ? yyjson_mut_arr(b->doc)
                                         : yyjson_mut_val_mut_copy(b->doc, val);
    if (yyjson_mut_is_arr(val)) {
        yyjson_mut_arr_foreach(val, index, max, item)
        {
            int r = copy_value(b, item, mark, depth + 1, &copy);
            if (r < 0)
                return r;
            (void)yyjson_mut_arr_append(*ret_copy, copy);
        }
    } else if (yyjson_mut_is_obj(val)) {
        yyjson_mut_obj_foreach(val, index, max, key, item)
        {
            yyjson_mut_val *key_copy = NULL;
            int r = copy_value(b, key, mark, depth, &key_copy);
            if (r >= 0)
                r = copy_value(b, item, mark, depth + 1, &copy);
            if (r < 0)
                return r;
            (void)yyjson_mut_obj_add(*ret_copy, key_copy, copy);
        }
    }
    return 0;
}

/*
 * The pairs of merged mappings whose keys the mapping does not have itself; an earlier mapping wins over a later one.
 */
static int merge(struct yaml_builder *b, struct yaml_frame *frame)
{
    size_t index;
    size_t max;
    yyjson_mut_val *key;
    yyjson_mut_val *val;

    for (uint32_t i = 0; i < frame->merged.len; i++) {
        yyjson_mut_obj_foreach(frame->merged.items[i], index, max, key, val)
        {
            yyjson_mut_val *key_copy = NULL;
            yyjson_mut_val *val_copy = NULL;

            if (has_key(frame, key))
                continue;
            int r = copy_value(b, key, frame->merge_mark, b->frames.len, &key_copy);
            if (r >= 0)
                r = copy_value(b, val, frame->merge_mark, b->frames.len, &val_copy);
            if (r < 0)
                return r;
            add_pair(frame, key_copy, val_copy);
        }
    }
    return 0;
}

static int on_end(struct yaml_builder *b)
{
    BUG_ON(b->frames.len == 0);
    int r = merge(b, &vec_last(&b->frames));
    if (r < 0)
        return r;

    struct yaml_frame frame = vec_pop(&b->frames);
    if (frame.is_detached) {
        b->marks.len = frame.mark_count;
        r = attach(b, frame.container);
    }
    frame_done(&frame);
    return r;
}

static int on_alias(struct yaml_builder *b, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    struct yaml_mark mark = yaml_mark_of(event->start_mark);
    uint32_t id = 0;

    if (!intern_find(&b->anchor_names, name, strlen(name), &id) || id >= b->anchors.len || !b->anchors.items[id])
        return yaml_fail(b, mark, "there is no anchor &%.60s before this alias", name);

    yyjson_mut_val *val = b->anchors.items[id];
    vec_foreach (&b->frames, frame) {
        if (frame->container == val)
            return yaml_fail(b, mark, "the alias *%.60s refers to the value that contains it", name);
    }
    if (wants_key(top(b))) {
        yyjson_mut_val *key = NULL;
        uint32_t mark_count = b->marks.len;

        int r = copy_value(b, val, mark, b->frames.len, &key);
        b->marks.len = mark_count;
        if (r >= 0)
            r = key_value(b, key, mark, &key);
        return r < 0 ? r : set_key(b, key, mark);
    }
    if (top(b) && top(b)->is_merging)
        return attach(b, val);

    yyjson_mut_val *copy = NULL;
    int r = copy_value(b, val, mark, b->frames.len + 1, &copy);
    return r < 0 ? r : attach(b, copy);
}

int yaml_build(struct yaml_builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(b, event);
    case YAML_ALIAS_EVENT:
        return on_alias(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(b, false, event->data.sequence_start.anchor, yaml_mark_of(event->start_mark));
    case YAML_MAPPING_START_EVENT:
        return on_start(b, true, event->data.mapping_start.anchor, yaml_mark_of(event->start_mark));
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(b);
    default:
        return 0;
    }
}
