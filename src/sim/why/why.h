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

struct object_set;
struct state;
struct strbuf;
struct table_view;

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
    WHY_DEVICES,        // fewer shared GPUs a pod
    WHY_AMOUNT,         // less of another resource
    WHY_CLAIM_DEVICES,  // fewer devices by a claim
    WHY_CLAIM_CLASS,    // devices of another class
    WHY_PODS,           // fewer pods at once
    WHY_QUEUE,          // another queue
    WHY_QUOTA,          // more quota or a higher limit for its queue and those above
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
    const char *class_from;         // CLAIM_CLASS
    const struct why_step *steps;   // QUOTA: of each change of a queue
    nsec_t until;                   // WAIT
    const struct why_remedy *with;  // the other of a pair, neither of which helps alone; its change is in `change` too
};

/* Something that keeps the workload waiting. Reasons are the codes of verdicts. */
struct why_cause {
    const char *reason;   // "over_limit"
    const char *message;  // with names and numbers
};

/* Where nothing helps: another workload, `first`, waits for the same room, and would take what `ended` leaves. */
struct why_line {
    gang_id ended, first;  // in the asked state; `first` is NO_ID where there is no such workload
};

struct why {
    struct state *state;               // as asked; borrowed, settled, not changed
    const struct object_set *objects;  // that it was read from, for names and patches; NULL: it came as a scenario
    const struct config *config;
    nsec_t now;
    gang_id gang;  // in `state`

    bool runs;              // without any change; the rest is then about how
    bool has_no_pods;       // nobody has created any: there is nothing to try
    bool is_never;          // not even on the emptied cluster with neither quotas nor limits
    uint32_t more_than;     // pods that it has to have more than, to run: those that it has without a change
    struct state *settled;  // the copy after the run
    struct why_run run;
    gang_id settled_gang;             // in `settled`
    struct explanation explanation;   // of that
    VEC(struct why_cause) causes;     // all that are known, what the nodes are first; the first is the reason
    VEC(struct why_remedy) remedies;  // what people would rather do first; pairs where no single one helps
    struct why_line line;
    uint32_t tries;                        // copies that were run
    struct retell_change base;             // what every change that is tried includes: nothing, or one of a pair
    const struct why_remedy *base_remedy;  // that it is of
    struct arena arena;
};

/*
 * Asks. The state is settled by this; `config` and `objects`, which may be NULL, have to live as long as the answer.
 */
void why_ask(struct why *why, struct state *state, const struct object_set *objects, const struct config *config,
             nsec_t now, gang_id gang);
void why_done(struct why *why);

/* "Running" or "Pending"; and "fine", "soon", "not now", "by choice" or "never". */
const char *why_state(const struct why *why);
const char *why_outlook(const struct why *why);

/* A stable name for output that programs read: "gpus". */
const char *why_remedy_name(enum why_remedy_kind kind);

/* The remedy in words: "request 6 GPUs per pod instead of 8 (with 7, it still waits)". */
void why_remedy_text(const struct why *why, const struct why_remedy *remedy, struct strbuf *out);

/*
 * The commands that apply the remedy to a cluster, one a line; nothing where it takes none, or where the cluster was not
 * read from Kubernetes objects.
 */
void why_remedy_patch(const struct why *why, const struct why_remedy *remedy, struct strbuf *out);

void why_print(const struct why *why, const struct table_view *view, FILE *out);
void why_write(const struct why *why, FILE *out);
