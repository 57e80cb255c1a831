/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/config.h"
#include "engine/reasons/explain.h"
#include "model/ids.h"
#include "model/retell/retell.h"
#include "sim/why/why_run.h"

struct err;
struct state;
struct strbuf;

/*
 * Why a workload waits, and what would help.
 *
 * The cluster is copied and run until nothing changes. If the workload does not run then, its verdict is explained; and
 * remedies are tried, each on a copy of its own from the start, and named only if the workload runs with it in the end,
 * and does not with one step less. docs/why.md describes all of them.
 */
enum why_remedy_kind {
    WHY_GPUS,      // fewer whole GPUs a pod
    WHY_FRACTION,  // a smaller part of a GPU
    WHY_GPU_MEMORY,
    WHY_DEVICES,  // fewer shared GPUs a pod
    WHY_AMOUNT,   // less of another resource
    WHY_PODS,     // fewer pods at once
    WHY_QUEUE,    // another queue
    WHY_QUOTA,    // more quota or a higher limit for its queue and those above
    WHY_PREEMPTIBLE,
    WHY_NODES,    // without its node selector and affinity
    WHY_TAINTS,   // tolerating every taint
    WHY_LEVEL,    // a wider domain, or none
    WHY_WITHOUT,  // without one other workload
    WHY_WAIT,
    _WHY_REMEDY_MAX
};

/* One number that a remedy changes. With `less`, which is one step back towards `from`, the workload does not run. */
struct why_step {
    double from;
    double to;
    double less;
};

struct why_remedy {
    enum why_remedy_kind kind;
    struct retell_change change;  // ids and names are those of the asked state
    struct why_step step;         // kinds with one number; WAIT: seconds
    const char *level_from;       // LEVEL
    const char *level_less;
    const struct why_step *steps;  // QUOTA: of each change of a queue
    nsec_t until;                  // WAIT
};

struct why {
    struct state *state;  // as asked; borrowed, settled, not changed
    const struct config *config;
    nsec_t now;
    gang_id gang;  // in `state`

    bool runs;              // without any change; the rest is then about how
    bool is_never;          // not even on the emptied cluster with neither quotas nor limits
    uint32_t more_than;     // pods that it has to have more than, to run: those that it has without a change
    struct state *settled;  // the copy after the run
    struct why_run run;
    gang_id settled_gang;            // in `settled`
    struct explanation explanation;  // of that
    VEC(struct why_remedy) remedies;
    uint32_t tries;  // copies that were run
    struct arena arena;
};

/* "name" or "namespace/name" of a gang, a pod, or the job that a gang was made for. Fails with -ENOENT or -EINVAL. */
MUST_CHECK int why_find(const struct state *state, const char *workload, gang_id *ret_gang, struct err *err);

/* Asks. The state is settled by this; `config` has to live as long as the answer. */
void why_ask(struct why *why, struct state *state, const struct config *config, nsec_t now, gang_id gang);
void why_done(struct why *why);

/* A stable name for output that programs read: "gpus". */
const char *why_remedy_name(enum why_remedy_kind kind);

/* The remedy in words: "6 GPUs a pod instead of 8; with 7 it still waits". */
void why_remedy_text(const struct why *why, const struct why_remedy *remedy, struct strbuf *out);

void why_print(const struct why *why, FILE *out);
void why_write(const struct why *why, FILE *out);
