/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/resources.h"
#include "sim/run/run_gantt.h"
#include "sim/run/run_series.h"
#include "sim/run/run_waits.h"

struct config;
struct engine;
struct err;
struct journal;
struct state;
struct strbuf;
struct strmap;
struct trace;

/*
 * Playing: the real engine in virtual time. Work comes as a trace says, or is in the state from the start; at every moment
 * at which something happens (work comes or ends, evicted pods are gone, nodes fail or return) one cycle runs. What it
 * decides is carried out at once: bound pods run, evicted ones are gone after a grace period and wait again. A gang's work
 * goes on while its minimum runs and is lost, up to the last checkpoint, when it no longer does.
 *
 * Nothing depends on a clock, on randomness or on addresses: two simulations of the same input are the same, bit for bit.
 */
struct sim_run_usage_options {
    bool is_on;        // past use counts: time-based fair share
    nsec_t window;     // how far back
    nsec_t half_life;  // use so long ago counts half; 0: all of the window counts the same
    nsec_t interval;   // how often it is counted anew
};

/* Where a simulation stands, for who draws a progress bar. */
struct sim_run_progress {
    nsec_t start;
    nsec_t now;
    nsec_t last_arrival;  // the trace has nothing after it
    uint32_t jobs;        // of the trace
    uint32_t jobs_ended;
    uint64_t cycles;
};

/* How long a workload of the state runs in all, and how much of that it has done; `run` below 0: it never ends. */
struct sim_run_life {
    nsec_t run;
    nsec_t done;
};

struct sim_run;
typedef struct sim_run_life (*sim_run_life_fn)(void *context, const struct state *state, gang_id gang);

/* A cycle was run and carried out. Whether the simulation goes on. */
typedef bool (*sim_run_cycle_fn)(void *context, struct sim_run *run);

typedef void (*sim_run_progress_fn)(void *context, const struct sim_run_progress *progress);

struct sim_run_options {
    nsec_t start;         // virtual time to begin at; a trace begins with its first event
    nsec_t until;         // stop here, NSEC_MAX: when nothing is left to happen
    nsec_t grace;         // from the eviction of a pod until it is gone
    uint64_t max_cycles;  // stop after so many, 0: never
    uint32_t coarse;  // 0: a cycle whenever something happens; N: not within 1/N of the time from `start` to the last
    nsec_t coarse_most;  // but if this has passed
    struct sim_run_usage_options usage;
    bool has_gantt;                 // keep who had which GPU when
    bool has_waits;                 // keep why workloads waited
    bool has_places;                // keep on which nodes workloads started
    struct journal *journal;        // keeps all of it, NULL: nobody does
    const struct strmap *replicas;  // struct replica (objects/notes.h) by namespace and gang; NULL: none are known
    bool keeps_start;               // also with a trace, whose first event may be later than `start`
    sim_run_life_fn life;           // of what is in the state; NULL: it never ends
    sim_run_cycle_fn after_cycle;   // may be NULL
    void *context;                  // of these two
    sim_run_progress_fn progress;
    void *progress_context;
};

/* KAI's defaults: a week's window, counted anew each minute, but off; 30 seconds of grace. */
void sim_run_options_init(struct sim_run_options *options);

/* Pods x nanoseconds: a month of a large gang is more than 64 bits hold. */
__extension__ typedef __int128 sim_run_work;

/* What became of a workload. Names are those of the state, and stay when it has left it. */
struct sim_run_job {
    uint32_t namespace;
    uint32_t name;
    uint32_t label;         // what people call it
    uint32_t owner;         // the name of the Deployment, or its like, that it is one of several pods of; 0: none
    uint32_t next_replica;  // the next job of that owner, NO_ID: none
    bool is_later_replica;  // another job of that owner comes before it
    uint32_t queue;         // index in simulation.queues, NO_ID when its queue is not there
    gang_id gang;           // NO_ID before it comes and after it has ended
    uint32_t pods;
    uint32_t min;      // pods that must run for work to go on
    int64_t gpus;      // asked for by all pods, billionths
    int64_t pod_gpus;  // by one
    nsec_t submitted;
    nsec_t first_start;     // 0: never
    nsec_t recorded_start;  // in the cluster that the trace is of, 0: not known
    uint32_t first_place;   // in sim_run.places: the nodes on which it first started
    uint32_t place_count;
    nsec_t ended;        // 0: not yet
    uint32_t evictions;  // times that an eviction took it below its minimum, or took a pod above it
    uint32_t failures;   // times that a node's failure took it below its minimum
    double used;         // GPU x nanoseconds that its pods ran
    double lost;         // the part of it that evictions and failures threw away
    bool is_cancelled;
    bool from_trace;

