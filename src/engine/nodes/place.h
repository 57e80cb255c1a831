/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/node_set.h"
#include "model/ids.h"

struct engine;
struct gang_view;

/*
 * Places the view's chunk, all of it or nothing, by operations of the statement under way. In a simulation places are
 * only promised. What stands in the way goes into the gang's verdict when this is no simulation.
 */
bool place_gang(struct engine *engine, const struct gang_view *view, struct node_set nodes, bool is_simulation);

/* Fit of the pod's request on what is idle, or on what is idle or being released. */
bool fits_idle(const struct engine *engine, pod_id pod, node_id node);
bool fits_sooner_or_later(const struct engine *engine, pod_id pod, node_id node);
