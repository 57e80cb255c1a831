/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitset.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/ids.h"

struct engine;

/*
 * What searches ask about the whole cluster, kept so that asking costs what has changed: the GPUs that each node has idle
 * or being released, which nodes have any, their sums, and bounds on the gangs that run in each queue.
 *
 * Values are those of the books outside of a simulation: a touched node is only noted, and read again when the next search
 * begins. Sums are of integers, so that they do not depend on the order of changes.
 */
struct node_room {
    double free;         // idle and releasing GPUs with the free parts of shared ones
    int64_t hundredths;  // the same, exactly
    int64_t memory_mib;  // free memory of its GPUs
    int64_t whole;       // idle and releasing GPUs that nobody shares; billionths, may be negative
    int64_t most;        // `whole` if all sharers left, at least 0
    bool has_room;       // GPUs are idle, or are being released
    bool is_ready;
    bool is_stale;
};

/*
 * Bounds on the gangs of a leaf that may be victims. They are never too tight: a gang that leaves does not loosen them
 * until they are made anew.
 */
struct leaf_bounds {
    bool has_gangs;
    bool has_elastic;
    int32_t lowest_priority;
    nsec_t oldest_start;   // 0: some gang never started
    int64_t largest_item;  // GPUs that leave with one item, as reclaim counts them; billionths
};

struct gpu_room {
    VEC(struct node_room) nodes;  // by node id
    VEC(node_id) stale;
    struct bitset by_rank;  // nodes with room
    uint32_t room_count;
    uint32_t dra_nodes;   // whose GPUs come as claims: counts of whole GPUs do not hold there
    bool has_moved_pods;  // in this cycle: leaving one node, promised another one
    int64_t hundredths;   // sums over ready nodes
    int64_t memory_mib;
    int64_t most;                    // over all nodes
    VEC(struct leaf_bounds) leaves;  // by queue id
    uint32_t bounded_gangs;          // taken into the bounds since they were made
};

struct gpu_room *gpu_room_new(void);
void gpu_room_free(struct gpu_room *room);
size_t gpu_room_bytes(const struct gpu_room *room);

/* Takes in the state's changes, before they are marked as seen. */
void gpu_room_update(struct engine *engine);

/* The node's books changed, or changed back. */
void gpu_room_node_touched(struct engine *engine, node_id node);

/* A gang got pods on nodes during the cycle. */
void gpu_room_gang_changed(struct engine *engine, gang_id gang);

/* Reads the books of touched nodes again. Not within a statement. */
void gpu_room_refresh(struct engine *engine);
