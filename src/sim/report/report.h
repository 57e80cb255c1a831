/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct bound;
struct emit;
struct sim_run;

/*
 * The report: one HTML page that holds its style, its script and its data, and asks nobody for anything. ui/report has the
 * page; here is what it shows.
 */
struct report_run {
    const char *title;  // of the setting; NULL when there is only one
    const struct sim_run *run;
};

/* Bounds that were to hold, and what became of them. */
struct report_bounds {
    const struct bound *bounds;
    const bool *holds;
    size_t count;
};

/* `bounds` may be NULL. Write errors stay in `out`. */
void report_write(FILE *out, const char *title, const struct report_run *runs, size_t count,
                  const struct report_bounds *bounds);

/* The data of one simulation, as a JSON object. */
void report_write_run(struct emit *e, const struct report_run *run);

/* Its Gantt chart, as the member "gantt". */
void report_write_gantt(struct emit *e, const struct sim_run *run);
