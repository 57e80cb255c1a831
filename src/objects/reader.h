/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/time.h"
#include "model/ids.h"
#include "objects/object.h"

struct err;
struct object_notes;
struct state;

/* How objects are read. object_options_init() sets it to KAI's defaults. */
struct object_options {
    const char *scheduler_name;  // pods of other schedulers are only booked
    const char *queue_label;
    const char *node_pool_label;
    const char *mig_label;  // on nodes: they are cut into MIG slices
    const char *cpu_worker_label;
    const char *gpu_worker_label;
    bool restricts_nodes;         // only nodes with one of these two labels; GPUs count where the second is
    const char *reservation_app;  // label app of pods that hold a shared GPU
    bool has_partition;           // only one node pool's nodes, queues and pod groups
    const char *partition;        // its label's value; "": those that do not have the label
    bool flattens_queues;         // full-hierarchy-fairness=false: all queues but the roots hang under one
    bool is_strict;               // what admission would have refused is an error, but for a snapshot's objects
    bool is_whole;                // the input is a whole cluster: what it does not hold is not there
    bool trusts_numa_available;   // NUMA zones hold what their report says is left, not what placements leave
    const char *numa_ignored;     // resources that zones report and kubelets do not align: "a, b"; NULL: none
    nsec_t now;                   // for pods that are long in leaving; 0: not known
    nsec_t stuck_threshold;
};

void object_options_init(struct object_options *options);

/* Decodes objects into deltas of `state`. `objects` is where other objects are looked up. */
struct object_reader {
    struct state *state;
    const struct object_options *options;
    const struct object_set *objects;
    struct object_notes *notes;
    bool knows_config_maps;  // those that are not there do not exist; else nothing is said about them
    bool knows_volume_claims;
    struct arena scratch;  // of the object that is being decoded
};

void object_reader_init(struct object_reader *reader, struct state *state, const struct object_options *options,
                        const struct object_set *objects, struct object_notes *notes);
void object_reader_done(struct object_reader *reader);

/*
 * The object was added or changed: puts it into the state. Nothing for kinds that are only looked at. Returns 0 or what
 * is wrong with it, with the object and its place in the message.
 *
 * Some objects are read for the sake of others, which have to be decoded again when they change: a BindRequest for the
 * pod of its name, a NodeResourceTopology for the node of its name, a PersistentVolume or StorageClass for the claims
 * on it, a Namespace for pods with a namespaceSelector.
 */
MUST_CHECK int object_decode(struct object_reader *reader, const struct object *object, struct err *err);

/* The object is gone. */
void object_drop(struct state *state, const struct object *object);

/*
 * Devices that were chosen for GPUs which a pod asks for as a resource, as an AllocationResult has them, before there is
 * a claim. Nothing when the pod needs none.
 */
MUST_CHECK int claim_put_planned(struct state *state, struct arena *arena, pod_id pod, const struct json_at *allocation,
                                 struct err *err);

/* Does the object belong to the node pool that is read? */
bool object_in_partition(const struct object_options *options, const struct object *object);

/*
 * All objects of the set, phase by phase: workloads become pods as their controllers would make them, pods without a
 * pod group get one as KAI's grouper would make it, and everything becomes deltas. Adds to the set what it makes. The
 * first object that cannot be read ends it, with its place in the message.
 */
MUST_CHECK int object_set_decode(struct object_set *set, struct object_reader *reader, struct err *err);
