/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "sim/run/run.h"
#include "sim/whatif/whatif_change.h"
#include "sim/when/when.h"

struct err;
struct object_set;
struct past;
struct requirements;
struct simulation;
struct table_view;

/*
 * What a change does in the coming hours: pairs of futures of the real engine, one without the change and one with it. Both
 * of a pair have the same luck: the same work comes, and what is on both sides runs for the same time. What differs
 * between them is the change's doing.
 */
enum hours_side { HOURS_WITHOUT, HOURS_WITH, _HOURS_SIDES };

/* What becomes of a workload that is there at the beginning. */
struct hours_fate {
    bool is_there;
    bool is_running;     // from the beginning
    uint32_t started;    // futures in which it runs, from the beginning or later
    uint32_t evicted;    // futures in which it lost pods to another one
    nsec_t median_wait;  // NSEC_MAX: in half of the futures it does not start

    /* The rest is hours.c's own. */
    VEC(nsec_t) waits;  // one for each future
    nsec_t wait;        // in the future under way
};

struct hours_workload {
    const char *namespace;
    const char *gang;
    const char *name;  // as its author called it
    const char *queue;
    struct hours_fate sides[_HOURS_SIDES];
    uint32_t sooner;  // futures in which it starts sooner with the change
    uint32_t later;
};

/* Sums over all futures. */
struct hours_figures {
    uint64_t workloads;  // that were there or came
    uint64_t starts;     // of those that did not run from the beginning
    uint64_t evictions;  // times that one lost pods to another
    double waited;       // seconds
    double used;         // GPU hours
    double lost;         // GPU hours of work since a checkpoint
};

struct hours_queue {
    const char *name;
    struct hours_figures sides[_HOURS_SIDES];
};

struct hours {
    nsec_t now;
    nsec_t horizon;
    uint64_t seed;
    uint32_t futures;
    struct when_basis basis;                 // of the side without the change
    VEC(struct hours_workload *) workloads;  // that wait at the beginning, or fare differently
    VEC(struct hours_queue *) queues;        // that take work, without the change or with it
    struct hours_figures whole[_HOURS_SIDES];

    struct strmap by_name;  // of all workloads that are there at the beginning
    struct strmap by_queue;
    struct arena arena;  // all of these
};

/* A side of the question. `objects` are those that the cluster was read from, NULL: they are not known. */
struct hours_cluster {
    struct simulation *sim;  // loaded and not run
    const struct object_set *objects;
};

struct hours_question {
    struct hours_cluster base;
    struct hours_cluster extended;  // with what changes of kind NEW describe; `sim` is NULL without such
    const struct whatif_change *changes;
    size_t change_count;
    struct past *history;
    struct future_options future;
    uint32_t futures;
    struct requirements *requirements;  // judged by each pair; hours_ask says in `found` how often they hold
};

/* A requirement holds when it does in so many of a hundred futures. */
enum { HOURS_CONFIDENCE = 90 };

/*
 * Asks. -EINVAL when too little is known of the run times of what runs; what fails whatif_ask or requirements_judge fails
 * this as well. hours_done is called in any case.
 */
MUST_CHECK int hours_ask(struct hours *hours, const struct hours_question *question, struct err *err);
void hours_done(struct hours *hours);

/* Does the workload, or the queue, fare differently with the change? */
bool hours_workload_differs(const struct hours_workload *workload);
bool hours_queue_differs(const struct hours_queue *queue);

void hours_print(const struct hours *hours, const struct hours_question *question, const struct table_view *view,
                 FILE *out);
void hours_write(const struct hours *hours, const struct hours_question *question, FILE *out);
