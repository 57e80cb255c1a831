/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/*
 * The most recently used keys, up to a number: each has a slot of an array of that size, and a new key takes the slot
 * of the one that was not used for longest. What is in a slot is up to the caller.
 */
struct recent_link {
    uint64_t key;
    uint32_t older, newer;  // index + 1, 0: none
};

struct recent {
    struct recent_link *links;
    struct map64 by_key;  // -> index + 1
    uint32_t cap;
    uint32_t len;
    uint32_t newest, oldest;  // index + 1, 0: none
};

void recent_init(struct recent *recent, uint32_t cap);
void recent_done(struct recent *recent);

/* The slot of the key, which is the newest now. `*ret_is_new` says that the key was not there: the slot holds
 * nothing, or what belonged to another. */
uint32_t recent_use(struct recent *recent, uint64_t key, bool *ret_is_new);
