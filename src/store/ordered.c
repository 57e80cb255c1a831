/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ordered.h"

#include <string.h>

#include "base/mem.h"
#include "store/entry_internal.h"

void ordered_done(struct ordered *ordered)
{
    vec_foreach (&ordered->leaves, leaf)
        free(*leaf);
    vec_done(&ordered->leaves);
    ordered->len = 0;
}

static int compare(const struct entry *entry, const char *namespace, const char *name)
{
    int order = strcmp(entry->namespace, namespace);

    return order ? order : strcmp(entry->name, name);
}

/* How many entries of the leaf are not behind the name. */
static uint32_t count_up_to(const struct ordered_leaf *leaf, const char *namespace, const char *name)
{
    uint32_t low = 0;
    uint32_t high = leaf->len;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(leaf->entries[middle], namespace, name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last leaf whose first entry is not behind the name; the first leaf when all are. */
static uint32_t find_leaf(const struct ordered *ordered, const char *namespace, const char *name)
{
    uint32_t low = 0;
    uint32_t high = ordered->leaves.len;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(ordered->leaves.items[middle]->entries[0], namespace, name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

/* Moves the second half of a full leaf into one of its own behind it. */
static void split(struct ordered *ordered, uint32_t at)
{
    struct ordered_leaf *leaf = ordered->leaves.items[at];
    struct ordered_leaf *second = xcalloc(1, sizeof *second);
    uint32_t kept = leaf->len / 2;

    second->len = leaf->len - kept;
    memcpy(second->entries, leaf->entries + kept, second->len * sizeof *second->entries);
    leaf->len = kept;
    vec_insert_at(&ordered->leaves, at + 1, second);
}

void ordered_add(struct ordered *ordered, struct entry *entry)
{
    if (ordered->leaves.len == 0)
        vec_push(&ordered->leaves, xcalloc(1, sizeof(struct ordered_leaf)));
    uint32_t at = ordered->len ? find_leaf(ordered, entry->namespace, entry->name) : 0;
    if (ordered->leaves.items[at]->len == ORDERED_LEAF_MAX) {
        split(ordered, at);
        at = find_leaf(ordered, entry->namespace, entry->name);
    }

    struct ordered_leaf *leaf = ordered->leaves.items[at];
    uint32_t index = count_up_to(leaf, entry->namespace, entry->name);
    memmove(leaf->entries + index + 1, leaf->entries + index, (leaf->len - index) * sizeof *leaf->entries);
    leaf->entries[index] = entry;
    leaf->len++;
    ordered->len++;
    ordered->generation++;
}

void ordered_remove(struct ordered *ordered, const struct entry *entry)
{
    uint32_t at = find_leaf(ordered, entry->namespace, entry->name);
    struct ordered_leaf *leaf = ordered->leaves.items[at];
    uint32_t index = count_up_to(leaf, entry->namespace, entry->name);

    BUG_ON(index == 0 || leaf->entries[index - 1] != entry);
    memmove(leaf->entries + index - 1, leaf->entries + index, (leaf->len - index) * sizeof *leaf->entries);
    if (--leaf->len == 0) {
        free(leaf);
        vec_remove_at(&ordered->leaves, at);
    }
    ordered->len--;
    ordered->generation++;
}

void ordered_find_after(const struct ordered *ordered, const char *namespace, const char *name, uint32_t *ret_leaf,
                        uint32_t *ret_index)
{
    *ret_leaf = *ret_index = 0;
    if (ordered->len == 0)
        return;
    *ret_leaf = find_leaf(ordered, namespace, name);
    *ret_index = count_up_to(ordered->leaves.items[*ret_leaf], namespace, name);
}

struct entry *ordered_step(const struct ordered *ordered, uint32_t *leaf, uint32_t *index)
{
    while (*leaf < ordered->leaves.len && *index >= ordered->leaves.items[*leaf]->len) {
        ++*leaf;
        *index = 0;
    }
    if (*leaf >= ordered->leaves.len)
        return NULL;
    return ordered->leaves.items[*leaf]->entries[(*index)++];
}
