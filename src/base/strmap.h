/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A hash map from names to pointers. A name has two parts, as Kubernetes names things: a namespace and a name in it;
 * things without a namespace have "" there. Names are compared, so that two with one hash are never mixed up.
 *
 * Both parts of a key are borrowed from whoever puts it: they are usually members of the value, and have to stay as they
 * are until the entry is removed. All zeros is an empty map.
 *
 * The order of iteration follows the hash: the same history gives the same order on every machine, but it means
 * nothing. What a user can see has to be sorted by the caller.
 */
struct strmap_slot;

struct strmap {
    struct strmap_slot *slots;
    size_t len;
    size_t cap;  // 0 or a power of two
};

void strmap_init(struct strmap *map);
void strmap_done(struct strmap *map);  // values are the caller's

/* The value, or NULL. */
void *strmap_get(const struct strmap *map, const char *namespace, const char *name);

/* Adds the value, which is not NULL. Returns the one that it replaces, with its key; NULL when there was none. */
void *strmap_put(struct strmap *map, const char *namespace, const char *name, void *value);

/* Returns the value that was there, or NULL. */
void *strmap_remove(struct strmap *map, const char *namespace, const char *name);

/*
 * Walks over all values; `*cursor` starts at 0. The map must not change on the way. NULL past the last one.
 *
 *     for (size_t cursor = 0; (pod = strmap_next(&map, &cursor));)
 */
void *strmap_next(const struct strmap *map, size_t *cursor);

/* Bytes held from the heap. */
size_t strmap_bytes(const struct strmap *map);
