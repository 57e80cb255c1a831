/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct state;

/*
 * The bytes of everything that a simulation may change: books, lists, counters, claims. What only says that something
 * is to be looked at again (flags for state_settle, lists of changes) is left out.
 */
struct image_part {
    const char *what;
    uint32_t id;
    uint32_t at;
};

struct image {
    VEC(uint8_t) bytes;
    VEC(struct image_part) parts;
};

void image_take(struct image *image, const struct state *state);
void image_done(struct image *image);

/* The first part in which two images differ, NULL when they are the same. */
const char *images_differ(const struct image *a, const struct image *b, uint32_t *ret_id);
