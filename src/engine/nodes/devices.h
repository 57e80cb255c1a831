/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

struct affinity_memory;
struct claim;
struct device;
struct engine;
struct state;

/* Devices of a class; those of class 0 serve any, of which a driver's alone may be wanted. */
struct device_kind {
    name_id device_class;
    name_id driver;  // 0: any
};

/* Devices of dynamic resource allocation that a node can use: its own first, then those for all nodes. */
struct device_walk {
    const struct state *state;
    struct affinity_memory *memory;
    node_id node;
    struct device_kind kind;
    bool is_on_all_nodes;
    uint32_t slice;  // in the index of slices
    uint32_t device;
};

/* Walks over the free ones. Claims must not change on the way. */
void device_walk_begin(struct device_walk *walk, struct engine *engine, node_id node, struct device_kind kind);
bool device_walk_next(struct device_walk *walk, struct device *ret);

/* Free devices of the kind, counted up to `enough`. */
int64_t devices_count_free(struct engine *engine, node_id node, struct device_kind kind, int64_t enough);

/* Can pods on the node use all devices that the claim has, or had last? Does no claim hold any of them? */
bool devices_reach(struct engine *engine, const struct claim *claim, node_id node);
bool devices_are_free(struct engine *engine, const struct claim *claim);

/* The claim was given its devices just now. */
void devices_note_used(struct affinity_memory *memory, const struct claim *claim);
