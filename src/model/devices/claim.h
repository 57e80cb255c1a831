/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "model/devices/offer.h"
#include "model/ids.h"

/* Dynamic resource allocation: devices that slices offer, and claims on them. */
struct device {
    name_id driver;
    name_id pool;
    name_id name;
    name_id request;    // of the claim that has it, 0: not told
    uint32_t is_admin;  // others may have it as well
    /* Of a device that others may have a part of: what this one takes, in the claim's list of amounts. */
    uint32_t is_share;
    uint32_t first_amount;
    uint32_t amount_count;
};

struct slice {
    name_id name;
    bool is_present;
    name_id driver;
    name_id pool;
    name_id device_class;  // 0: its devices serve any class of that driver
    node_id node;          // NO_ID with is_for_all_nodes
    bool is_for_all_nodes;
    bool is_gpu;            // the driver's name says so
    uint32_t offered;       // devices in all
    uint32_t device_count;  // those with names: all, but no more than SLICE_DEVICES_MAX
    name_id *devices;       // names, owned
    int64_t generation;
    int64_t slice_count;  // of its pool; 0: not told
    bool has_device_nodes;
    struct node_reach reach;
    struct device_offer *offers;  // by device; NULL: nothing is said of them
    struct counter_set *counters;
    uint32_t counter_count;
    void *kept;  // what these point to
};

enum { SLICE_DEVICES_MAX = 10000 };

struct device_class {
    name_id name;
    name_id resource;       // that it serves, 0: none
    name_id also_resource;  // the one that every class serves, by its name
    name_id driver;         // 0: any
    nsec_t created;
    const char *const *selectors;
    const struct device_config *configs;
    uint32_t selector_count;
    uint32_t config_count;
    void *kept;  // what these point to
};

struct claim {
    name_id name;
    name_id namespace;
    bool is_present;
    bool is_plan;       // for what a pod asks for as resources; the state's own, until the real one is made
    bool is_gpu;        // its device class is one of GPUs, and they are counted
    bool is_synthetic;  // for what a pod asks for as resources: counted there
    name_id device_class;
    labels_id labels;
    int64_t count;
    /* What quotas are charged for it, in billionths of a GPU; without `has_charge` `count` GPUs, or nothing. */
    bool has_charge;
    uint32_t charged_devices;  // that it had then, and one; 0: it was not allocated
    uint64_t charge_clock;     // state->device_clock then, and one; 0: it is to be charged anew
    int64_t charge;
    struct claim_ask ask;  // without requests: `count` devices of the class
    void *kept_ask;        // what it points to
    /* A cycle changes what follows through the undo log, with lists of its own (state->scratch). */
    uint32_t is_allocated;  // with no device, too
    uint32_t device_count;
    uint32_t reserved_count;
    uint32_t lists_are_owned;  // heap memory of its own
    const struct device *devices;
    const name_id *reserved_for;          // UIDs of pods
    const struct device_amount *amounts;  // that its shares of devices take
    uint32_t amount_count;
    /* Kept by the model: the lists' heap memory, which stays while a cycle points elsewhere, and who names the claim. */
    struct device *own_devices;
    name_id *own_reserved;
    struct device_amount *own_amounts;
    VEC(pod_id) users;
};
