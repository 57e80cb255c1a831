/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "engine/devices/selectors.h"
#include "model/state.h"

/*
 * All devices that slices offer, by number: those of a slice stand together. It is made anew when slices or classes have
 * changed; what nodes' labels and claims decide is made anew each cycle.
 */
struct inventory {
    bool is_made;
    uint64_t clock;         // state->device_clock that it is for
    VEC(uint32_t) first;    // by slice id: its first device
    VEC(uint32_t) ordered;  // slices by driver, pool and name: those of a pool stand together
    VEC(uint32_t) rank;     // by slice id: its place there
    VEC(uint32_t) on_node;  // slices of one node, by node; from node_start[node] on
    VEC(uint32_t) node_start;
    VEC(uint32_t) shared;  // slices that are not of one node, or have counters
    struct map64 by_key;   // (driver, pool) -> number << 32; see device_number()
    struct map64 numbers;  // number of the pool << 32 | name -> device
    VEC(uint32_t) canon;   // by device: the one of the same names that stands for it
    uint32_t device_count;
    struct selector_book selectors;
};

void inventory_done(struct inventory *inventory);
size_t inventory_bytes(const struct inventory *inventory);

/* Brings it up to date with the state's slices. */
void inventory_refresh(struct inventory *inventory, const struct state *state);

/* A pool as a node sees it. */
struct pool_view {
    uint32_t first;  // its slices that have devices for the node: in `slices` of the view
    uint32_t count;
    uint32_t pool_start;  // all its slices: in `ordered` of the inventory
    uint32_t pool_end;
    int64_t generation;
    bool is_incomplete;
    bool is_invalid;
    bool has_conditions;  // such pools come last
};

struct node_view {
    VEC(uint32_t) slices;
    VEC(struct pool_view) pools;
};

void node_view_done(struct node_view *view);
void node_view_make(struct node_view *view, const struct inventory *inventory, const struct state *state, node_id node);

/* The pool's name; without one it is the node's own. */
name_id slice_pool_name(const struct state *state, const struct slice *slice);

/* Can pods on the node use the slice's device? */
bool device_reaches_node(const struct state *state, const struct slice *slice, uint32_t device, node_id node);

/* The number of a device by its names; NO_ID when no slice offers it. Its slice and place there. */
uint32_t device_number(const struct inventory *inventory, name_id driver, name_id pool, name_id name);
const struct slice *device_slice(const struct inventory *inventory, const struct state *state, uint32_t number,
                                 uint32_t *ret_device);
