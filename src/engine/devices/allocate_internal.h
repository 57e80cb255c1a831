/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/devices/allocate.h"

/* A device that may serve an ask. */
struct candidate {
    const struct slice *slice;
    uint32_t device;
    uint32_t number;
    bool is_error;  // it could not be judged
    bool is_share;
    const struct device_amount *amounts;  // that it would take of each capacity; NULL: all there is
};

/* One way to meet a request: what it asks for, and all devices that would do. */
struct option {
    const struct device_request *request;
    const struct device_ask *ask;
    const struct device_class *class;
    struct candidate *candidates;
    uint32_t candidate_count;
    uint32_t need;
    bool has_error;
};

struct wanted_request {
    struct option *options;
    uint32_t option_count;
};

struct wanted_claim {
    const struct claim *claim;
    struct wanted_request *requests;
    uint32_t request_count;
    bool is_plain;  // a class and a count are all that is known
};

/* Forgets the last search and looks at the node. */
void allocator_begin(struct allocator *allocator, node_id node);

/* Reads a claim and finds the candidates of all its requests. False when it can have nothing on the node. */
bool wanted_claim_read(struct allocator *allocator, node_id node, const struct claim *claim,
                       struct wanted_claim *ret_wanted);

static inline bool device_is_held(const struct allocator *allocator, uint32_t number)
{
    return bitset_test(allocator->held, allocator->inventory->canon.items[number]);
}

/* A capacity of which less is left than is to be taken of it; NULL: there is enough of all. `picks` count as well. */
const struct device_amount *capacity_lacking(const struct allocator *allocator, const struct device_offer *offer,
                                             uint32_t number, const struct device_amount *amounts,
                                             device_nano *ret_left);

/* A counter of which less is left than a device draws on it. */
struct counter_lack {
    const char *set;
    const char *counter;
    device_nano needed;
    device_nano left;
};

/* Does the device draw on counters? Shares of one draw on them once. */
bool pick_must_draw(const struct allocator *allocator, const struct pick *pick);

/* Do the counters have room for a device that draws on them? If not, the first that lacks some. `picks` count as well. */
bool counters_have_room(const struct allocator *allocator, const struct pick *pick);
bool counter_lacking(const struct allocator *allocator, const struct pick *pick, struct counter_lack *ret_lack);

/* Does the device meet the selectors of the class and the ask? */
enum answer device_meets(struct allocator *allocator, const struct option *option, const struct slice *slice,
                         uint32_t device, uint32_t number);

bool taints_are_tolerated(const struct device_offer *offer, const struct device_ask *ask);

/* Finds what the candidate would take of its capacities. False when that is not to be had, whatever else is picked. */
bool candidate_has_capacity(struct allocator *allocator, const struct device_ask *ask, struct candidate *candidate);

/* Sets the option's class by the name that its ask has. */
void option_find_class(const struct allocator *allocator, struct option *option);

/*
 * Finds the devices that only requests for all devices can have: what any other request takes of them is given back in the
 * end. False when there are none, or when to leave them out could change how the search ends.
 */
bool candidates_spare(const struct allocator *allocator, const struct wanted_claim *claims, uint32_t count,
                      struct bitset *ret_spares);

/* Devices of all slices that the node can use. */
uint32_t devices_in_view(const struct allocator *allocator);

/* Does the device meet the constraint, with those that were picked for the claim before? */
bool constraint_is_met(const struct allocator *allocator, const struct device_constraint *constraint,
                       const struct pick *pick);
