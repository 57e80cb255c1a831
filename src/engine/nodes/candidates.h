/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/nodes/place.h"
#include "model/ids.h"

struct engine;

/*
 * The nodes that may take a pod, best first.
 *
 * Pods with equal requests and constraints form a class. Per class each node has a key: whether the pod may go there and
 * how good that is. A tournament over the keys knows the best node; a change of one node's books costs one path to the
 * root, and ten thousand equal pods that fit nowhere cost one look each. Classes are made when first asked for, follow the
 * log of touched nodes when asked again, and the least used ones are dropped when there are too many.
 */
struct candidates *candidates_new(void);
void candidates_free(struct candidates *candidates);
size_t candidates_bytes(const struct candidates *candidates);

/* Takes in the state's changes: touched nodes, or everything when nodes came, went or changed what they are. */
void candidates_update(struct engine *engine);

/* Scores depend on something new: all orders are made anew when they are asked for. */
void candidates_forget(struct engine *engine);

/* The books of the node changed, or changed back. */
void candidates_node_touched(struct engine *engine, node_id node);

/*
 * A walk over the nodes of `set` for the pod, best first; ties by name. All filters but those of cluster scope have been
 * asked. `topology` is a table of topology_scores, or NULL.
 */
struct candidate {
    double score;
    double order;
    uint32_t rank;
};

struct candidate_walk {
    struct engine *engine;
    pod_id pod;
    struct node_set set;
    const uint32_t *topology;
    struct candidate_class *class;  // NULL: the walk has scores of its own
    struct candidate *scored;       // then: by index in `set`; rank NO_ID where the pod may not go
    struct candidate last;          // given out last
    bool is_begun;
    bool uses_tournament;
};

void candidates_walk(struct candidate_walk *walk, struct engine *engine, pod_id pod, struct node_set set,
                     const uint32_t *topology);

/* The next node; false when there is none. The books must not change between two calls. */
bool candidates_next(struct candidate_walk *walk, node_id *ret_node);

/* Does any node pass the filters that depend on what nodes are, not on what is on them? */
bool candidates_any_allowed(struct engine *engine, pod_id pod);
