/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "model/ids.h"
#include "model/shapes/shape.h"

enum pod_status {
    POD_PENDING,
    POD_GATED,
    POD_ALLOCATED,  // decided in this cycle, not yet carried out
    POD_PIPELINED,  // promised a place that others are leaving
    POD_BINDING,
    POD_BOUND,
    POD_RUNNING,
    POD_RELEASING,
    POD_STUCK,  // stuck in releasing: its room may not be promised to anyone
    POD_SUCCEEDED,
    POD_FAILED,
    POD_UNKNOWN,
    POD_DELETED,
    _POD_STATUS_MAX
};

/* Sets of statuses; `status_in(status, ACTIVE_ALLOCATED)`. */
enum {
    ALLOCATED_SET = 1 << POD_ALLOCATED | 1 << POD_BINDING | 1 << POD_BOUND | 1 << POD_RUNNING,  // charged to the queue
    ACTIVE_ALLOCATED = ALLOCATED_SET | 1 << POD_PIPELINED,                                      // counts for its gang
    ACTIVE_USED = ACTIVE_ALLOCATED | 1 << POD_RELEASING | 1 << POD_STUCK,                       // on a node's books
    ALIVE = ACTIVE_ALLOCATED | 1 << POD_PENDING | 1 << POD_GATED,
};

static inline bool status_in(uint32_t status, uint32_t set)
{
    return (1u << status & set) != 0;
}

/* "pending", "running", "stuck_in_releasing", ... */
const char *pod_status_name(enum pod_status status);
bool pod_status_find(const char *name, enum pod_status *ret_status);

/* The shared GPUs of a pod: one in nearly every case. */
struct group_list {
    uint32_t count;
    uint32_t is_owned;      // `many` is the pod's own heap memory, not the cycle's
    gpu_group one;          // when count is 1
    const gpu_group *many;  // when count is more
};

static inline gpu_group group_at(const struct group_list *list, uint32_t i)
{
    return list->count == 1 ? list->one : list->many[i];
}

struct pod_claim {
    uint32_t claim;  // in state->claims, NO_ID when there is none of that name
    uint32_t slot;   // its place there even so
    bool is_from_template;
    bool is_extended;  // for what it asks for as resources: of no use where device plugins hand them out
};

enum { POD_ROLE_LEADER = 1, POD_ROLE_HEAD = 2 };

struct pod {
    name_id name;
    name_id namespace;
    name_id uid;
    gang_id gang;      // NO_ID: belongs to none, is only booked
    uint32_t pod_set;  // index in its gang's tree; NO_ID when the set it names is not there
    request_id request;
    constraints_id constraints;
    labels_id labels;
    node_id node;         // where it is or is promised to be; NO_ID when nowhere
    uint32_t status;      // enum pod_status
    uint32_t is_virtual;  // its status is a simulation's
    uint32_t place;       // among the pods of its set, which are in task order
    bool is_present;
    bool is_foreign;      // another scheduler's
    bool is_reservation;  // holds a shared GPU for others: its GPU is not charged
    bool is_utility;      // a reservation or scaling pod: not taken from the cluster's total
    bool has_task_priority;
    bool is_task_priority_bad;  // the label is there but no number
    uint8_t roles;              // POD_ROLE_*: first in their set
    int32_t task_priority;
    node_id nominated_node;
    nsec_t created;
    nsec_t deleted;        // deletion time, 0 when it is not being deleted
    int64_t accepted_gpu;  // what its place costs its queue in GPUs, MIG not counted; billionths
    struct group_list groups;
    const struct pod_claim *claims;  // owned
    uint32_t claim_count;
    name_id gpu_resource;               // by which it asks for whole GPUs, 0: by several
    const struct numa_placement *numa;  // what it draws from its node's zones; NULL when nothing
    uint32_t numa_is_owned;             // heap memory of its own, not the cycle's
    /* Kept by the model. The first two are the lists' heap memory, which stays while a cycle points elsewhere. */
    gpu_group *own_groups;
    struct numa_placement *own_numa;
    name_id pod_set_name;
    node_id listed_node;    // the node that counts it as a reference
    uint32_t listed_place;  // in that node's `pods`, NO_ID when it is not in
    bool is_unsettled;
    uint8_t charge;       // enum charge: what its gang and queue count it for
    int64_t charged_gpu;  // accepted_gpu that they count
};
