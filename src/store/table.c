/* SPDX-License-Identifier: Apache-2.0 */
/* The objects in memory: by name, in order, and by tag. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_internal.h"

struct kind *store_kind_of(const struct store *store, uint32_t kind)
{
    BUG_ON(kind >= store->kinds.len);
    return store->kinds.items[kind];
}

int store_add_kind(struct store *store, const char *name, bool is_stored, uint32_t *ret_kind, struct err *err)
{
    if (strlen(name) > STORE_NAME_MAX)
        return err_set(err, -E2BIG, "the name of a kind has more than %d bytes", STORE_NAME_MAX);
    if (store->kinds.len == STORE_KINDS_MAX)
        return err_set(err, -E2BIG, "there are more than %d kinds", STORE_KINDS_MAX);
    struct kind *kind = xcalloc(1, sizeof *kind);
    kind->name = xstrdup(name);
    kind->is_stored = is_stored;
    vec_push(&store->kinds, kind);
    strmap_put(&store->kind_numbers, "", kind->name, (void *)(uintptr_t)store->kinds.len);
    *ret_kind = store->kinds.len - 1;
    return 0;
}

int store_kind(struct store *store, const char *name, uint32_t *ret_kind, struct err *err)
{
    uintptr_t number = (uintptr_t)strmap_get(&store->kind_numbers, "", name);

    if (number == 0)
        return store_add_kind(store, name, false, ret_kind, err);
    *ret_kind = (uint32_t)(number - 1);
    return 0;
}

const char *store_kind_name(const struct store *store, uint32_t kind)
{
    return store_kind_of(store, kind)->name;
}

struct entry *entry_find(const struct store *store, uint32_t kind, const char *namespace, const char *name)
{
    return strmap_get(&store_kind_of(store, kind)->entries, namespace, name);
}

struct entry *entry_make(struct store *store, uint32_t kind, const char *namespace, const char *name)
{
    struct entry *entry = entry_find(store, kind, namespace, name);

    if (entry)
        return entry;
    size_t namespace_size = strlen(namespace) + 1;
    size_t name_size = strlen(name) + 1;
    entry = xmalloc(sizeof *entry + namespace_size + name_size);
    char *texts = (char *)(entry + 1);
    *entry = (struct entry){.kind = kind, .namespace = texts, .name = texts + namespace_size};
    memcpy(entry->namespace, namespace, namespace_size);
    memcpy(entry->name, name, name_size);
    strmap_put(&store_kind_of(store, kind)->entries, entry->namespace, entry->name, entry);
    return entry;
}

void entry_drop_unused(struct store *store, struct entry *entry)
{
    if (entry->shown || entry->waiting)
        return;
    strmap_remove(&store_kind_of(store, entry->kind)->entries, entry->namespace, entry->name);
    free(entry);
}

/* --- Tags --- */

static void bucket_free(struct bucket *bucket)
{
    free(bucket->kind_and_tag);
    free(bucket->value);
    free(bucket);
}

static const char *bucket_key(uint32_t kind, const char *tag, char *key, size_t size)
{
    (void)snprintf(key, size, "%u/%s", kind, tag);
    return key;
}

static struct bucket *bucket_make(struct store *store, uint32_t kind, const struct store_tag *tag)
{
    char key[STORE_TAG_BYTES_MAX + 16];

    bucket_key(kind, tag->name, key, sizeof key);
    struct bucket *bucket = strmap_get(&store->buckets, key, tag->value);
    if (!bucket) {
        bucket = xcalloc(1, sizeof *bucket);
        bucket->kind_and_tag = xstrdup(key);
        bucket->value = xstrdup(tag->value);
        strmap_put(&store->buckets, bucket->kind_and_tag, bucket->value, bucket);
    }
    return bucket;
}

static void unlink_tags(struct store *store, struct entry *entry)
{
    for (uint32_t i = 0; i < entry->link_count; i++) {
        struct bucket *bucket = entry->links[i].bucket;
        list_remove(&bucket->links, &entry->links[i].in_bucket);
        if (bucket->links.len == 0) {
            strmap_remove(&store->buckets, bucket->kind_and_tag, bucket->value);
            bucket_free(bucket);
        }
    }
    free(entry->links);
    entry->links = NULL;
    entry->link_count = 0;
}

static void link_tags(struct store *store, struct entry *entry, const struct store_object *object)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < object->tag_count; i++)
        count += object->tags[i].is_indexed;
    if (count == 0)
        return;
    entry->links = xcalloc(count, sizeof *entry->links);
    for (uint32_t i = 0; i < object->tag_count; i++) {
        if (!object->tags[i].is_indexed)
            continue;
        struct bucket_link *link = &entry->links[entry->link_count++];
        link->entry = entry;
        link->bucket = bucket_make(store, entry->kind, &object->tags[i]);
        list_push(&link->bucket->links, &link->in_bucket);
    }
}

