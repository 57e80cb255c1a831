/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bitset.h"
#include "base/vec.h"
#include "engine/devices/inventory.h"
#include "engine/devices/shares.h"

/*
 * Devices for claims on a node, as Kubernetes 1.36 allocates them: requests in order, for each the first devices that
 * serve it, going back where that leaves nothing for a later one.
 */

/* A device for a claim. */
struct pick {
    uint32_t claim;   // index in the list that was given
    uint32_t number;  // of the device
    const struct slice *slice;
    uint32_t device;  // in the slice
    const char *driver;
    const struct device_request *request;  // NULL: the claim just has a class and a count
    const struct device_ask *ask;
    const struct device_amount
        *amounts;  // that it takes of the device's capacities; with `is_share`, others may have the rest
    uint32_t amount_count;
    bool is_share;
    bool draws;  // on counters: the first share of a device does for all
};

struct allocator {
    struct inventory *inventory;
    const struct state *state;
    const struct bitset *held;        // by device: some claim has it, and not just to look at it
    const struct share_book *shares;  // by device: what claims have of those that they share
    struct arena arena;               // of one search
    struct bitset taken;              // by device: in `picks`, and not just to look at
    VEC(struct pick) picks;
    struct node_view view;
    uint32_t steps;
    /* To see what stands in the way: */
    bool ignores_counters;
    uint32_t most_steps;  // 0: as many as when devices are to be given
};

void allocator_done(struct allocator *allocator);

/*
 * Finds devices for all claims, or returns false. The picks stand in allocator->picks, claim by claim, until the next
 * call. `held` has a bit for each device of the inventory, which is up to date; it and `shares` know devices by device_number().
 */
bool allocator_find(struct allocator *allocator, node_id node, const struct claim *const *claims, uint32_t count);

/* Do the counters of their pools have room for these devices on the node, beside those that are held? */
bool allocator_counters_allow(struct allocator *allocator, node_id node, const struct device *devices, uint32_t count);

/* Does the ask tolerate the taint? One without an effect asks for nothing. */
bool taint_is_tolerated(const struct device_taint *taint, const struct device_ask *ask);

/* A part of a selector, one of several that have to be true, and how many devices meet it. */
struct claim_part {
    const char *text;
    uint32_t met;
};

/* What stands in the way of a claim on a node, as far as one thing does. What it points to lasts until the next search. */
struct claim_problem {
    bool is_known;
    const char *request;             // by its full name; NULL: it is the requests together
    const char *class;               // that is not there
    const char *selector;            // that no device meets which met those before it
    uint32_t met;                    // devices that met those before
    const struct claim_part *parts;  // of the selector, when there are several
    uint32_t part_count;
    const struct device_taint *taint;  // the first that is not tolerated
    uint32_t taint_count;              // devices that meet all selectors and have a taint that is not tolerated
    uint32_t wanted;                   // devices that the request asks for
    uint32_t suitable;                 // devices that would do, held or not
    uint32_t free;                     // those of them that are free
    bool is_unjudged;                  // a selector failed with an error
    const char *pool;                  // whose slices are not all there
    /* Devices that meet all selectors and have too little of a capacity, and the one that has most of it left. */
    uint32_t short_count;
    const char *capacity;
    const char *capacity_device;
    enum share_answer capacity_answer;
    device_nano capacity_needed;
    device_nano capacity_left;
    /* Devices that would be free, but for a counter; with no request, what they draw on it together. */
    uint32_t counter_count;
    const char *counter_set;
    const char *counter;
    device_nano counter_needed;
    device_nano counter_left;
    const struct device_constraint *constraint;  // without which the claim could have devices
};

void allocator_explain(struct allocator *allocator, node_id node, const struct claim *claim,
                       struct claim_problem *ret_problem);

/* Appends the problem in words, beginning with a colon: it follows the name of the claim or the request. */
struct strbuf;
void claim_problem_write(const struct claim_problem *problem, struct strbuf *out);
