/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "sim/report/metrics.h"

/* The jobs that count, and their waits in ascending order. */
struct sample {
    const struct sim_run *run;
    const struct metric_filter *filter;
    VEC(const struct sim_run_job *) jobs;
    VEC(double) waits;
};

void sample_init(struct sample *s, const struct sim_run *run, const struct metric_filter *filter);
void sample_done(struct sample *s);
