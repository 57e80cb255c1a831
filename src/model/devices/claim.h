/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "model/ids.h"

/* Dynamic resource allocation: devices that slices offer, and claims on them. */
struct device {
    name_id driver;
    name_id pool;
    name_id name;
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
};

enum { SLICE_DEVICES_MAX = 10000 };

struct device_class {
    name_id name;
    name_id resource;       // that it serves, 0: none
    name_id also_resource;  // the one that every class serves, by its name
    name_id driver;         // 0: any
    nsec_t created;
};

struct claim {
    name_id name;
    name_id namespace;
    bool is_present;
    bool is_plan;       // for GPUs that a pod asks for as a resource; the state's own, until the real one is made
    bool is_gpu;        // its device class is one of GPUs, and they are counted
    bool is_synthetic;  // for GPUs asked for as a resource: counted there
    name_id device_class;
    labels_id labels;
    int64_t count;
    /* A cycle changes what follows through the undo log, with lists of its own (state->scratch). */
    uint32_t is_allocated;  // with no device, too
    uint32_t device_count;
    uint32_t reserved_count;
    uint32_t lists_are_owned;  // heap memory of its own
    const struct device *devices;
    const name_id *reserved_for;  // UIDs of pods
    /* Kept by the model: the lists' heap memory, which stays while a cycle points elsewhere, and who names the claim. */
    struct device *own_devices;
    name_id *own_reserved;
    VEC(pod_id) users;
};
