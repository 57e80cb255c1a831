/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Where things are in a segment; see segment.h. */
enum { HEADER_BYTES = 40, HEADER_SUMMED = 32, CHUNK_HEAD_BYTES = 20, MAGIC_BYTES = 8 };
enum { VERSION_AT = 8, FORM_AT = 12, FINGERPRINT_AT = 16, CREATED_AT = 24 };

#define SEGMENT_MAGIC "MUSTERJ\n"

static inline void store_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline void store_u64(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint32_t load_u32(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline uint64_t load_u64(const uint8_t *from)
{
    return load_u32(from) | (uint64_t)load_u32(from + 4) << 32;
}

uint64_t segment_sum(const uint8_t *bytes, size_t len, uint64_t seed);
