/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

struct sim_run;
struct requirements;
struct table_view;

/* Two simulations of the same trace with different settings, A and B, side by side. */
struct comparison {
    const char *titles[2];
    const struct sim_run *runs[2];
    const struct requirements *requirements;  // judged
};

/* The tables for people: broken requirements first, then metric by metric, then queue by queue. */
void comparison_print(const struct comparison *comparison, const struct table_view *view, FILE *out);

/* {"requirements": [...], "settings": [...], "metrics": {name: [a, b]}, "queues": [{"name", "metrics"}]} */
void comparison_write(const struct comparison *comparison, FILE *out);

/* As a page. `title` names the inputs. */
void comparison_report(const struct comparison *comparison, const char *title, FILE *out);
