/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/time.h"
#include "sim/trace/trace.h"

/* One row of a trace in CSV, on its way from fields to a job. */

/* Amounts of a column that may differ between pods: "8" for each of them, "8+3" or "4x8+3" for so many after another. */
struct trace_amounts {
    bool is_given;
    bool is_list;   // else `items[0].value` is every pod's
    uint32_t pods;  // of a list; its last item is where they are reached
    struct {
        uint32_t pods;
        int64_t value;
    } items[TRACE_PARTS_MAX];
};

enum { TRACE_GPU_AMOUNTS, TRACE_CPU_AMOUNTS, TRACE_MEMORY_AMOUNTS, TRACE_AMOUNTS };

struct trace_row {
    struct trace *trace;
    nsec_t time;
    enum trace_event_kind kind;
    bool has_pods;
    struct trace_amounts *amounts;  // TRACE_AMOUNTS of them
    struct trace_job job;
};

struct trace_column {
    const char *title;
    const char *expected;  // for messages
    bool (*read)(const struct trace_column *column, struct trace_row *row, const char *text);
    size_t offset;  // in struct trace_row, of what `read` fills
    int64_t min;
    int64_t max;
};

/* NULL when there is none of that title. Case does not matter. */
const struct trace_column *trace_column_find(const char *title);

typedef bool (*trace_amount_fn)(const char *text, int64_t *ret);

/* Reads a list of amounts; false when it is none, or one of too many parts or pods. */
MUST_CHECK bool trace_amounts_parse(struct trace_amounts *amounts, const char *text, trace_amount_fn parse);

/* Gives the job of the row what its lists say. Returns false with the sizes that do not go together. */
MUST_CHECK bool trace_amounts_apply(struct trace_row *row, uint32_t *ret_expected, uint32_t *ret_found);
