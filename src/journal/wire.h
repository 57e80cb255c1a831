/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/vec.h"

/*
 * Plain structs as bytes and back, by tables that say where each member is and what it is. Numbers take as few bytes as
 * they need, strings have their length in front. The tables of what a journal holds are in record.c.
 *
 * Tables change, and bytes of older forms are still read: a field says in which forms it is. The last form is written.
 */
enum wire_type {
    WIRE_STRING,  // const char *, which may be NULL
    WIRE_BOOL,
    WIRE_U8,
    WIRE_U16,
    WIRE_U32,
    WIRE_U64,
    WIRE_I32,
    WIRE_I64,
    WIRE_DOUBLE,
    WIRE_ENUM,     // of the size of an int; below `max`
    WIRE_STRUCT,   // in place
    WIRE_POINTER,  // to a struct, or NULL
    WIRE_STRINGS,  // const char *const *
    WIRE_STRUCTS,  // an array of structs
    WIRE_NUMBERS,  // const uint64_t *
};

struct wire_shape;

struct wire_field {
    enum wire_type type;
    uint32_t at;          // in the struct
    uint32_t repeat;      // so many in a row, one after the other; 0: one
    uint32_t step;        // from one to the next
    uint32_t count_at;    // arrays: where their size_t count is
    uint32_t max;         // enums
    uint32_t since;       // the first form of the bytes that has it; 0: all before `until`
    uint32_t until;       // the first one that no longer has it; 0: it is written
    bool may_be_unnamed;  // arrays: NULL with a count is a number of things without names
    const struct wire_shape *shape;
};

struct wire_shape {
    const struct wire_field *fields;
    size_t count;
    size_t size;  // of the struct
};

struct wire_bytes VEC_OF(uint8_t);

void wire_put_number(struct wire_bytes *out, uint64_t number);
void wire_put(struct wire_bytes *out, const struct wire_shape *shape, const void *value);

/* What is being read. Once something in it cannot be, `is_bad` stays set and all that follows is zeros. */
struct wire_in {
    const uint8_t *at;
    const uint8_t *end;
    struct arena *arena;  // strings and arrays
    size_t budget;        // bytes of it that may still be taken
    bool is_bad;
    uint32_t form;
};

uint64_t wire_get_number(struct wire_in *in);

/* Members that the form does not have stay as they are. */
void wire_get(struct wire_in *in, const struct wire_shape *shape, void *ret_value);

/* A number that changes whenever the shape does in this form, or one that it is made of. */
uint64_t wire_fingerprint(const struct wire_shape *shape, uint32_t form);
