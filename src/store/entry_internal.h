/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/list.h"
#include "store/object.h"

struct entry;

/* Objects of one kind with one tag. */
struct bucket {
    struct list links;
    char *kind_and_tag;  // the key in the store's map of buckets, with `value`
    char *value;
};

struct bucket_link {
    struct list_link in_bucket;
    struct bucket *bucket;
    struct entry *entry;
};

/* A name of a kind that has an object, or a change that waits. */
struct entry {
    char *namespace;  // both lie behind the entry
    char *name;
    uint32_t kind;
    uint32_t waiting;                   // changes of it that are not on the disk yet
    const struct store_object *shown;   // what readers see; NULL: nothing yet
    const struct store_object *latest;  // after the changes that wait; NULL: nothing, or removed. Valid while `waiting`
    struct bucket_link *links;          // one for each indexed tag of `shown`
    uint32_t link_count;
};
