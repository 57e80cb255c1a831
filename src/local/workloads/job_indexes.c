/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/job_indexes.h"

#include <stdlib.h>

#include "base/strbuf.h"

/* Neighbours are written as two numbers: "1,2". */
static void append(struct job_indexes *set, uint32_t first, uint32_t last)
{
    if (set->ranges.len == 0 || vec_last(&set->ranges).last + 1 < first)
        vec_push(&set->ranges, (struct index_range){first, last});
    else if (vec_last(&set->ranges).last + 1 == first)
        vec_last(&set->ranges).last = last;
}

void job_indexes_parse(struct job_indexes *set, const char *text, uint32_t limit)
{
    while (*text) {
        char *end = NULL;
        unsigned long first = strtoul(text, &end, 10), last = first;

        if (end == text)
            return;
        if (*end == '-') {
            text = end + 1;
            last = strtoul(text, &end, 10);
        }
        if (first <= last && last < limit)
            append(set, (uint32_t)first, (uint32_t)last);
        text = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return;
    }
}

void job_indexes_done(struct job_indexes *set)
{
    vec_done(&set->ranges);
}

/* The first range that does not end before the index. */
static uint32_t position(const struct job_indexes *set, uint32_t index)
{
    uint32_t low = 0, high = set->ranges.len;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (set->ranges.items[middle].last < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool job_indexes_has(const struct job_indexes *set, uint32_t index)
{
    uint32_t at = position(set, index);

    return at < set->ranges.len && set->ranges.items[at].first <= index;
}

void job_indexes_add(struct job_indexes *set, uint32_t index)
{
    uint32_t at = position(set, index);
    struct index_range *ranges = set->ranges.items;

    if (job_indexes_has(set, index))
        return;
    bool joins_before = at > 0 && ranges[at - 1].last + 1 == index;
    bool joins_after = at < set->ranges.len && ranges[at].first == index + 1;
    if (joins_before && joins_after) {
        ranges[at - 1].last = ranges[at].last;
        vec_remove_at(&set->ranges, at);
    } else if (joins_before) {
        ranges[at - 1].last = index;
    } else if (joins_after) {
        ranges[at].first = index;
    } else {
        vec_insert_at(&set->ranges, at, (struct index_range){index, index});
    }
}

uint32_t job_indexes_len(const struct job_indexes *set)
{
    uint32_t len = 0;

    vec_foreach (&set->ranges, range)
        len += range->last - range->first + 1;
    return len;
}

/* Two neighbours are "1,2", three or more "1-3", as Kubernetes writes them. */
void job_indexes_format(const struct job_indexes *set, struct strbuf *text)
{
    vec_foreach (&set->ranges, range) {
        strbuf_addf(text, "%s%u", text->len > 0 ? "," : "", range->first);
        if (range->last > range->first)
            strbuf_addf(text, "%c%u", range->last == range->first + 1 ? ',' : '-', range->last);
    }
}
