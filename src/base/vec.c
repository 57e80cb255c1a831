/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

enum { FIRST_ITEMS = 8 };

void *vec_grow_(void *items, uint32_t *cap, uint64_t need, size_t size)
{
    uint64_t wanted = MAX(MAX((uint64_t)*cap * 2, need), (uint64_t)FIRST_ITEMS);

    BUG_ON(need > INT32_MAX);
    *cap = (uint32_t)MIN(wanted, (uint64_t)INT32_MAX);
    return xreallocarray(items, *cap, size);
}
