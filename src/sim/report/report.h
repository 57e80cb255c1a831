/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct emit;
struct sim_run;
struct requirements;

/*
 * The report: one HTML page that holds its style, its script and its data, and makes no requests. ui/report has the page;
 * here is the data that it shows.
 */
struct report_run {
    const char *title;  // of the setting; NULL when there is only one
    const struct sim_run *run;
};

struct report {
    const char *title;  // which names the inputs
    const struct report_run *runs;
    size_t count;
    const struct requirements *requirements;  // judged; NULL for none
};

/* Write errors stay in `out`. */
void report_write(FILE *out, const struct report *report);

/* The data of one simulation, as a JSON object. */
void report_write_run(struct emit *e, const struct report_run *run);

/* Parts of it: the chart of nodes as the member "gantt", workloads and reasons as members of their own. */
void report_write_gantt(struct emit *e, const struct sim_run *run);
void report_write_workloads(struct emit *e, const struct sim_run *run);
