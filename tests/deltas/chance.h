/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where chance comes from: a seed, or bytes that a fuzzer made. Equal seeds, or equal bytes, give equal draws. Bytes
 * that have run out give zeros.
 */
struct chance {
    uint64_t seed;
    const uint8_t *bytes;  // NULL: draws come from the seed
    size_t left;
};

struct chance chance_of_seed(uint64_t seed, uint64_t part);
struct chance chance_of_bytes(const uint8_t *bytes, size_t count);

/* A number below `below`, which is at least 1. */
uint32_t draw(struct chance *chance, uint32_t below);

/* A number from `low` to `high`, both included. */
uint32_t draw_from(struct chance *chance, uint32_t low, uint32_t high);

/* True once in `times`. */
bool one_in(struct chance *chance, uint32_t times);
