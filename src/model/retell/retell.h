/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/tap.h"

struct err;
struct state;

/*
 * A copy of a state, with one change made on the way: what `why` tries its remedies on.
 *
 * The copy is made through deltas: each object is said again, as the source holds it, to an empty state. It shares
 * nothing with the source and is what the same input with the change in it would have given. Ids may differ: objects are
 * found by name.
 */
enum request_part {
    REQUEST_PART_NONE,
    REQUEST_PART_GPUS,        // whole devices
    REQUEST_PART_PORTION,     // hundredths of a device; makes a request for whole ones a fraction
    REQUEST_PART_GPU_MEMORY,  // MiB of each device
    REQUEST_PART_DEVICES,     // shared ones
    REQUEST_PART_AMOUNT,      // of the dimension `dim`, in its unit
};

struct queue_change {
    queue_id queue;
    int resource;   // SHARE_*
    bool is_limit;  // else the quota
    double value;
};

struct retell_change {
    gang_id gang;  // that this is about; ids are those of the source

    enum request_part part;  // of what its waiting pods with the request `request` ask for
    request_id request;
    uint32_t dim;
    int64_t value;

    const char *claim_request;  // of open claims of its waiting pods, by its full name; NULL: none changes
    const char *claim_class;    // that this request is for, NULL: as it is
    int64_t claim_devices;      // that it asks for, 0: as it is

    const char *queue;       // that it moves to, NULL: it stays
    bool is_preemptible;     // it becomes preemptible
    bool drops_node_limits;  // its pods' node selectors and required node affinity go
    bool tolerates_all;      // its pods tolerate every taint
    uint32_t min_group;      // whose minimum is `min`, NO_ID: as it is
    int32_t min;
    uint32_t level_group;  // whose required level is `level`, NO_ID: as it is
    const char *level;     // NULL: the group has no constraint any more

    const struct queue_change *queues;
    size_t queue_count;
    gang_id without;  // a gang that is gone with its pods, NO_ID: none
    bool is_emptied;  // no other pod is there, and no queue has a quota or a limit
};

/* A change that changes nothing. */
#define RETELL_CHANGE_INIT(gang_)                                                   \
    (struct retell_change)                                                          \
    {                                                                               \
        .gang = (gang_), .min_group = NO_ID, .level_group = NO_ID, .without = NO_ID \
    }

/* The source must be settled. */
struct state *state_retell(const struct state *from, const struct retell_change *change);

/*
 * Tells all of a settled state as deltas, in an order in which each finds what it refers to. Unlike in a copy, shared
 * GPUs that nobody named stay without a name and keep their numbers, so that they are taken in the same order.
 */
void state_as_deltas(const struct state *from, delta_fn fn, void *arg);

/*
 * The pod could not be bound on the node: volumes that were to be made for it were not. The state prefers other nodes for them,
 * as after a provisioner that gave up.
 */
void state_fail_volumes(struct state *state, pod_id pod, name_id node);

/* Says the node again, as the state holds it, with other troubles: it fails, or is well again. */
int state_set_troubles(struct state *state, node_id id, uint32_t troubles, struct err *err);
