/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Amounts that differ between the pods of one workload. Each column has a list of its own, and lists may break at other
 * places: GPUs "8+3" with cores "2x16" are two parts. The parts are found by walking over all lists at once.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/trace/trace_row_internal.h"

enum { ITEM_BYTES_MAX = 64 };

/* "8" or "4x8", from `text` up to `len`. */
static bool parse_item(const char *text, size_t len, trace_amount_fn parse, uint32_t *ret_pods, int64_t *ret_value)
{
    char item[ITEM_BYTES_MAX];
    const char *amount = item;
    unsigned long pods = 1;
    char *end;

    if (len == 0 || len >= sizeof item)
        return false;
    memcpy(item, text, len);
    item[len] = '\0';
    if (strchr(item, 'x')) {
        if (*item < '1' || *item > '9')
            return false;
        pods = strtoul(item, &end, 10);
        if (*end != 'x' || pods > TRACE_PODS_MAX)
            return false;
        amount = end + 1;
    }
    *ret_pods = (uint32_t)pods;
    return parse(amount, ret_value);
}

bool trace_amounts_parse(struct trace_amounts *amounts, const char *text, trace_amount_fn parse)
{
    amounts->is_given = true;
    amounts->is_list = false;
    amounts->pods = 0;
    /* An amount may hold a '+' itself, as 1e+3 does. */
    if (parse(text, &amounts->items[0].value))
        return true;
    amounts->is_list = true;
    for (uint32_t i = 0; i < TRACE_PARTS_MAX; i++) {
        size_t len = strcspn(text, "+");

        if (!parse_item(text, len, parse, &amounts->items[i].pods, &amounts->items[i].value))
            return false;
        amounts->pods += amounts->items[i].pods;
        if (amounts->pods > TRACE_PODS_MAX)
            return false;
        if (!text[len])
            return true;
        text += len + 1;
    }
    return false;
}

/* Where a walk over the pods stands in one list. */
struct cursor {
    const struct trace_amounts *amounts;
    uint32_t item;
    uint32_t used;  // pods of that item
};

static uint32_t left_at(const struct cursor *cursor, uint32_t all)
{
    return cursor->amounts->is_list ? cursor->amounts->items[cursor->item].pods - cursor->used : all;
}

static void step(struct cursor *cursor, uint32_t pods)
{
    if (!cursor->amounts->is_list)
        return;
    cursor->used += pods;
    if (cursor->used < cursor->amounts->items[cursor->item].pods)
        return;
    cursor->item++;
    cursor->used = 0;
}

static int64_t value_at(const struct cursor *cursor, int64_t usual)
{
    return cursor->amounts->is_given ? cursor->amounts->items[cursor->item].value : usual;
}

/* Lists have to speak of as many pods as each other and as the column of pods. */
static bool find_pods(const struct trace_row *row, uint32_t *ret_pods, uint32_t *ret_found)
{
    bool is_known = row->has_pods;

    *ret_pods = row->job.pods;
    for (int i = 0; i < TRACE_AMOUNTS; i++) {
        const struct trace_amounts *amounts = &row->amounts[i];

        if (!amounts->is_list)
            continue;
        *ret_found = amounts->pods;
        if (is_known && *ret_pods != amounts->pods)
            return false;
        *ret_pods = amounts->pods;
        is_known = true;
    }
    return true;
}

bool trace_amounts_apply(struct trace_row *row, uint32_t *ret_expected, uint32_t *ret_found)
{
    struct trace_part parts[TRACE_PARTS_MAX * TRACE_AMOUNTS];
    struct cursor at[TRACE_AMOUNTS];
    uint32_t count = 0;

    if (!find_pods(row, ret_expected, ret_found))
        return false;
    for (int i = 0; i < TRACE_AMOUNTS; i++)
        at[i] = (struct cursor){.amounts = &row->amounts[i]};
    for (uint32_t left = *ret_expected; left > 0; left -= parts[count++].pods) {
        uint32_t pods = left;

        for (int i = 0; i < TRACE_AMOUNTS; i++)
            pods = MIN(pods, left_at(&at[i], left));
        parts[count] = (struct trace_part){
            .pods = pods,
            .gpus = (uint32_t)value_at(&at[TRACE_GPU_AMOUNTS], row->job.gpus),
            .cpu_milli = value_at(&at[TRACE_CPU_AMOUNTS], row->job.cpu_milli),
            .memory_bytes = value_at(&at[TRACE_MEMORY_AMOUNTS], row->job.memory_bytes),
        };
        for (int i = 0; i < TRACE_AMOUNTS; i++)
            step(&at[i], pods);
    }
    trace_set_parts(row->trace, &row->job, parts, count);
    return true;
}
