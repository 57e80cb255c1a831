/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/chunks.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/devices/claim.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/queue.h"
#include "model/resources.h"
#include "model/shapes/shape.h"
#include "model/tap.h"
#include "model/topology.h"
#include "model/undo.h"
#include "model/volume.h"

/*
 * The state of a cluster: everything that decisions depend on, kept and changed by deltas (model/delta.h), never rebuilt.
 *
 * Whoever changes the state between two cycles calls state_settle once before the next one reads it: it makes anew what
 * the changes made stale, at a cost that follows the changes. During a cycle all changes go through model/books/books.h.
 */

/* A list of ids in which each stands at most once; `place` is kept by the list. */
struct id_set {
    VEC(uint32_t) ids;
    VEC(uint32_t) place;  // by id: its index in `ids`, NO_ID when it is not in
};

void id_set_add(struct id_set *set, uint32_t id);     // nothing when it is in
void id_set_remove(struct id_set *set, uint32_t id);  // nothing when it is not; the last one takes its place
bool id_set_has(const struct id_set *set, uint32_t id);
void id_set_clear(struct id_set *set);
void id_set_done(struct id_set *set);

struct priority_class {
    name_id name;
    int32_t value;
    bool is_default;
};

struct words VEC_OF(uint32_t);

/* An interned shape in canonical form: equal words, equal shape. */
struct shape_key {
    const uint32_t *words;
    uint32_t count;
};

/* What changed since whoever keeps something beside the state last looked, who empties it (state_changes_seen). */
struct changes {
    struct id_set nodes;  // books, labels, conditions, or gone
    struct id_set gangs;  // pods, statuses, fields, or gone
    bool nodes_static;    // some node came, went, or changed labels, taints, conditions or capacity
    bool queues;          // some queue came, went or changed its settings
    bool topologies;
    bool requests;  // a dimension or a device class came or went
};

struct state {
    struct intern names;
    struct resources res;
    struct undo undo;
    struct delta_tap tap;  // see tap.h

    VEC(struct node) nodes;
    VEC(int64_t) book_rows;     // state_books(): four vectors of res.count a node
    uint32_t book_dims;         // res.count that book_rows is laid out for
    struct chunks shared_gpus;  // struct shared_gpu of all nodes' lists, which never move
    struct chunks held;         // struct held, likewise
    uint32_t free_shared;       // lists of unused entries, made by state_settle
    uint32_t free_held;

    VEC(struct pod) pods;
    VEC(struct gang) gangs;
    VEC(struct queue) queues;
    VEC(struct topology) topologies;
    VEC(struct slice) slices;
    VEC(struct claim) claims;
    VEC(struct volume) volumes;
    VEC(struct storage) storages;
    VEC(struct priority_class) priority_classes;
    VEC(struct device_class) device_classes;
    VEC(struct request) requests;
    VEC(struct constraints) constraints;
    VEC(struct labels) labels;
    struct arena kept;           // what interned requests, constraints and labels point to
    struct arena scratch;        // lists that a cycle makes; state_settle copies those that stayed and empties it
    struct id_set scratch_pods;  // pods and claims that may point into it
    struct id_set scratch_claims;

    struct map64 node_by_name;  // keys: a name_id, or namespace << 32 | name
    struct map64 pod_by_name;
    struct map64 gang_by_name;
    struct map64 queue_by_name;
    struct map64 topology_by_name;
    struct map64 slice_by_name;
    struct map64 claim_by_name;
    struct map64 volume_by_name;  // PersistentVolumeClaims -> index in `volumes`
    struct map64 storage_by_name;
    struct map64 config_maps;      // that exist
    struct map64 request_by_hash;  // first of a chain; see shape.c
    struct map64 constraints_by_hash;
    struct map64 labels_by_hash;
    VEC(uint32_t) request_next;
    VEC(uint32_t) constraints_next;
    VEC(uint32_t) labels_next;

