/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* A number for texts, to tell whether they changed (FNV-1a); start with HASH_START and go on with what came out. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    /* Ends a text, so that "ab" "c" differs from "a" "bc". */
    return hash * UINT64_C(0x100000001b3);
}
