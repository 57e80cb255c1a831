/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "engine/verdict.h"

struct sim_run;
struct series;
struct timeline;

/*
 * Why workloads waited: how many waited for which reason at any time, and how long each workload waited for each reason.
 * A workload waits while its minimum does not run, after an eviction as well as before its first start. The reason is the
 * verdict that the latest cycle left.
 */
struct wait_part {
    uint32_t next;  // part of the same job, NO_ID at the end
    enum verdict_code code;
    nsec_t time;  // in all
};

struct waiting_job {
    uint32_t job;
    enum verdict_code code;
    nsec_t since;  // it waits for this reason
};

struct waits {
    bool is_on;
    struct series *counts[_VERDICT_CODE_MAX];  // workloads that wait for this reason; NULL when off
    VEC(struct wait_part) parts;
    VEC(uint32_t) first;  // by job: its first part, NO_ID when it never waited

    /* The rest is the recorder's own. */
    uint32_t waiting[_VERDICT_CODE_MAX];
    VEC(struct waiting_job) jobs;  // that wait, in the order in which they came
};

void waits_init(struct waits *waits, struct timeline *timeline, bool is_on);
void waits_done(struct waits *waits);

/* The job waits from now on. */
void waits_begin(struct sim_run *run, uint32_t job);

/* Reads the verdicts that a cycle left. Jobs that no longer wait are taken off the list. */
void waits_read(struct sim_run *run);

/* The simulation is over: jobs that still wait have waited up to now. */
void waits_finish(struct sim_run *run);

/* How long the job waited for this reason. */
nsec_t waits_of(const struct waits *waits, uint32_t job, enum verdict_code code);
