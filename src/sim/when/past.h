/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"

struct err;
struct random;
struct trace;

/*
 * Past work, as far as it is known at a moment: what came when, and how long it ran if it has ended. Futures draw run
 * times and arrivals from it.
 *
 * Run times are kept by groups of likeness, from the narrowest (the same person's work of that name and size) to the
 * whole. A narrow group is believed the more the more runs it has; else the next wider one is asked. Each group keeps its
 * last PAST_RUNS_KEPT runs, so that habits may change.
 *
 * Runs that have not ended say something as well: they are longer than what has passed. Without them the long ones,
 * which end last, would be missing from every group.
 */
enum past_level {
    PAST_SAME_NAME,   // user, name without its numbers, GPUs
    PAST_SAME_IMAGE,  // user and image
    PAST_SAME_USER,   // user and GPUs
    PAST_SAME_QUEUE,  // queue and GPUs
    PAST_QUEUE,
    PAST_SAME_SIZE,  // GPUs
    PAST_WHOLE,
    _PAST_LEVEL_MAX
};

enum { PAST_RUNS_KEPT = 1000 };

/* The groups that a workload belongs to; a key of 0 is no group. */
struct past_traits {
    uint64_t keys[_PAST_LEVEL_MAX];
};

/* `image` may be NULL; `gpus` are billionths, of all pods. */
struct past_traits past_traits(const char *user, const char *queue, const char *image, const char *name, int64_t gpus);

/* The traits of a workload of a trace. */
struct past_traits past_traits_of(const struct trace *trace, uint32_t job);

struct past_job {
    uint32_t job;  // in the trace
    nsec_t submitted;
    nsec_t started;  // 0: not yet, or not known
    nsec_t run;      // below 0: it has not ended
};

struct past_runs {
    VEC(nsec_t) recent;  // a ring, once it is full
    VEC(nsec_t) sorted;  // the same
    VEC(nsec_t) going;   // sorted: how long those that have not ended have run
    uint32_t oldest;
};

struct past {
    struct trace *trace;         // borrowed: what past work looked like; names of future work are added to it
    VEC(struct past_job) jobs;   // by the time of submission
    VEC(struct past_runs) runs;  // of groups
    struct map64 groups;         // key -> index in `runs`
    uint32_t ended;
};

void past_init(struct past *history, struct trace *trace);
void past_done(struct past *history);

/* A workload came. Returns its index in `jobs`. To be called in the order of time. */
uint32_t past_came(struct past *history, uint32_t job, nsec_t submitted);

/* It has ended after it ran for so long. */
void past_ended(struct past *history, uint32_t index, nsec_t run);

/*
 * All of a trace that came before `now`. What has ended by then follows from its recorded start, or from its submission
 * where no start is recorded.
 */
void past_take_trace(struct past *history, const struct trace *trace, nsec_t now);

/* What runs now: forgets what ran before, and takes in workloads that have run for `elapsed` without an end. */
void past_forget_going(struct past *history);
void past_add_going(struct past *history, const struct past_traits *traits, nsec_t elapsed);

/*
 * A run time as it may be, longer than `*elapsed`, for a workload that has run for so long. Returns -1 when nothing is
 * known to have ended after so long; `*elapsed` is then how long it has to run at least.
 *
 * One of the runs that are longer is picked. If that has not ended, all that is known is that the run time is longer than
 * this, and one of those is picked: Efron's way to draw from the Kaplan-Meier estimate.
 */
nsec_t past_draw(const struct past *history, const struct past_traits *traits, nsec_t *elapsed, struct random *random);

/* The narrowest group of the traits that has at least `count` runs; _PAST_LEVEL_MAX: none has. */
enum past_level past_level_of(const struct past *history, const struct past_traits *traits, uint32_t count);

/*
 * The run time that `part` of all runs keep to, of the user, else of the queue, else of all, where there are at least
 * `count` runs; 0 where there are not.
 */
nsec_t past_usual(const struct past *history, const struct past_traits *traits, double part, uint32_t count);

/* "the same name", "the same user and size", ... */
const char *past_level_name(enum past_level level);

/* The first job that was submitted at or after `time`; jobs.len when there is none. */
uint32_t past_find(const struct past *history, nsec_t time);
