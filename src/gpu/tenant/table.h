/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What this process holds on its GPUs: a hash from a pointer or handle to what was charged for it. Safe for many
 * threads. Its memory comes from the kernel, never from the application's allocator, which may be the very code that
 * called us. All zeros is an empty table. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/tenant/lock.h"

struct entry {
    uint64_t key;    // never 0
    uint64_t bytes;  // as charged
    uint64_t owner;  // what it dies with: a context, a pool, a block
    int32_t slot;    // the GPU, by its place in the ledger
    uint32_t extra;
};

enum { TABLE_SHARDS = 8 };

struct table {
    struct shard {
        struct lock lock;
        struct entry *entries;
        size_t capacity;
        size_t count;
    } shards[TABLE_SHARDS];
};

/* Adds or replaces; false when the kernel has no memory left. table_add() replaces nothing, and is false then as well. */
bool table_put(struct table *table, const struct entry *entry);
bool table_add(struct table *table, const struct entry *entry);

/* Copies the entry of `key`; table_take removes it as well. False when there is none. */
bool table_get(struct table *table, uint64_t key, struct entry *ret_entry);
bool table_take(struct table *table, uint64_t key, struct entry *ret_entry);

/* Removes one entry, whichever, or one of this owner; false when there is none left. */
bool table_take_any(struct table *table, struct entry *ret_entry);
bool table_take_owned(struct table *table, uint64_t owner, struct entry *ret_entry);

/* Calls `visit` with a copy of each entry, no lock held. */
typedef void table_visit_fn(const struct entry *entry, void *context);
void table_each(struct table *table, table_visit_fn *visit, void *context);

size_t table_count(struct table *table);

/* Empties the table, whoever holds its locks: for a forked child, whose other threads are gone. */
void table_forget(struct table *table);
