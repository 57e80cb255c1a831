/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct entry;

/*
 * Entries in the order of namespace and name. They lie in leaves of a few hundred, so that adding one moves little memory
 * even among hundreds of thousands. All zeros is an empty one.
 */
enum { ORDERED_LEAF_MAX = 512 };

struct ordered_leaf {
    struct entry *entries[ORDERED_LEAF_MAX];
    uint32_t len;
};

struct ordered {
    VEC(struct ordered_leaf *) leaves;  // none is empty
    size_t len;
    uint64_t generation;  // changes with every change
};

void ordered_done(struct ordered *ordered);  // entries are the caller's

/* The entry is not there yet. */
void ordered_add(struct ordered *ordered, struct entry *entry);

/* The entry is there. */
void ordered_remove(struct ordered *ordered, const struct entry *entry);

/* The place of the first entry behind a name; one past the last leaf when there is none. */
void ordered_find_after(const struct ordered *ordered, const char *namespace, const char *name, uint32_t *ret_leaf,
                        uint32_t *ret_index);

/* The entry at a place, NULL past the end. Moves the place on. */
struct entry *ordered_step(const struct ordered *ordered, uint32_t *leaf, uint32_t *index);
