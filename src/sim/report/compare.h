/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/macros.h"

struct bound;
struct err;
struct sim_run;
struct table_view;

/* Two simulations of the same trace with different settings, side by side. */
struct comparison {
    const char *titles[2];
    const struct sim_run *runs[2];
    const struct bound *bounds;
    bool *holds;  // by bound
    size_t bound_count;
};

/* Judges the bounds by the second simulation. -EINVAL when one names a queue that neither of them has. */
MUST_CHECK int comparison_judge(struct comparison *comparison, struct err *err);

/* The table for people: metric by metric, then queue by queue, then the bounds. */
void comparison_print(const struct comparison *comparison, const struct table_view *view, FILE *out);

/* {"settings": [...], "metrics": {name: [a, b]}, "queues": {...}, "bounds": [...]} */
void comparison_write(const struct comparison *comparison, FILE *out);

/* As a page. */
void comparison_report(const struct comparison *comparison, FILE *out);
