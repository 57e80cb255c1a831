/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct emit;
struct sim_run;
struct table_view;

/* How long workloads waited in the cluster that a trace was recorded from, beside how long they waited here. */
enum { WAITS_RECORDED, WAITS_SIMULATED, _WAITS_MAX };

struct recorded_waits {
    uint32_t workloads;  // whose start was recorded; 0: the trace has none
    struct {
        double mean;  // seconds
        double p50;
        double p95;
        double max;
    } of[_WAITS_MAX];
};

void recorded_waits_read(struct recorded_waits *ret, const struct sim_run *run);

/* A table for people, and the member "recordedWaits". Nothing when no start was recorded. */
void recorded_waits_print(const struct sim_run *run, const struct table_view *view, FILE *out);
void recorded_waits_write(struct emit *e, const struct sim_run *run);
