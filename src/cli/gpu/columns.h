/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "text/json.h"
#include "text/table.h"

/* The columns of what `muster gpu top` shows. Each says from which width on it is shown, so that a small terminal has the few
 * that matter most. */

enum { GPU_COLUMNS_MAX = 16, GPU_BAR_MAX = 20 };

/* What a picture is drawn from. */
struct gpu_frame {
    const struct gpu_screen *screen;
    uint32_t width;
    uint32_t bar;  // the length of bars, GPU_BAR_MAX at most
    yyjson_val *gpus;
    yyjson_val *groups;
};

/* One line of a table: a GPU, a group, or a process with its group. */
struct gpu_line {
    yyjson_val *at;
    yyjson_val *process;
    double key;
};

struct gpu_column {
    struct table_column head;
    uint32_t from;  // the least width of the terminal
    void (*add)(struct table *t, const struct gpu_frame *f, const struct gpu_line *line);
};

extern const struct gpu_column gpu_columns[];
extern const size_t gpu_column_count;

extern const struct gpu_column group_columns[];
extern const size_t group_column_count;
