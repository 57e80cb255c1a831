/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

struct engine;
struct gang_view;

/* Nodes that an attempt may use, by rank (that is, by name). */
struct node_set {
    bool is_all;  // every present node; `ids` is then state->nodes_by_rank
    const node_id *ids;
    uint32_t count;
};

struct node_set node_set_all(const struct engine *engine);

/*
 * Places the view's chunk, all of it or nothing, by operations of the statement under way. In a simulation places are
 * only promised. What stands in the way goes into the gang's verdict when this is no simulation.
 */
bool place_gang(struct engine *engine, const struct gang_view *view, struct node_set nodes, bool is_simulation);

/* Fit of the pod's request on what is idle, or on what is idle or being released. */
bool fits_idle(const struct engine *engine, pod_id pod, node_id node);
bool fits_sooner_or_later(const struct engine *engine, pod_id pod, node_id node);
