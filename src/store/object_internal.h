/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strbuf.h"
#include "base/vec.h"
#include "store/object.h"

/* Where a tag's texts begin in `texts`, which moves while it grows. */
struct tag_place {
    size_t name_at, value_at;
    bool is_indexed;
};

struct store_tags {
    VEC(struct tag_place) places;
    struct strbuf texts;
    bool is_full;  // one did not fit
};

void store_tags_init(struct store_tags *tags);
void store_tags_done(struct store_tags *tags);
void store_tags_clear(struct store_tags *tags);

/* What an object is made of; all is copied. */
struct object_parts {
    uint32_t kind;
    uint64_t version;
    int64_t expires;
    const char *namespace;
    const char *name;
    const char *body;
    size_t body_len;
};

/* One allocation, counted once. */
struct store_object *object_new(const struct object_parts *parts, const struct store_tags *tags);

/* Whether both have the same tags, in the same order. */
bool object_has_same_tags(const struct store_object *a, const struct store_object *b);
