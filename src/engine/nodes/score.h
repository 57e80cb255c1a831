/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/config.h"
#include "engine/nodes/plain.h"
#include "model/ids.h"

struct engine;

/*
 * Scores say which of the nodes that may take a pod is best; they are added up. Rows of one table (score.c); a new one is
 * one function and one row.
 *
 *   tier   whole points that depend on the pod's class and the node's books alone
 *   order  less than any tier: orders the nodes of one tier; there is one such row (node placement)
 *   extra  depends on more: pods to which it applies are scored node by node
 */
enum score_kind { SCORE_TIER, SCORE_ORDER, SCORE_EXTRA };

struct score {
    const char *name;
    enum plugin plugin;
    enum score_kind kind;
    bool (*applies)(const struct engine *engine, pod_id pod);  // NULL: always
    double (*value)(struct engine *engine, pod_id pod, node_id node);
    struct plain_rule
        rehearsal;  // `node` and `pod` are not asked: to a plain pod it does not apply, or it is rehearsed
};

extern const struct node_score_table standard_scores;

/* Some row of kind extra applies to the pod. */
bool score_needs_every_node(const struct engine *engine, pod_id pod);

/* The sum of the rows of kind tier. */
uint32_t score_tier(struct engine *engine, pod_id pod, node_id node);

/*
 * Node placement. The order value says how nodes of one tier are ordered, higher first; the points are KAI's, between 0
 * and 9, which need the least and the most that is free on any node of the set.
 */
double score_placement_order(const struct engine *engine, pod_id pod, node_id node);

struct placement_range {
    int64_t low;
    int64_t high;
};

struct placement_range score_placement_range(const struct engine *engine, pod_id pod, const node_id *nodes,
                                             uint32_t count);
double score_placement_points(const struct engine *engine, pod_id pod, node_id node, struct placement_range range);
