/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The best few of many capacities. KAI puts demands, largest first, into the best nodes; where there are n demands, the n
 * best nodes decide: of the first n at most n - 1 are already used in part, and what does not go into an unused one goes
 * into none behind it.
 *
 * Numbers are added and taken as doubles in the order of events, since rounding decides some cases. Where all demands are
 * one whole number, taking it again and again from a double is exact, and a count replaces the walk.
 */
#include "engine/victims/top_list.h"

#include <math.h>

#include "base/arena.h"

int64_t units_in(double value, double unit)
{
    if (!(value >= unit))
        return 0;
    int64_t units = (int64_t)floor(value / unit);
    /* The division may round up to the next whole number. */
    return (double)units * unit > value ? units - 1 : units;
}

void top_list_init(struct top_list *list, struct arena *arena, uint32_t want, double unit)
{
    *list = (struct top_list){
        .items = arena_alloc(arena, (size_t)(want + 1) * sizeof *list->items),
        .work = arena_alloc(arena, (size_t)(want + 1) * sizeof *list->work),
        .want = want,
        .unit = unit,
    };
}

static void count_units(struct top_list *list, double value, int sign)
{
    if (list->unit > 0)
        list->units += sign * units_in(value, list->unit);
}

void top_list_raise(struct top_list *list, uint32_t id, double value)
{
    uint32_t at = list->len;

    if (list->len == list->want && (list->want == 0 || value < list->items[list->len - 1].value))
        return;
    for (uint32_t i = 0; i < list->len; i++) {
        if (list->items[i].id == id) {
            at = i;
            break;
        }
    }
    if (at == list->len) {
        if (list->len < list->want)
            list->len++;
        else
            count_units(list, list->items[--at].value, -1);
    } else {
        count_units(list, list->items[at].value, -1);
    }
    count_units(list, value, +1);
    while (at > 0 && list->items[at - 1].value < value) {
        list->items[at] = list->items[at - 1];
        at--;
    }
    list->items[at] = (struct top_item){id, value};
}

bool top_list_takes(struct top_list *list, const double *demands, uint32_t count)
{
    if (count == 0)
        return true;
    if (list->len == 0 || list->items[0].value < demands[0])
        return false;
    if (list->unit > 0)
        return list->units >= count;
    if (count == 1)
        return true;
    for (uint32_t i = 0; i < list->len; i++)
        list->work[i] = list->items[i].value;
    for (uint32_t d = 0; d < count; d++) {
        uint32_t i = 0;
        while (i < list->len && list->work[i] < demands[d])
            i++;
        if (i == list->len)
            return false;
        list->work[i] -= demands[d];
    }
    return true;
}
