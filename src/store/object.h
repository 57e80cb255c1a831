/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An object as it was at one version: never changed, shared by counting. The store, its history and everybody who is
 * still sending it hold the same bytes. Counts are changed in the loop's thread alone.
 *
 * Tags are pairs of names and values that were taken out of the body when it was written (labels, the node of a pod), so
 * that selecting objects reads no JSON. Names may occur several times; those of one object are in the order in which they
 * were added.
 */
struct store_tag {
    const char *name;
    const char *value;
    bool is_indexed;  // store_tagged() finds it
};

struct store_object {
    uint32_t refs;
    uint32_t kind;
    uint64_t version;
    int64_t expires;        // seconds since 1970; 0: never
    const char *namespace;  // "" without one
    const char *name;
    const char *body;  // compact JSON, NUL-terminated
    size_t body_len;
    const struct store_tag *tags;
    uint32_t tag_count;
};

/* The most tags of one object, and the most bytes of one tag's name and value together. */
enum { STORE_TAGS_MAX = 256, STORE_TAG_BYTES_MAX = 4096 };

/* Collects the tags of an object while it is made. */
struct store_tags;

/* Adds a tag; both texts are copied. False when there are too many or it is too long: the object is then not stored. */
bool store_tags_add(struct store_tags *tags, const char *name, const char *value, bool is_indexed);

/* Keeps an object beyond the call that showed it. Returns it. */
const struct store_object *store_object_ref(const struct store_object *object);
void store_object_unref(const struct store_object *object);

/* The value of the first tag of that name, NULL without one. */
const char *store_object_tag(const struct store_object *object, const char *name);
