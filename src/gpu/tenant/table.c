/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; a removal moves later entries back, so that no marks are left behind. */
#include "gpu/tenant/table.h"

#include <string.h>
#include <sys/mman.h>

enum { FIRST_CAPACITY = 128 };

static uint64_t hash(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    key *= 0xbf58476d1ce4e5b9u;
    return key ^ key >> 32;
}

static struct shard *shard_of(struct table *table, uint64_t key)
{
    return &table->shards[hash(key) >> 61];
}

static size_t home_of(const struct shard *shard, uint64_t key)
{
    return (size_t)hash(key) & (shard->capacity - 1);
}

/* The entry of `key` or the free place where it belongs. */
static struct entry *place_of(const struct shard *shard, uint64_t key)
{
    size_t at = home_of(shard, key);
    while (shard->entries[at].key != 0 && shard->entries[at].key != key)
        at = (at + 1) & (shard->capacity - 1);
    return &shard->entries[at];
}

static bool grow(struct shard *shard)
{
    struct shard larger = {.capacity = shard->capacity ? shard->capacity * 2 : FIRST_CAPACITY, .count = shard->count};
    void *memory =
        mmap(NULL, larger.capacity * sizeof(struct entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    larger.entries = memory;
    for (size_t i = 0; i < shard->capacity; i++) {
        if (shard->entries[i].key != 0)
            *place_of(&larger, shard->entries[i].key) = shard->entries[i];
    }
    if (shard->entries)
        munmap(shard->entries, shard->capacity * sizeof(struct entry));
    shard->entries = larger.entries;
    shard->capacity = larger.capacity;
    return true;
}

static void close_gap(struct shard *shard, size_t gap)
{
    size_t mask = shard->capacity - 1;
    for (size_t at = (gap + 1) & mask; shard->entries[at].key != 0; at = (at + 1) & mask) {
        size_t home = home_of(shard, shard->entries[at].key);
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;  // it would land before its home
        shard->entries[gap] = shard->entries[at];
        gap = at;
    }
    memset(&shard->entries[gap], 0, sizeof shard->entries[gap]);
    shard->count--;
}

static bool store(struct table *table, const struct entry *entry, bool replaces)
{
    if (entry->key == 0)
        return false;
    struct shard *shard = shard_of(table, entry->key);
    lock_take(&shard->lock);
    bool is_fine = shard->count * 4 < shard->capacity * 3 || grow(shard);
    if (is_fine) {
        struct entry *at = place_of(shard, entry->key);
        bool is_new = at->key == 0;
        shard->count += is_new;
        is_fine = is_new || replaces;
        if (is_fine)
            *at = *entry;
    }
    lock_give(&shard->lock);
    return is_fine;
}

bool table_put(struct table *table, const struct entry *entry)
{
    return store(table, entry, true);
}

bool table_add(struct table *table, const struct entry *entry)
{
    return store(table, entry, false);
}

static bool lookup(struct table *table, uint64_t key, struct entry *ret_entry, bool remove)
{
    if (key == 0)
        return false;
    struct shard *shard = shard_of(table, key);
    bool found = false;
    lock_take(&shard->lock);
    if (shard->count) {
        struct entry *at = place_of(shard, key);
        found = at->key == key;
        if (found) {
            *ret_entry = *at;
            if (remove)
                close_gap(shard, (size_t)(at - shard->entries));
        }
    }
    lock_give(&shard->lock);
    return found;
}

bool table_get(struct table *table, uint64_t key, struct entry *ret_entry)
{
    return lookup(table, key, ret_entry, false);
}

bool table_take(struct table *table, uint64_t key, struct entry *ret_entry)
{
    return lookup(table, key, ret_entry, true);
}

static bool take_one(struct table *table, const uint64_t *owner, struct entry *ret_entry)
{
    for (size_t s = 0; s < TABLE_SHARDS; s++) {
        struct shard *shard = &table->shards[s];
        bool found = false;
        lock_take(&shard->lock);
        for (size_t i = 0; i < shard->capacity && !found; i++) {
            found = shard->entries[i].key != 0 && (!owner || shard->entries[i].owner == *owner);
            if (found) {
                *ret_entry = shard->entries[i];
                close_gap(shard, i);
            }
        }
        lock_give(&shard->lock);
        if (found)
            return true;
    }
    return false;
}

bool table_take_any(struct table *table, struct entry *ret_entry)
{
    return take_one(table, NULL, ret_entry);
}

bool table_take_owned(struct table *table, uint64_t owner, struct entry *ret_entry)
{
    return take_one(table, &owner, ret_entry);
}

void table_each(struct table *table, table_visit_fn *visit, void *context)
{
    for (size_t s = 0; s < TABLE_SHARDS; s++) {
        struct shard *shard = &table->shards[s];
        for (size_t i = 0;; i++) {
            struct entry copy = {0};
            lock_take(&shard->lock);
            bool is_end = i >= shard->capacity;
            if (!is_end)
                copy = shard->entries[i];
            lock_give(&shard->lock);
            if (is_end)
                break;
            if (copy.key != 0)
                visit(&copy, context);
        }
    }
}

size_t table_count(struct table *table)
{
    size_t count = 0;
    for (size_t s = 0; s < TABLE_SHARDS; s++) {
        lock_take(&table->shards[s].lock);
        count += table->shards[s].count;
        lock_give(&table->shards[s].lock);
    }
    return count;
}

void table_forget(struct table *table)
{
    for (size_t s = 0; s < TABLE_SHARDS; s++) {
        struct shard *shard = &table->shards[s];
        if (shard->entries)
            munmap(shard->entries, shard->capacity * sizeof(struct entry));
    }
    memset(table, 0, sizeof *table);
}
