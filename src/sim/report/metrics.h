/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct emit;
struct err;
struct sim_run;
struct sim_run_job;

/*
 * Numbers that tell how a simulation went, by name: tables, the report and bounds all take them from here. docs/compare.md says
 * what each of them means. They are about the jobs of the trace, or of the state when there was no trace.
 */
enum metric {
    METRIC_WORKLOADS,
    METRIC_COMPLETED,
    METRIC_NEVER_STARTED,
    METRIC_MEAN_WAIT,
    METRIC_P50_WAIT,
    METRIC_P90_WAIT,
    METRIC_P95_WAIT,
    METRIC_P99_WAIT,
    METRIC_MAX_WAIT,
    METRIC_MEAN_TURNAROUND,
    METRIC_GPU_HOURS,
    METRIC_ALLOCATED,
    METRIC_SHARE,
    METRIC_FAIR_SHARE,
    METRIC_EVICTIONS,
    METRIC_NODE_FAILURES,
    METRIC_LOST_GPU_HOURS,
    METRIC_FRAGMENTED,
    METRIC_MAKESPAN,
    METRIC_RUNNING,
    METRIC_PENDING,
    METRIC_ALLOCATED_GPUS,
    METRIC_PENDING_GPUS,
    _METRIC_MAX
};

enum metric_unit { UNIT_COUNT, UNIT_SECONDS, UNIT_PART, UNIT_HOURS, UNIT_GPUS };  // a part is 0 to 1, shown in percent

struct metric_info {
    const char *name;
    enum metric_unit unit;
    int better;          // 1: more is better, -1: less is, 0: neither
    bool is_of_cluster;  // takes no filter
    bool is_at_end;      // tells where the simulation ended, not how it went
    const char *help;
};

const struct metric_info *metric_info(enum metric metric);

/* By name; case and underscores do not matter. */
bool metric_find(const char *name, size_t len, enum metric *ret);

/* Which jobs count. All zeros is all of them. */
struct metric_filter {
    const char *queue;     // by name, with all queues below it; NULL: any
    const char *workload;  // "namespace/name", with * for any text; NULL: any
    bool has_size;
    double size_min;  // GPUs that a job asks for in all
    double size_max;
};

/* The number, NAN when no job counts (an average of nothing). */
double metric_value(const struct sim_run *run, enum metric metric, const struct metric_filter *filter);

/* Writes all of them as the member "metrics": of the cluster, or those of a queue where one is named. */
void metrics_write(struct emit *e, const struct sim_run *run, const char *queue);

/* Is there such a queue? */
bool metric_has_queue(const struct sim_run *run, const char *name);

/* Is the workload the one that the pattern means: "namespace/name", or "name" alone, with * for any text? */
bool metric_is_workload(const struct sim_run *run, const struct sim_run_job *job, const char *pattern);

/* Sizes of jobs as people speak of them: "cpu", "fraction", "1", "2-7", ... "128+". */
struct size_class {
    const char *name;
    double min;
    double max;
};

enum { SIZE_CLASS_COUNT = 7 };
extern const struct size_class size_classes[SIZE_CLASS_COUNT];

/* The index of the class that a job of so many GPUs is in. */
uint32_t size_class_of(double gpus);

/* A class by name, a number of GPUs, a range "8-64", or "64+". */
MUST_CHECK bool size_parse(const char *text, double *ret_min, double *ret_max);

/* Does the job count at all, filter aside? */
bool metric_counts(const struct sim_run *run, const struct sim_run_job *job);

/* How long the job waited until it first ran, or up to the end of the simulation, in seconds. */
double metric_wait(const struct sim_run *run, const struct sim_run_job *job);

/* How long it waited where it was recorded, in seconds. Its start must be known. */
double metric_recorded_wait(const struct sim_run_job *job);

/* The smallest of `count` ascending values that `part` of them do not exceed. */
double metric_percentile(const double *sorted, size_t count, double part);

/* "1h 20m", "35s", "12.5%", "1,234"; "-" for NAN. Returns `text`. */
enum { METRIC_TEXT_MAX = 32 };
const char *metric_format(enum metric_unit unit, double value, char text[static METRIC_TEXT_MAX]);
