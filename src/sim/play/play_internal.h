/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "model/state.h"
#include "sim/play/play.h"
#include "sim/play/play_events.h"

struct trace_job;
struct usage;

struct play_pod {
    uint32_t job;  // NO_ID: none of ours
    node_id node;  // where it runs or still is, NO_ID when it waits
    bool is_running;
    nsec_t since;
    nsec_t evicted;       // 0, or when it was told to go
    struct amounts held;  // that its place costs
    int64_t asked;        // billionths of GPUs
};

/* What a node adds to the idle series, so that only nodes that changed are looked at. */
struct play_node {
    double empty;
    double partly;
    double shared;
    bool is_touched;
    bool is_down;       // the trace said so
    uint32_t troubles;  // that it has beside that
};

struct play_inner {
    struct play_options options;
    const struct trace *trace;
    uint32_t next_trace;  // event
    struct play_events events;
    nsec_t now;
    VEC(uint32_t) job_of_gang;
    VEC(struct play_pod) pods;    // by pod id
    VEC(struct play_node) nodes;  // by node id
    VEC(node_id) touched;
    VEC(uint32_t) job_of_trace;  // by index in the trace's jobs, NO_ID before it came
    VEC(uint32_t) queue_of;      // by queue id: index in play.queues
    VEC(nsec_t) min_runtimes;    // that any queue has: when one ends, something may be evicted
    VEC(pod_id) failing;
    VEC(pod_id) members;  // of the gang under way
    double idle_empty;
    double idle_partly;
    double idle_shared;
    uint32_t waiting;
    int64_t used;
    nsec_t staleness_grace;  // of the settings
    bool is_loading;         // what runs has been running, nobody knows since when
    struct usage *usage;     // NULL: off
    bool has_tick;           // one is planned
};

/* play_submit.c: work that comes. */
MUST_CHECK int play_submit(struct play *play, uint32_t trace_job, struct err *err);

/* play_jobs.c: the life of jobs and pods. */
void play_load_gangs(struct play *play);
uint32_t play_add_job(struct play *play, struct play_job job);
void play_pod_waits(struct play *play, pod_id pod, uint32_t job);
void play_pod_starts(struct play *play, pod_id pod, node_id node);
void play_pod_evicted(struct play *play, pod_id pod, gang_id on_behalf, uint8_t action);
void play_pods_left(struct play *play, uint32_t job);
void play_pod_failed(struct play *play, pod_id pod);
void play_end_job(struct play *play, uint32_t job);

/* play_names.c: the name that people know a workload by, of the state's names. */
uint32_t play_label_of(struct state *state, gang_id gang);

/* play_nodes.c */
void play_load_nodes(struct play *play);
void play_touch_node(struct play *play, node_id node);
void play_count_idle(struct play *play);
MUST_CHECK int play_node_down(struct play *play, node_id node, struct err *err);
MUST_CHECK int play_node_up(struct play *play, node_id node, struct err *err);

/* play_queues.c */
void play_load_queues(struct play *play);
void play_queue_used(struct play *play, uint32_t queue, const struct amounts *held, int sign);
void play_queue_pending(struct play *play, uint32_t queue, int64_t change);
void play_read_shares(struct play *play);

/* play_usage.c: past use of queues, for time-based fair share. */
struct usage *usage_new(const struct play_usage_options *options, nsec_t start, uint32_t queue_count);
void usage_free(struct usage *usage);

/* Takes over what the state says of the past, once at the beginning. */
void usage_seed(struct play *play);

/* Time goes on to `now` with what queues have used since the last call; tells the state at the end of each interval. */
void usage_advance(struct play *play, nsec_t now);

/* The end of the interval under way. */
nsec_t usage_next(const struct usage *usage);
