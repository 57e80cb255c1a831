/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/vec.h"
#include "sim/report/metrics.h"
#include "sim/run/run.h"

struct emit;
struct err;
struct table_view;

/*
 * What --require asks for: that a figure keeps within a bound, or that workloads are in a state at the end.
 *
 *     p95Wait(queue=research)<30m
 *     allocated>=85%
 *     lostGpuHours(size=64+)<=1.1*A      with A for the value of the first setting
 *     lab/train=Running                  with * for any text
 *
 * docs/simulate.md and docs/compare.md describe it for users.
 */
enum bound_op { BOUND_LT, BOUND_LE, BOUND_GT, BOUND_GE, BOUND_EQ };

enum { REQUIREMENT_NAME_MAX = 512, FINDING_MAX = 512 };

struct requirement {
    const char *text;  // as given; borrowed
    char queue[REQUIREMENT_NAME_MAX];
    char workload[REQUIREMENT_NAME_MAX];
    bool is_state;  // of `workload`; else a bound on a metric, which the next ones are about
    enum workload_state state;
    enum metric metric;
    bool has_size;
    double size_min;
    double size_max;
    enum bound_op op;
    double value;
    bool is_relative;  // a multiple of the first setting's value
};

/* What the simulation came to. */
struct finding {
    bool holds;
    double values[2];        // of a metric: of the first setting, NAN without one, and of the one that is judged
    char text[FINDING_MAX];  // "28m 36s", "A 15m 49s, B 28m 36s", "lab/train is Pending: over limit"
};

/* Returns 0, or -EINVAL with what was expected where. Keeps `text`. */
MUST_CHECK int requirement_parse(struct requirement *requirement, const char *text, struct err *err);

/*
 * Judges it by `run`. `first` is the simulation that A means, NULL where there is none. -EINVAL when it names a queue or a
 * workload that does not exist, or A without a first setting. A mean or a percentile of no workloads does not hold.
 */
MUST_CHECK int requirement_judge(const struct requirement *requirement, const struct sim_run *first,
                                 const struct sim_run *run, struct finding *ret, struct err *err);

struct requirements {
    VEC(struct requirement) items;
    VEC(struct finding) found;  // in the same order, after requirements_judge
};

MUST_CHECK int requirements_add(struct requirements *list, const char *text, struct err *err);
MUST_CHECK int requirements_judge(struct requirements *list, const struct sim_run *first, const struct sim_run *run,
                                  struct err *err);
bool requirements_hold(const struct requirements *list);
void requirements_done(struct requirements *list);

/* A line each, broken ones first, and an empty line behind them; nothing when there are none. */
void requirements_print(const struct requirements *list, const struct table_view *view, FILE *out);

/* As the member "requirements": [{"requirement", "holds", "found"}]. */
void requirements_write(struct emit *e, const struct requirements *list);
