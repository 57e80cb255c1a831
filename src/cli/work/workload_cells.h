/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"
#include "cli/work/find.h"
#include "text/terminal.h"

struct table;

/* Tables of workloads, for several commands. */

/* WORKLOAD, QUEUE, STATE, GPUS, PODS, AGE, REASON; the wide one also JOB, USER, PRIORITY, TIME, CPUS, MEMORY and NODES. */
void workloads_print(const struct found *rows, bool is_wide, nsec_t now);

/* WORKLOAD, QUEUE, STATE, GPUS, EXIT, TIME, GPU HOURS, ENDED, REASON. */
void finished_print(const struct found *rows, bool is_wide, nsec_t now);

/* The table of `workloads_print`, to be printed and freed by the caller. */
void workloads_fill(struct table *table, const struct found *rows, bool is_wide, nsec_t now);

/* How a state stands out. */
enum text_style row_state_style(enum row_state state);

/* GPU hours that it has used, with parts counted as parts. */
double row_gpu_hours(const struct workload_row *row, nsec_t now);
