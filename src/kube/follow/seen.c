/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Entries lie in one array; those whose keys have the same hash are chained, which happens once in a lifetime but must
 * not mix up two pods. Texts are one small block each, since objects come and go.
 */
#include "kube/follow/seen_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"

void seen_init(struct seen *seen)
{
    *seen = (struct seen){0};
    map64_init(&seen->by_hash);
}

void seen_done(struct seen *seen)
{
    vec_foreach (&seen->entries, at)
        free(at->key);
    vec_done(&seen->entries);
    map64_done(&seen->by_hash);
    *seen = (struct seen){0};
}

static uint64_t hash_of(const char *namespace, size_t namespace_len, const char *name, size_t name_len)
{
    return hash_bytes(name, name_len, hash_bytes(namespace, namespace_len, 0));
}

static bool is_named(const struct seen_entry *entry, const char *namespace, const char *name)
{
    size_t len = strlen(namespace);

    return strncmp(entry->key, namespace, len) == 0 && entry->key[len] == '/' &&
           strcmp(entry->key + len + 1, name) == 0;
}

struct seen_entry *seen_find(const struct seen *seen, const char *namespace, const char *name)
{
    uint64_t at = 0;

    if (!map64_get(&seen->by_hash, hash_of(namespace, strlen(namespace), name, strlen(name)), &at))
        return NULL;
    while (at) {
        struct seen_entry *entry = &seen->entries.items[at - 1];

        if (is_named(entry, namespace, name))
            return entry;
        at = entry->next;
    }
    return NULL;
}

static size_t text_size(const struct seen_entry *entry)
{
    return strlen(entry->key) + strlen(entry->uid) + 2;
}

struct seen_entry *seen_add(struct seen *seen, const char *namespace, const char *name, const char *uid)
{
    size_t namespace_len = strlen(namespace);
    size_t name_len = strlen(name);
    size_t uid_len = strlen(uid);
    uint64_t hash = hash_of(namespace, namespace_len, name, name_len);
    uint64_t first = 0;
    uint32_t index = seen->free;

    (void)map64_get(&seen->by_hash, hash, &first);
    if (index) {
        seen->free = seen->entries.items[index - 1].next;
    } else {
        vec_push(&seen->entries, (struct seen_entry){0});
        index = seen->entries.len;
    }
    struct seen_entry *entry = &seen->entries.items[index - 1];

    *entry = (struct seen_entry){.key = xmalloc(namespace_len + name_len + uid_len + 3), .next = (uint32_t)first};
    memcpy(entry->key, namespace, namespace_len);
    entry->key[namespace_len] = '/';
    memcpy(entry->key + namespace_len + 1, name, name_len + 1);
    entry->uid = entry->key + namespace_len + name_len + 2;
    memcpy(entry->uid, uid, uid_len + 1);
    map64_put(&seen->by_hash, hash, index);
    seen->len++;
    seen->text_bytes += text_size(entry);
    return entry;
}

void seen_remove(struct seen *seen, struct seen_entry *entry)
{
    const char *slash = strchr(entry->key, '/');
    size_t namespace_len = (size_t)(slash - entry->key);
    uint64_t hash = hash_of(entry->key, namespace_len, slash + 1, strlen(slash + 1));
    uint32_t index = (uint32_t)(entry - seen->entries.items) + 1;
    uint64_t first = 0;

    (void)map64_get(&seen->by_hash, hash, &first);
    if (first == index && entry->next) {
        map64_put(&seen->by_hash, hash, entry->next);
    } else if (first == index) {
        (void)map64_remove(&seen->by_hash, hash);
    } else {
        struct seen_entry *before = &seen->entries.items[first - 1];

        while (before->next != index)
            before = &seen->entries.items[before->next - 1];
        before->next = entry->next;
    }
    seen->text_bytes -= text_size(entry);
    seen->len--;
    free(entry->key);
    *entry = (struct seen_entry){.next = seen->free};
    seen->free = index;
}

struct seen_entry *seen_next_missed(const struct seen *seen, uint32_t round, uint32_t *cursor)
{
    while (*cursor < seen->entries.len) {
        struct seen_entry *entry = &seen->entries.items[(*cursor)++];

        if (entry->key && entry->round != round)
            return entry;
    }
    return NULL;
}

const char *seen_names(const struct seen_entry *entry, char *namespace, size_t size)
{
    size_t len = strcspn(entry->key, "/");
    size_t fits = MIN(len, size - 1);

    memcpy(namespace, entry->key, fits);
    namespace[fits] = '\0';
    return entry->key + len + 1;
}

uint64_t seen_version(const char *resource_version)
{
    uint64_t value = 0;
    size_t len = strlen(resource_version);

    if (len == 0 || len > 18 || strspn(resource_version, "0123456789") != len)
        return hash_bytes(resource_version, len, 0) | UINT64_C(1) << 63;
    for (const char *at = resource_version; *at; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    return value;
}

size_t seen_bytes(const struct seen *seen)
{
    return vec_bytes(&seen->entries) + map64_bytes(&seen->by_hash) + seen->text_bytes;
}
