/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "model/state.h"
#include "sim/run/run.h"
#include "sim/run/run_events.h"

struct trace_job;
struct usage_window;

struct sim_run_pod {
    uint32_t job;  // NO_ID: none of ours
    node_id node;  // where it runs or still is, NO_ID when it waits
    bool is_running;
    nsec_t since;
    nsec_t evicted;       // 0, or when it was told to go
    struct amounts held;  // that its place costs
    int64_t asked;        // billionths of GPUs
};

/* What a node adds to the idle series, so that only nodes that changed are looked at. */
struct sim_run_node {
    double empty;
    double partly;
    double shared;
    bool is_touched;
    bool is_down;       // the trace said so
    uint32_t troubles;  // that it has beside that
};

struct sim_run_inner {
    struct sim_run_options options;
    const struct trace *trace;
    uint32_t next_trace;  // event
    struct sim_run_events events;
    nsec_t now;
    nsec_t last_cycle;
    nsec_t next_cycle;  // that something waits for already
    VEC(uint32_t) job_of_gang;
    VEC(struct sim_run_pod) pods;    // by pod id
    VEC(struct sim_run_node) nodes;  // by node id
    VEC(node_id) touched;
    VEC(uint32_t) job_of_trace;  // by index in the trace's jobs, NO_ID before it came
    VEC(uint32_t) queue_of;      // by queue id: index in simulation.queues
    VEC(nsec_t) min_runtimes;    // that any queue has: when one ends, something may be evicted
    VEC(pod_id) failing;
    struct map64 last_replica;  // by the names of namespace and owner: the last job of that owner
    VEC(pod_id) members;        // of the gang under way
    double idle_empty;
    double idle_partly;
    double idle_shared;
    uint32_t waiting;
    int64_t used;
    nsec_t staleness_grace;      // of the settings
    bool is_loading;             // what runs has been running, nobody knows since when
    struct usage_window *usage;  // NULL: off
    bool has_tick;               // one is planned
};

/* run_submit.c: work that comes. */
MUST_CHECK int sim_run_submit(struct sim_run *run, uint32_t trace_job, struct err *err);

/* run_jobs.c: the life of jobs and pods. */
void sim_run_load_gangs(struct sim_run *run);
uint32_t sim_run_add_job(struct sim_run *run, struct sim_run_job job);
void sim_run_pod_waits(struct sim_run *run, pod_id pod, uint32_t job);
void sim_run_pod_starts(struct sim_run *run, pod_id pod, node_id node);
void sim_run_pod_evicted(struct sim_run *run, pod_id pod, gang_id on_behalf, uint8_t action);
void sim_run_pods_left(struct sim_run *run, uint32_t job);
void sim_run_pod_failed(struct sim_run *run, pod_id pod);
void sim_run_end_job(struct sim_run *run, uint32_t job);

/* run_names.c: the name that people know a workload by, of the state's names. */
uint32_t sim_run_label_of(struct state *state, gang_id gang);

/* Links the job, which is the last one, to the other replicas of its owner. Nothing for a workload of its own. */
void sim_run_link_replica(struct sim_run *run);

/* run_nodes.c */
void sim_run_load_nodes(struct sim_run *run);
void sim_run_touch_node(struct sim_run *run, node_id node);
void sim_run_count_idle(struct sim_run *run);
MUST_CHECK int sim_run_node_down(struct sim_run *run, node_id node, struct err *err);
MUST_CHECK int sim_run_node_up(struct sim_run *run, node_id node, struct err *err);

/* run_queues.c */
void sim_run_load_queues(struct sim_run *run);
void sim_run_queue_used(struct sim_run *run, uint32_t queue, const struct amounts *held, int sign);
void sim_run_queue_pending(struct sim_run *run, uint32_t queue, int64_t change);
void sim_run_read_shares(struct sim_run *run);

/* run_usage.c: past use of queues, for time-based fair share. */
struct usage_window *usage_window_new(const struct sim_run_usage_options *options, nsec_t start, uint32_t queue_count);
void usage_window_free(struct usage_window *usage);

/* Takes over what the state says of the past, once at the beginning. */
void usage_window_seed(struct sim_run *run);

/* Time goes on to `now` with what queues have used since the last call; tells the state at the end of each interval. */
void usage_window_advance(struct sim_run *run, nsec_t now);

/* The end of the interval under way. */
nsec_t usage_window_next(const struct usage_window *usage);
