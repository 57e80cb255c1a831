/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/resources.h"

#define UNLIMITED (-1.0)

/* What a queue is promised and what it holds, resource by resource (SHARE_CPU, SHARE_MEMORY, SHARE_GPU). */
struct queue {
    name_id name;
    name_id display_name;
    name_id uid;
    name_id parent_name;  // 0: a root
    queue_id parent;      // NO_ID: a root, or the parent is not there
    bool is_present;
    bool is_orphan;  // it or an ancestor names a parent that is not there: takes no part
    uint32_t depth;  // 0 for roots
    int32_t priority;
    nsec_t created;
    bool has_preempt_min_runtime;
    bool has_reclaim_min_runtime;
    nsec_t preempt_min_runtime;
    nsec_t reclaim_min_runtime;
    double deserved[SHARE_COUNT];
    double limit[SHARE_COUNT];
    double weight[SHARE_COUNT];
    double usage[SHARE_COUNT];       // past use, normalised to the cluster's capacity
    struct amounts allocated;        // of pods in ALLOCATED_SET (in a cycle also of pipelined ones), with all below it
    struct amounts allocated_fixed;  // the part of it that may not be preempted
    struct amounts requested;        // of pending pods, without those that ask for GPU memory
    int64_t requested_memory_mib;    // of pending pods that ask for GPU memory: devices x MiB
    VEC(queue_id) children;          // by creation, then uid
    /* Kept by the model: the same amounts without the queues below, as of the last state_settle. */
    struct amounts own_allocated;
    struct amounts own_fixed;
    struct amounts own_requested;
    int64_t own_requested_memory_mib;
};
