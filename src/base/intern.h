/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/*
 * Strings as small numbers. Each different string gets the next id from 0 on, so that an id is an index into an array
 * and comparing strings is comparing ids. Id 0 is the empty string: a zeroed struct names nothing. Strings are never
 * dropped.
 */
struct intern_entry;

struct intern {
    struct arena texts;
    VEC(struct intern_entry) entries;  // by id
    uint32_t *table;                   // id + 1 by hash, 0 where free
    uint32_t table_cap;                // a power of two
};

void intern_init(struct intern *in);
void intern_done(struct intern *in);

/* The id of the `len` bytes at `text`, which is added when it is new. The bytes hold no NUL. */
uint32_t intern_id(struct intern *in, const char *text, size_t len);

/* Whether the string is known; if so its id is in `*ret_id`. Adds nothing. */
bool intern_find(const struct intern *in, const char *text, size_t len, uint32_t *ret_id);

/* The string, NUL-terminated; stays where it is until intern_done(). */
const char *intern_str(const struct intern *in, uint32_t id);

/* The number of ids, the empty string among them. */
uint32_t intern_len(const struct intern *in);

/* Bytes held from the heap. */
size_t intern_bytes(const struct intern *in);
