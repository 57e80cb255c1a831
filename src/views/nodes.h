/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/arena.h"
#include "base/time.h"
#include "base/vec.h"
#include "views/objects.h"

/* Nodes with their GPUs. */
struct node_row {
    const char *name;
    const char *state;   // "Ready", "NotReady", "Unknown", with ",Cordoned" behind it
    const char *pool;    // node pool; "" for the default one
    const char *model;   // of its GPUs: "NVIDIA-H100-80GB-HBM3"; ""
    const char *reason;  // why it is not ready; ""
    bool is_ready, is_cordoned;
    int64_t gpus;             // allocatable
    int64_t gpus_milli_used;  // allocated to pods, GPUs that are shared count whole
    int64_t gpu_memory_mib;   // of one GPU; 0: not known
    int64_t milli_cpus, milli_cpus_used;
    int64_t memory_bytes, memory_bytes_used;
    int64_t pods;
    nsec_t created;
};

struct node_rows VEC_OF(struct node_row);

/* All nodes by name. The rows are in `ret`, their texts in `arena` and in the objects. */
void node_rows_make(const struct view_objects *objects, struct arena *arena, struct node_rows *ret);

/* The row as JSON; everything is copied into `doc`. */
yyjson_mut_val *node_row_encode(const struct node_row *row, yyjson_mut_doc *doc);
