/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "sim/run/run.h"
#include "sim/whatif/whatif_change.h"

struct err;
struct requirements;
struct simulation;
struct table_view;

/*
 * What one scheduling cycle decides with a change and without it.
 *
 * The cycle runs twice with the real engine, on two copies of the cluster. What then differs between them is the answer:
 * who starts, who is evicted, whose fair share changes.
 */
enum whatif_outcome {
    WHATIF_ABSENT,  // the workload is not there
    WHATIF_PENDING,
    WHATIF_PREEMPTING,  // pods are leaving for it
    WHATIF_STARTING,    // its pods were bound in this cycle
    WHATIF_RUNNING,     // and nothing happens to it
    WHATIF_EVICTED,     // pods of it were evicted in this cycle
    _WHATIF_OUTCOME_MAX
};

struct whatif_fate {
    enum whatif_outcome outcome;
    uint32_t bound;    // pods
    uint32_t evicted;  // pods
    char *for_whom;    // the workload that pods were evicted for, NULL: none
};

struct whatif_workload {
    char *name;
    char *queue;
    struct whatif_fate without;
    struct whatif_fate with;
};

struct whatif_queue {
    char *name;
    double fair[2];       // GPUs without and with the change; -1: unlimited, NAN: no such queue
    double allocated[2];  // after the cycle
};

struct whatif {
    struct sim_run without;
    struct sim_run with;
    struct state *states[2];                // of these two
    VEC(struct whatif_workload) workloads;  // whose fate differs, or which the cycle with the change starts or evicts
    VEC(struct whatif_queue) queues;        // whose figures differ
    uint32_t starts[2];                     // workloads
    uint32_t evictions[2];                  // pods
};

/*
 * Asks. `sim` has been loaded and not run; `extended` is the same with what changes of kind NEW describe, or NULL when
 * there are none. Both stay as they are but for being settled. whatif_done is called in any case.
 */
MUST_CHECK int whatif_ask(struct whatif *whatif, struct simulation *sim, struct simulation *extended,
                          const struct whatif_change *changes, size_t count, struct err *err);
void whatif_done(struct whatif *whatif);

/* "Starting". */
const char *whatif_outcome_name(enum whatif_outcome outcome);

/* Requirements have been judged by `without` and `with`. */
void whatif_print(const struct whatif *whatif, const struct requirements *requirements, const struct table_view *view,
                  FILE *out);
void whatif_write(const struct whatif *whatif, const struct whatif_change *changes, size_t count,
                  const struct requirements *requirements, FILE *out);
