/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "model/ids.h"

struct err;
struct state;

/*
 * One change of a cluster, as `muster whatif` takes it:
 *
 *     queue/research.quota=16          quota, limit or weight in GPUs; research.cpu.quota for cores, .memory. for bytes
 *     queue/research.priority=200
 *     workload/lab/train.priority=100
 *     workload/lab/train=gone
 *     node/gpu-3=lost                  the node and its pods are gone; pods of gangs wait again
 *     node/gpu-3=drained               no pod may go there, and its pods wait again
 *     node/gpu-3=+2                    two more nodes like it
 *     new=job.yaml                     what the file describes is there as well; the caller reads it
 */
enum whatif_kind {
    WHATIF_QUEUE_QUOTA,
    WHATIF_QUEUE_LIMIT,
    WHATIF_QUEUE_WEIGHT,
    WHATIF_QUEUE_PRIORITY,
    WHATIF_WORKLOAD_PRIORITY,
    WHATIF_WORKLOAD_GONE,
    WHATIF_NODE_LOST,
    WHATIF_NODE_DRAINED,
    WHATIF_NODE_ADDED,
    WHATIF_NEW,
};

enum { WHATIF_NAME_MAX = 512, WHATIF_NODES_MAX = 10000 };

struct whatif_change {
    const char *text;  // as given; borrowed
    enum whatif_kind kind;
    char name[WHATIF_NAME_MAX];  // of the queue, the workload or the node; of the file
    int resource;                // SHARE_*, of a queue's quota, limit and weight
    double value;                // in the unit of the resource, -1: unlimited; a priority; a number of nodes
};

/* Does the word look like a change? All others are paths. */
bool whatif_is_change(const char *word);

/* Returns 0, or -EINVAL with what was expected. Keeps `text`. */
MUST_CHECK int whatif_change_parse(struct whatif_change *ret, const char *text, struct err *err);

/*
 * A copy of the settled state with the changes made; changes of kind NEW are the caller's. -ENOENT when a change names
 * something that is not there.
 */
MUST_CHECK int whatif_apply(const struct state *from, const struct whatif_change *changes, size_t count,
                            struct state **ret, struct err *err);
