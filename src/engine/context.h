/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The engine's own context, which its folders share: the state and settings at hand, the records of the cycle, and one
 * opaque pointer for each thing that is kept between cycles. Each of those has a header of its own in its folder.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/state.h"

struct affinity_memory;
struct candidates;
struct gpu_room;
struct kept_orders;
struct operation;
struct rehearsal;
struct filter;
struct gang_order;
struct gpu_order;
struct queue_order;
struct score;
struct stranding;
struct topology_trees;
struct view_cache;

/* An evicted pod: where it goes on leaving when the cycle, and any promise with it, ends. */
struct moved_pod {
    pod_id pod;
    bool was_promised;  // evicted from a place that it was only promised
    node_id from;
    struct group_list groups;
    const struct numa_placement *numa;
};

/* A claim that the cycle changed, as it will be when promises are forgotten. */
struct claim_note {
    uint32_t claim;
    uint32_t is_allocated;
    uint32_t device_count;
    uint32_t reserved_count;
    uint32_t amount_count;
    const struct device *devices;
    const name_id *reserved_for;
    const struct device_amount *amounts;
};

/* What can be added to by a row: see filter.h, score.h and gpu_order.h in nodes/, and order_rows.h in queues/. */
struct filter_table {
    const struct filter *rows;
    uint32_t count;
};

struct node_score_table {
    const struct score *rows;
    uint32_t count;
};

struct gpu_order_table {
    const struct gpu_order *rows;
    uint32_t count;
};

struct gang_order_table {
    const struct gang_order *rows;
    uint32_t count;
};

struct queue_order_table {
    const struct queue_order *rows;
    uint32_t count;
};

struct engine {
    struct state *state;
    struct config config;
    struct filter_table filters;  // the standard tables, or those of a test
    struct node_score_table scores;
    struct gpu_order_table gpu_orders;
    struct gang_order_table gang_orders;
    struct queue_order_table queue_orders;
    nsec_t now;
    bool is_open;

    VEC(struct decision) decisions;
    VEC(struct search_report) searches;
    VEC(struct verdict) verdicts;      // of gangs that were looked at
    VEC(uint32_t) verdict_of;          // by gang id: its place in `verdicts` plus 1, 0 when it has none
    VEC(struct queue_share) shares;    // by queue id
    VEC(struct operation) operations;  // of the statement under way
    VEC(uint32_t) evictions;           // by pod id: its eviction in the statement that still counts, NO_ID when none
    VEC(struct moved_pod) moved;       // evicted in this cycle, from where
    VEC(struct claim_note) claim_notes;
    VEC(int64_t) largest;  // by dimension: the most that any node has of it
    uint64_t placements;
    bool has_shares;         // `shares` are those of the state as it is
    bool checks_rehearsals;  // tests: what a rehearsal refutes is simulated all the same, and has to fail

    struct arena scratch;  // emptied when an action ends: whatever a search needs meanwhile
    struct arena placing;  // emptied when the next gang is placed
    struct view_cache *views;
    struct kept_orders *orders;
    struct candidates *candidates;
    struct topology_trees *topologies;
    struct affinity_memory *affinity;
    struct gpu_room *room;
    struct stranding *stranding;
    struct rehearsal *rehearsal;

    should_stop_fn should_stop;
    void *should_stop_context;
};

static inline bool engine_has(const struct engine *engine, enum plugin plugin)
{
    return engine->config.has[plugin];
}

/* The verdict record of a gang, to be filled by whoever tried it. Good until the next call. */
struct verdict *engine_verdict_slot(struct engine *engine, gang_id gang);
