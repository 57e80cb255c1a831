/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object, its names, its tags and its body lie in one allocation: the tags first because they need to be aligned, then
 * all texts one after the other.
 */
#include <string.h>

#include "base/mem.h"
#include "store/object_internal.h"

void store_tags_init(struct store_tags *tags)
{
    *tags = (struct store_tags){0};
    strbuf_init(&tags->texts, (size_t)STORE_TAGS_MAX * (STORE_TAG_BYTES_MAX + 2));
}

void store_tags_done(struct store_tags *tags)
{
    vec_done(&tags->places);
    strbuf_done(&tags->texts);
}

void store_tags_clear(struct store_tags *tags)
{
    vec_clear(&tags->places);
    strbuf_clear(&tags->texts);
    tags->is_full = false;
}

bool store_tags_add(struct store_tags *tags, const char *name, const char *value, bool is_indexed)
{
    size_t name_len = strlen(name);
    size_t value_len = strlen(value);

    if (tags->places.len == STORE_TAGS_MAX || name_len + value_len > STORE_TAG_BYTES_MAX) {
        tags->is_full = true;
        return false;
    }
    size_t name_at = tags->texts.len;
    strbuf_add(&tags->texts, name, name_len + 1);
    size_t value_at = tags->texts.len;
    strbuf_add(&tags->texts, value, value_len + 1);
    vec_push(&tags->places, (struct tag_place){.name_at = name_at, .value_at = value_at, .is_indexed = is_indexed});
    return true;
}

/* Copies `len` bytes and a NUL to where `*at` points, and moves it behind them. */
static const char *put_text(char **at, const char *text, size_t len)
{
    char *begin = *at;

    memcpy(begin, text, len);
    begin[len] = '\0';
    *at += len + 1;
    return begin;
}

struct store_object *object_new(const struct object_parts *parts, const struct store_tags *tags)
{
    size_t namespace_len = strlen(parts->namespace);
    size_t name_len = strlen(parts->name);
    size_t tag_bytes = tags->places.len * sizeof(struct store_tag);
    struct store_object *object =
        xmalloc(sizeof *object + tag_bytes + tags->texts.len + namespace_len + name_len + parts->body_len + 3);
    struct store_tag *placed = (struct store_tag *)(object + 1);
    char *at = (char *)placed + tag_bytes;

    memcpy(at, tags->texts.text, tags->texts.len);
    for (uint32_t i = 0; i < tags->places.len; i++) {
        const struct tag_place *place = &tags->places.items[i];
        placed[i] = (struct store_tag){
            .name = at + place->name_at,
            .value = at + place->value_at,
            .is_indexed = place->is_indexed,
        };
    }
    at += tags->texts.len;
    *object = (struct store_object){
        .refs = 1,
        .kind = parts->kind,
        .version = parts->version,
        .expires = parts->expires,
        .namespace = put_text(&at, parts->namespace, namespace_len),
        .name = put_text(&at, parts->name, name_len),
        .body = put_text(&at, parts->body, parts->body_len),
        .body_len = parts->body_len,
        .tags = placed,
        .tag_count = tags->places.len,
    };
    return object;
}

const struct store_object *store_object_ref(const struct store_object *object)
{
    ((struct store_object *)object)->refs++;
    return object;
}

void store_object_unref(const struct store_object *object)
{
    struct store_object *counted = (struct store_object *)object;

    if (counted && --counted->refs == 0)
        free(counted);
}

const char *store_object_tag(const struct store_object *object, const char *name)
{
    for (uint32_t i = 0; i < object->tag_count; i++)
        if (strcmp(object->tags[i].name, name) == 0)
            return object->tags[i].value;
    return NULL;
}

bool object_has_same_tags(const struct store_object *a, const struct store_object *b)
{
    if (a->tag_count != b->tag_count)
        return false;
    for (uint32_t i = 0; i < a->tag_count; i++) {
        const struct store_tag *x = &a->tags[i];
        const struct store_tag *y = &b->tags[i];
        if (x->is_indexed != y->is_indexed || strcmp(x->name, y->name) != 0 || strcmp(x->value, y->value) != 0)
            return false;
    }
    return true;
}
