/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* The largest `want` of many numbers that only grow, kept sorted. */
struct top_item {
    uint32_t id;
    double value;
};

struct top_list {
    struct top_item *items;
    double *work;  // room for top_list_takes
    uint32_t len;
    uint32_t want;
    double unit;  // not 0: `units` counts how often this whole number goes into the values
    int64_t units;
};

void top_list_init(struct top_list *list, struct arena *arena, uint32_t want, double unit);

/* The number of `id` is `value` now: new, or larger than it was. */
void top_list_raise(struct top_list *list, uint32_t id, double value);

/* Do `demands`, largest first, go into the numbers, each into the first that has as much left? */
bool top_list_takes(struct top_list *list, const double *demands, uint32_t count);

/* How often `unit` can be taken from `value`. */
int64_t units_in(double value, double unit);
