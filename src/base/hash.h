/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The one hash of Muster: XXH3, 64 bits. The same bytes and seed give the same number on every machine and in every
 * release, so it may be written to disk. It is no defence against somebody who looks for two texts with one hash: a map
 * compares keys, and a digest only tells whether something changed.
 *
 * Several parts are hashed by passing the hash of the first as the seed of the second:
 *
 *     hash_str(name, hash_str(namespace, 0))
 */
uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed);

static inline uint64_t hash_str(const char *text, uint64_t seed)
{
    return hash_bytes(text, strlen(text), seed);
}
