/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

/*
 * What a follower remembers: for each object its key, UID and version. Keys are "namespace/name". The round is a number
 * that grows with each list, so that what a list did not show is found afterwards.
 */
struct seen_entry {
    char *key;         // NULL: free
    char *uid;         // lies behind the key
    uint64_t version;  // of the resource version
    uint32_t round;
    uint32_t takers;  // a bit for each that has been told of it
    uint32_t next;    // with the same hash, or the next free one; index + 1, 0: none
};

struct seen {
    VEC(struct seen_entry) entries;
    struct map64 by_hash;  // of the key -> index + 1 of the first entry
    uint32_t free;         // index + 1
    size_t len;
    size_t text_bytes;
};

void seen_init(struct seen *seen);
void seen_done(struct seen *seen);

struct seen_entry *seen_find(const struct seen *seen, const char *namespace, const char *name);

/* There is none of that name yet. The entry moves when others are added. */
struct seen_entry *seen_add(struct seen *seen, const char *namespace, const char *name, const char *uid);
void seen_remove(struct seen *seen, struct seen_entry *entry);

/* An entry whose round is another one; NULL when there is none. `*cursor` starts at 0. */
struct seen_entry *seen_next_missed(const struct seen *seen, uint32_t round, uint32_t *cursor);

/* The parts of an entry's key; the namespace is copied to `namespace`, cut to fit. Returns the name. */
const char *seen_names(const struct seen_entry *entry, char *namespace, size_t size);

/* A resource version as a number: equal for equal ones. Kubernetes counts; others may write what they like. */
uint64_t seen_version(const char *resource_version);

size_t seen_bytes(const struct seen *seen);