void store_tagged(const struct store *store, uint32_t kind, const char *tag, const char *value, store_each_fn fn,
                  void *arg)
{
    char key[STORE_TAG_BYTES_MAX + 16];

    if (strlen(tag) > STORE_TAG_BYTES_MAX)
        return;
    const struct bucket *bucket = strmap_get(&store->buckets, bucket_key(kind, tag, key, sizeof key), value);
    if (!bucket)
        return;
    for (struct list_link *at = bucket->links.first; at; at = at->next)
        fn(arg, list_item(at, struct bucket_link, in_bucket)->entry->shown);
}

/* --- What readers see --- */

void entry_show(struct store *store, struct entry *entry, const struct store_object *object)
{
    struct kind *kind = store_kind_of(store, entry->kind);
    const struct store_object *before = entry->shown;

    if (!before || !object || !object_has_same_tags(before, object)) {
        unlink_tags(store, entry);
        if (object)
            link_tags(store, entry, object);
    }
    if (object && !before)
        ordered_add(&kind->ordered, entry);
    if (!object && before)
        ordered_remove(&kind->ordered, entry);
    store->object_bytes += (object ? object->body_len : 0) - (before ? before->body_len : 0);
    entry->shown = object ? store_object_ref(object) : NULL;
    store_object_unref(before);
}

const struct store_object *store_get(const struct store *store, uint32_t kind, const char *namespace, const char *name)
{
    const struct entry *entry = entry_find(store, kind, namespace, name);

    return entry ? entry->shown : NULL;
}

const struct store_object *store_latest(const struct store *store, uint32_t kind, const char *namespace,
                                        const char *name)
{
    const struct entry *entry = entry_find(store, kind, namespace, name);

    if (!entry)
        return NULL;
    return entry->waiting ? entry->latest : entry->shown;
}

size_t store_count(const struct store *store, uint32_t kind)
{
    return store_kind_of(store, kind)->ordered.len;
}

size_t store_bytes(const struct store *store)
{
    size_t bytes = store->object_bytes + store->history.bytes + strmap_bytes(&store->buckets);

    vec_foreach (&store->kinds, kind)
        bytes += strmap_bytes(&(*kind)->entries) + (*kind)->entries.len * (sizeof(struct entry) + sizeof(void *));
    return bytes;
}

/* --- Walks --- */

void store_cursor_init(struct store_cursor *cursor, const struct store *store, uint32_t kind,
                       const char *after_namespace, const char *after_name)
{
    *cursor = (struct store_cursor){
        .store = store,
        .kind = kind,
        .after_namespace = after_namespace,
        .after_name = after_name,
        .generation = UINT64_MAX,
    };
}

void store_cursor_done(struct store_cursor *cursor)
{
    store_object_unref(cursor->last);
    cursor->last = NULL;
}

const struct store_object *store_cursor_next(struct store_cursor *cursor)
{
    const struct ordered *ordered = &store_kind_of(cursor->store, cursor->kind)->ordered;

    if (cursor->generation != ordered->generation) {
        const char *namespace = cursor->last ? cursor->last->namespace : cursor->after_namespace;
        const char *name = cursor->last ? cursor->last->name : cursor->after_name;
        ordered_find_after(ordered, namespace, name, &cursor->leaf, &cursor->index);
        cursor->generation = ordered->generation;
    }
    const struct entry *entry = ordered_step(ordered, &cursor->leaf, &cursor->index);
    if (!entry) {
        cursor->generation = UINT64_MAX;
        return NULL;
    }
    store_object_unref(cursor->last);
    cursor->last = store_object_ref(entry->shown);
    return cursor->last;
}

/* --- The end --- */

static void kind_free(struct store *store, struct kind *kind)
{
    struct entry *entry;

    for (size_t cursor = 0; (entry = strmap_next(&kind->entries, &cursor));) {
        unlink_tags(store, entry);
        store_object_unref(entry->shown);
        free(entry);
    }
    strmap_done(&kind->entries);
    ordered_done(&kind->ordered);
    free(kind->name);
    free(kind);
}

void store_free_tables(struct store *store)
{
    strmap_done(&store->kind_numbers);
    vec_foreach (&store->kinds, kind)
        kind_free(store, *kind);
    vec_done(&store->kinds);
    strmap_done(&store->buckets);
}