    VEC(node_id) nodes_by_rank;  // present nodes by name; kept by state_settle
    /* Sets of present gangs as of the last state_settle: a cycle sees them as they were when it began. */
    struct id_set pending_gangs;  // with at least one pending pod
    struct id_set active_gangs;   // with at least one ACTIVE_ALLOCATED pod
    struct id_set stale_gangs;    // short of pods in some set while others run, or marked stale
    uint32_t affine_pods;         // pods with inter-pod affinity of any kind on some node's books
    struct amounts total;         // what the ready nodes have, less what foreign pods take
    int64_t min_gpu_memory_mib;   // over nodes that tell (more than 100); 100 when none does
    int64_t max_gpu_memory_mib;
    uint64_t fresh_groups;  // shared GPUs opened so far
    uint64_t device_clock;  // moves on with each change of slices and device classes
    struct changes changes;
    bool totals_are_stale;
    bool ranks_are_stale;
    bool queues_are_stale;  // parents, children and depths have to be linked anew
    bool has_numa;

    /* What is left for state_settle, and memory that is used again. */
    bool queue_books_are_stale;
    uint32_t change_clock;  // source of gang.changed; never goes back
    struct id_set unsettled_nodes;
    VEC(pod_id) unsettled_pods;
    VEC(gang_id) unsettled_gangs;
    VEC(void *) discarded;  // heap memory that something may still point to until state_settle
    VEC(uint32_t) unused_nodes;
    VEC(uint32_t) unused_pods;
    VEC(uint32_t) unused_gangs;
    VEC(uint32_t) unused_queues;
    VEC(uint32_t) unused_slices;
    VEC(uint32_t) unused_claims;
    VEC(uint32_t) unused_volumes;
    VEC(uint32_t) unused_storages;
    VEC(struct shape_key) request_keys;
    VEC(struct shape_key) constraints_keys;
    VEC(struct shape_key) labels_keys;
    struct words words;  // a shape being put into canonical form
};

struct state *state_new(void);
void state_free(struct state *state);

/* Makes anew what deltas left stale: links of queues, ranks and books of nodes, totals. Must precede each cycle. */
void state_settle(struct state *state);

/* Whoever follows the changes has taken them in. */
void state_changes_seen(struct state *state);

/* Bytes that the state holds: what it would take to hold the same objects again, without slack of its allocator. */
size_t state_bytes(const struct state *state);

static inline const char *state_name(const struct state *state, name_id name)
{
    return intern_str(&state->names, name);
}

static inline struct books state_books(const struct state *state, node_id node)
{
    int64_t *row = state->book_rows.items + (size_t)node * 4 * state->book_dims;
    return (struct books){row, row + state->book_dims, row + 2 * (size_t)state->book_dims,
                          row + 3 * (size_t)state->book_dims};
}

static inline struct shared_gpu *state_shared_gpu(const struct state *state, uint32_t i)
{
    return chunks_at(&state->shared_gpus, i);
}

static inline struct held *state_held(const struct state *state, uint32_t i)
{
    return chunks_at(&state->held, i);
}

static inline const struct request *state_request(const struct state *state, pod_id pod)
{
    return &state->requests.items[state->pods.items[pod].request];
}

static inline const struct constraints *state_constraints(const struct state *state, pod_id pod)
{
    return &state->constraints.items[state->pods.items[pod].constraints];
}

static inline struct labels state_labels(const struct state *state, labels_id labels)
{
    return state->labels.items[labels];
}

node_id state_find_node(const struct state *state, const char *name);
pod_id state_find_pod(const struct state *state, const char *namespace, const char *name);
gang_id state_find_gang(const struct state *state, const char *namespace, const char *name);
queue_id state_find_queue(const struct state *state, const char *name);
const struct device_class *state_find_device_class(const struct state *state, name_id name);  // NULL: none
topology_id state_find_topology(const struct state *state, name_id name);

/*
 * Does a device class serve this resource, which is not GPUs? Nodes without a plugin for it have as much of it idle as
 * anybody may ask for: their devices limit it.
 */
#define SERVED_IDLE (INT64_C(1) << 40)
bool state_class_serves(const struct state *state, uint32_t dim);

/* Does a device plugin of the node hand the resource out? */
bool state_plugin_serves(const struct state *state, node_id node, const char *resource);

/* Does the pod, by a claim for what it asks for as resources, need devices on the node? */
bool pod_needs_devices_on(const struct state *state, pod_id pod, node_id node);
