/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/action.h"
#include "model/ids.h"
#include "model/pod.h"
#include "model/undo.h"

struct engine;

/*
 * The statement: the operations of the attempt under way, simulated on the state and taken back, or kept and carried out.
 * There is one at a time. A checkpoint is the number of operations so far.
 */
enum operation_kind { OP_EVICT, OP_PIPELINE, OP_ALLOCATE, OP_UNEVICT };

struct operation {
    enum operation_kind kind;
    pod_id pod;
    node_id node;         // where it was evicted from, or placed
    bool is_valid;        // false: an eviction that was taken back in place, an allocation turned into a promise
    uint32_t evict;       // OP_UNEVICT: the eviction that it takes back
    undo_mark after;      // the undo log with it
    uint32_t old_status;  // OP_EVICT: what the pod was
    uint32_t old_virtual;
    struct group_list old_groups;
    const struct numa_placement *old_numa;
};

/* Starts recording. The statement must be empty. */
void statement_begin(struct engine *engine);

uint32_t statement_checkpoint(const struct engine *engine);

/* Takes back everything since the checkpoint, bit for bit. */
void statement_rollback(struct engine *engine, uint32_t checkpoint);

/* Takes back everything and stops recording. */
void statement_discard(struct engine *engine);

/* Keeps everything: decisions are appended in order, allocated pods become binding, and recording stops. */
void statement_commit(struct engine *engine, enum action action, gang_id on_behalf);

/* Has the pod leave its node: what it holds is being released, and may be promised to others. */
void statement_evict(struct engine *engine, pod_id pod);

/*
 * Promises the pod a place on the node. A pod that the statement evicted from there, and whose shared GPUs, NUMA zones and
 * devices stay the same, is put back as it was instead (unless `updates`); pods that the statement has promised these
 * devices get others, if there are any. `groups` is for shared requests, else count 0; `numa` may be NULL. False when
 * nothing could be done: the node holds the pod, but no eviction of it is there to take back.
 */
bool statement_pipeline(struct engine *engine, pod_id pod, node_id node, bool updates, struct group_list groups,
                        const struct numa_placement *numa);

/* Places the pod on the node, where there is room for it now; `groups` and `numa` as above. */
void statement_allocate(struct engine *engine, pod_id pod, node_id node, struct group_list groups,
                        const struct numa_placement *numa);

/* Turns every allocation of the gang into a promise of the same place. */
void statement_convert(struct engine *engine, gang_id gang);
