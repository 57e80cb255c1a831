/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/devices/claim.h"
#include "model/devices/numa.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/shapes/labels.h"
#include "model/shapes/shape.h"

/* Why a node takes no pods, as bits: cordoned, or a condition that is not what it should be. */
enum node_trouble {
    NODE_UNSCHEDULABLE = 1 << 0,
    NODE_NOT_READY = 1 << 1,
    NODE_MEMORY_PRESSURE = 1 << 2,
    NODE_DISK_PRESSURE = 1 << 3,
    NODE_PID_PRESSURE = 1 << 4,
    NODE_NETWORK_UNAVAILABLE = 1 << 5,
};

/* What a node's labels say that it is for. */
enum node_worker { WORKER_CPU = 1 << 0, WORKER_GPU = 1 << 1 };

enum mig_strategy { MIG_NONE, MIG_SINGLE, MIG_MIXED };

/*
 * A GPU of a node that several pods share, in MiB of its memory. The pods on it are those whose group list names `id`.
 */
struct shared_gpu {
    gpu_group id;
    uint32_t next;       // in the node's list, NO_ID at its end
    uint32_t is_marked;  // the whole GPU counts as releasing, since everything on it is
    int64_t used;
    int64_t allocated;
    int64_t releasing;
};

/*
 * A pod on the books of a node, with the status that it is booked under. A pod that is evicted here and promised a place
 * elsewhere is on two nodes' books at once: releasing here, pipelined there.
 */
struct held {
    pod_id pod;
    uint32_t next;                 // in the node's list, NO_ID at its end
    uint32_t status;               // enum pod_status
    uint32_t group_count;          // shared GPUs it sits on
    gpu_group group;               // the one, when group_count is 1
    const gpu_group *groups;       // all, when more
    int64_t charged_gpu;           // what was taken from the GPU dimension
    const struct device *devices;  // DRA GPUs it holds; owned when made by state_settle, else the cycle's
    uint32_t device_count;
    uint32_t devices_are_owned;
};

/* So many volumes of a CSI driver can be attached to a node. */
struct attach_limit {
    name_id driver;
    int64_t count;
};

struct node {
    name_id name;
    bool is_present;  // false: pods name it, but there is no such node (any more)
    bool is_gpu_memory_known;
    bool is_mig_enabled;
    bool has_dra_gpus;
    bool is_cpu_only;      // no GPU in any form
    bool hides_gpus;       // they are not in the cluster's total
    bool books_are_stale;  // a pod on it changed: its books are made anew before they are read
    enum mig_strategy mig_strategy;
    uint32_t troubles;  // enum node_trouble
    uint32_t workers;   // enum node_worker
    labels_id labels;
    const struct taint *taints;  // owned
    uint32_t taint_count;
    uint32_t rank;           // place among all nodes by name; kept by state_settle
    int64_t device_count;    // physical GPUs, for sharing
    int64_t gpu_memory_mib;  // of each device, a multiple of 100; 100 when unknown
    int64_t dra_gpus;        // devices that resource slices add
    uint32_t first_shared;   // state->shared_gpus
    uint32_t first_held;     // state->held
    uint32_t legacy_mig_pods;
    struct numa *numa;                   // owned; NULL when the node tells nothing
    struct attach_limit *attach_limits;  // owned
    uint32_t attach_limit_count;
    VEC(pod_id) pods;  // all that are on its books or will be when it appears, as of the last settle; unsorted
    /* Kept by the model. */
    bool clamps_idle_pods;
    bool has_derived_devices;  // device_count is what is allocatable
    uint32_t is_touched;       // a cycle changed its books
    uint32_t first_released;   // entries of state->held that a cycle took off the list
    uint32_t affine_pods;      // its part of state->affine_pods
    uint32_t references;       // pods and slices that name it
    int64_t plugin_gpus;       // allocatable GPUs without those of slices; billionths
    struct amounts foreign;    // what other schedulers' pods take of it
};

/* The four vectors of a node's books, each `state->res.count` long. */
struct books {
    int64_t *allocatable;
    int64_t *idle;
    int64_t *used;
    int64_t *releasing;
};
