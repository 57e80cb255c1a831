/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"

struct engine;

/*
 * The placement strategy `leaststranded`: GPUs stay usable because the CPU beside them is not used up.
 *
 * A free GPU is stranded when its node has too few free cores for the work that a GPU usually gets: of the free GPUs of a
 * node, those beyond (free cores / c) are stranded, with c the cores per GPU of the pods that run. A pod with GPUs goes to
 * the node where it strands the fewest GPUs more. GPUs that other pods are bound to by node selectors or node affinity
 * count as well: each GPU that the pod takes costs the part of the node's GPUs that such pods use. Nodes with equal cost
 * are ordered by free GPUs, the fewest first. A pod without GPUs goes to the node with the fewest free GPUs.
 *
 * c and the parts are learned from the pods that run when a cycle begins. They are rounded, so that the orders of nodes
 * that are kept between cycles seldom have to be made anew. All sums are of integers: no order of changes matters.
 */
struct stranding *stranding_new(void);
void stranding_free(struct stranding *stranding);
size_t stranding_bytes(const struct stranding *stranding);

/* Learns from the state, before its changes are marked as seen. True: costs have changed on nodes that did not. */
bool stranding_update(struct engine *engine);

/* The cost of the pod on the node; nodes with less come first. */
int64_t stranding_cost(const struct engine *engine, pod_id pod, node_id node);
