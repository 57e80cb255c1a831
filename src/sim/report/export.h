/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

struct sim_run;

/* A simulation as CSV for other programs; docs/traces.md describes the columns. Write errors stay in `out`. */

/* A row for each workload: when it was submitted, started and ended, where, and how long it waited for which reason. */
void export_workloads(const struct sim_run *run, FILE *out);

/* A row for each step of time and each queue, and one for the cluster: means over the step. */
void export_series(const struct sim_run *run, FILE *out);
