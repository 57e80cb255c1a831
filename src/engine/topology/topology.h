/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "engine/node_set.h"
#include "model/ids.h"

struct engine;
struct gang_view;

/*
 * Topology-aware placement: which sets of nodes a group of a gang may try, tightest first.
 *
 * Domains (racks, blocks, ...) are made from the nodes' labels, kept, and made anew when labels or topologies change.
 * What is free in a domain is a sum that follows the books of its nodes.
 */
struct topology_trees *topology_trees_new(void);
void topology_trees_free(struct topology_trees *trees);
size_t topology_trees_bytes(const struct topology_trees *trees);
void topology_trees_update(struct engine *engine);  // after engine_take_in saw changes

/* The node's books changed, also by being taken back: what is free in its domains is looked up again. */
void topology_node_touched(struct engine *engine, node_id node);

/* A number that grows with every such change; what was worked out from the books of many nodes holds while it stays. */
uint64_t topology_touches(const struct engine *engine);

/* Forgets the score tables of the attempt before. */
void topology_begin(struct engine *engine);

/*
 * The node sets for `pods` (the part of the view's chunk below `group`) out of `from`, in the order to try, in `arena`.
 * A group without a constraint gives `from` itself. None: it cannot be met, and the verdict says why.
 */
struct node_set *topology_node_sets(struct engine *engine, struct arena *arena, const struct gang_view *view,
                                    uint32_t group, const pod_id *pods, uint32_t pod_count, struct node_set from,
                                    bool is_simulation, uint32_t *ret_count);

/*
 * The table of scores that a pod of the set `group` goes by: its own or that of the nearest group above that has a
 * preferred level. NULL when there is none. By node id, in points as they are added to the other scores (0 to
 * 1,000,000); a node with TOPOLOGY_NO_SCORE may not be used. Good until the next topology_node_sets or topology_begin.
 */
#define TOPOLOGY_NO_SCORE UINT32_MAX
const uint32_t *topology_scores(const struct engine *engine, const struct gang_view *view, uint32_t group);
