/* SPDX-License-Identifier: Apache-2.0 */

/* Draws. Each step of a run has a seed of its own, so that leaving one step out changes no draw of another. */
#include "chance.h"

#include "base/macros.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct chance chance_of_seed(uint64_t seed, uint64_t part)
{
    return (struct chance){.seed = mix(seed * UINT64_C(0x9e3779b97f4a7c15) + mix(part + 1))};
}

struct chance chance_of_bytes(const uint8_t *bytes, size_t count)
{
    return (struct chance){.bytes = bytes, .left = count};
}

static uint32_t take_bytes(struct chance *chance, uint32_t below)
{
    uint32_t value = 0;

    for (uint32_t reach = 1; reach < below && chance->left > 0; reach = reach > UINT32_MAX >> 8 ? below : reach << 8) {
        value = value << 8 | *chance->bytes++;
        chance->left--;
    }
    return value % below;
}

uint32_t draw(struct chance *chance, uint32_t below)
{
    BUG_ON(below == 0);
    if (chance->bytes)
        return take_bytes(chance, below);
    chance->seed += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mix(chance->seed) >> 32) % below;
}

uint32_t draw_from(struct chance *chance, uint32_t low, uint32_t high)
{
    return low + draw(chance, high - low + 1);
}

bool one_in(struct chance *chance, uint32_t times)
{
    return draw(chance, times) == times - 1;
}