    /* The rest is the player's own. */
    bool is_going;  // at least `min` run
    bool is_ending;
    bool is_listed;     // among those that wait
    nsec_t evicted_at;  // last
    uint32_t running;
    uint32_t generation;  // of its next end
    uint32_t trace_job;   // NO_ID: from the state
    nsec_t since;         // when `done` was last brought up to date
    nsec_t checkpoint;
    sim_run_work work;  // in all; below 0: never ends
    sim_run_work done;
};

/* A queue that work may go to or that others lie below, in the order of the state. */
struct sim_run_queue {
    queue_id id;
    uint32_t name;
    uint32_t parent;  // index in simulation.queues, NO_ID for roots
    bool is_leaf;
    struct amounts used_now;
    int64_t pending_now;   // billionths of GPUs
    struct series *used;   // GPUs
    struct series *share;  // fair share in GPUs
    struct series *pending;
    struct series *evictions;  // pods
    struct series *lost;       // GPU x nanoseconds
};

struct sim_run_eviction {
    nsec_t time;
    uint32_t job;
    uint32_t for_job;  // NO_ID: nobody, it was stale
    uint32_t pods;
    double lost;     // GPU x nanoseconds
    uint8_t action;  // enum action
};

enum { SIM_RUN_EVICTIONS_KEPT = 100000 };

struct sim_run {
    struct state *state;  // borrowed
    struct engine *engine;
    struct timeline timeline;
    VEC(struct sim_run_job) jobs;
    VEC(struct sim_run_queue) queues;
    VEC(node_id) places;
    VEC(struct sim_run_eviction) evictions;  // the first SIM_RUN_EVICTIONS_KEPT
    struct gantt gantt;
    struct waits waits;
    struct series *capacity;     // GPUs of ready nodes
    struct series *used;         // by running pods
    struct series *idle_empty;   // on nodes with nothing on their GPUs
    struct series *idle_partly;  // whole GPUs on other nodes
    struct series *idle_shared;  // free parts of shared GPUs
    struct series *waiting;      // jobs whose minimum does not run
    nsec_t start;
    nsec_t end;  // the last thing happened here, or `until`
    uint64_t cycles;
    uint64_t binds;
    uint64_t evicted_pods;
    uint32_t jobs_ended;
    bool is_cut;  // max_cycles were not enough
    bool has_trace;

    struct sim_run_inner *inner;
};

/*
 * Simulates the trace, which may be NULL, over what is in the state, which it changes. The engine stays open at the end, so
 * that verdicts and shares can be read and explained until sim_run_done. Fails with -EINVAL when the trace names a queue or a
 * node that is not there.
 */
MUST_CHECK int sim_run_run(struct sim_run *run, struct state *state, const struct config *config,
                           const struct sim_run_options *options, const struct trace *trace, struct err *err);
void sim_run_done(struct sim_run *run);

/* Where a workload stands at the end, in the words that people know from Kubernetes. */
enum workload_state {
    WORKLOAD_PENDING,     // its minimum does not run
    WORKLOAD_PREEMPTING,  // so, but its place is being cleared: pods are leaving for it
    WORKLOAD_RUNNING,
    WORKLOAD_COMPLETED,
    WORKLOAD_CANCELLED,  // by the trace, before it had done its work
    _WORKLOAD_STATE_MAX
};

enum workload_state sim_run_job_state(const struct sim_run *run, const struct sim_run_job *job);
const char *workload_state_name(enum workload_state state);  // "Pending"

/* Appends "namespace/name" of the workload as its author called it: not the name of a PodGroup that was made for it. */
void workload_add_name(struct strbuf *text, const struct state *state, gang_id gang);

/* The same for a workload that may have left the state. */
void sim_run_job_name(const struct sim_run *run, const struct sim_run_job *job, struct strbuf *text);

/* The next job of the same owner, NULL: none. */
const struct sim_run_job *sim_run_next_replica(const struct sim_run *run, const struct sim_run_job *job);
