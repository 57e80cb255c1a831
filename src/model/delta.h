/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "model/devices/numa.h"
#include "model/devices/offer.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/resources.h"
#include "model/shapes/shape.h"

struct err;
struct state;

/*
 * Deltas: an object was added or changed (state_put_*) or is gone (state_drop_*).
 *
 * A spec says all of an object in plain strings and numbers; it is borrowed for the call alone. Putting an object that is
 * there replaces it. Objects may come in any order: a pod before its node, a gang before its queue. What cannot be (a
 * negative amount, a cycle of queues, a gang of too many groups) is refused with -EINVAL and changes nothing.
 */
struct str_pair {
    const char *key;
    const char *value;
};

/* `amount` in the unit of the resource's dimension (model/resources.h): thousandths, bytes, billionths, counts. */
struct amount_spec {
    const char *resource;
    int64_t amount;
};

struct taint_spec {
    const char *key;
    const char *value;
    enum taint_effect effect;
};

struct numa_zone_spec {
    const char *name;
    const struct amount_spec *allocatable;
    size_t allocatable_count;
    const struct amount_spec *available;
    size_t available_count;
};

struct numa_spec {
    enum numa_policy policy;
    bool is_pod_scope;
    bool reconstructs_available;  // available = allocatable less the placements of the pods on the node
    const struct numa_zone_spec *zones;
    size_t zone_count;
};

/* So many volumes of a CSI driver can be attached to a node. */
struct attach_limit_spec {
    const char *driver;
    int64_t count;
};

struct node_spec {
    const char *name;
    const struct str_pair *labels;
    size_t label_count;
    const struct taint_spec *taints;
    size_t taint_count;
    uint32_t troubles;  // enum node_trouble
    uint32_t workers;   // enum node_worker
    const struct amount_spec *allocatable;
    size_t allocatable_count;
    int64_t device_count;    // physical GPUs; -1: as many as are allocatable
    int64_t gpu_memory_mib;  // of each, as the label says, in MiB; 0: unknown. Rounded down to a multiple of 100
    bool is_gpu_memory_known;
    bool is_mig_enabled;
    enum mig_strategy mig_strategy;
    bool hides_gpus;               // they are not in the cluster's total
    const struct numa_spec *numa;  // NULL: none
    bool clamps_idle_pods;         // idle pod slots never start below 0 (recorded scenarios)
    const struct attach_limit_spec *attach_limits;
    size_t attach_limit_count;
};

MUST_CHECK int state_put_node(struct state *state, const struct node_spec *spec, struct err *err);
void state_drop_node(struct state *state, const char *name);

struct queue_spec {
    const char *name;
    const char *display_name;  // NULL: the name
    const char *uid;           // NULL: the name
    const char *parent;        // NULL or "": a root
    int32_t priority;
    nsec_t created;
    bool has_preempt_min_runtime;
    bool has_reclaim_min_runtime;
    nsec_t preempt_min_runtime;
    nsec_t reclaim_min_runtime;
    double deserved[SHARE_COUNT];  // thousandths of cores, bytes, devices; -1 unlimited
    double limit[SHARE_COUNT];
    double weight[SHARE_COUNT];
    double usage[SHARE_COUNT];
};

MUST_CHECK int state_put_queue(struct state *state, const struct queue_spec *spec, struct err *err);
void state_drop_queue(struct state *state, const char *name);

/* Past use alone, which comes by another road than the queue. Nothing when there is no such queue. */
void state_set_usage(struct state *state, const char *queue, const double usage[SHARE_COUNT]);

struct topology_constraint_spec {
    const char *topology;  // NULL or "": no constraint
    const char *required;  // label key or alias; NULL or "": none
    const char *preferred;
};

/* A group of a gang's tree, parents before children; entry 0 is the root, with parent -1. */
struct group_spec {
    const char *name;
    int32_t parent;
    bool is_pod_set;
    int32_t min;  // pod sets: pods needed; groups: children needed, -1 for all
    struct topology_constraint_spec topology;
};

struct gang_spec {
    const char *namespace;
    const char *name;
    const char *uid;  // NULL: namespace/name, or the name alone where there is no namespace
    const char *queue;
    int32_t priority;
    bool is_preemptible;
    nsec_t created;
    nsec_t last_start;  // 0: never
    nsec_t last_eviction;
    nsec_t stale_since;
    nsec_t preemption_delay;
    bool has_grace;
    nsec_t staleness_grace;
    bool has_tree_error;
    const struct group_spec *groups;  // at least the root and one pod set
    size_t group_count;
};

MUST_CHECK int state_put_gang(struct state *state, const struct gang_spec *spec, struct err *err);
void state_drop_gang(struct state *state, const char *namespace, const char *name);

struct request_spec {
    enum request_kind kind;
    enum qos_class qos;
    bool is_legacy_mig;
    int64_t gpus;                       // whole devices (REGULAR)
    uint32_t devices;                   // shared devices (FRACTION, GPU_MEMORY); 0 counts as 1
    double portion;                     // (0, 1], FRACTION
    int64_t memory_mib;                 // GPU_MEMORY
    const struct amount_spec *amounts;  // cpu, memory, MIG profiles, others; "pods" is always 1
    size_t amount_count;
};

struct match_spec {
    enum match_op op;
    const char *key;
    const char *const *values;
    size_t value_count;
};

struct selector_spec {
    const struct match_spec *all;
    size_t count;
};

struct toleration_spec {
    const char *key;  // NULL or "" with `exists`: every taint
    const char *value;
    bool exists;
    bool any_effect;
    enum taint_effect effect;
};

struct pod_term_spec {
    struct selector_spec selector;
    const char *const *namespaces;
    size_t namespace_count;
    bool all_namespaces;
    const char *topology_key;
    int32_t weight;
};

struct preferred_node_spec {
    struct selector_spec selector;
    int32_t weight;
};

struct host_port_spec {
    const char *address;
    uint16_t port;
    uint8_t protocol;
};

struct spread_spec {
    struct selector_spec selector;
    const char *topology_key;
    int32_t max_skew;
    bool is_hard;
};

struct constraints_spec {
    const struct str_pair *node_selector;
    size_t node_selector_count;
    bool has_node_selector;
    const struct selector_spec *node_terms;
    size_t node_term_count;
    const struct preferred_node_spec *preferred_nodes;
    size_t preferred_node_count;
    const struct toleration_spec *tolerations;
    size_t toleration_count;
    const struct pod_term_spec *affinity;
    size_t affinity_count;
    const struct pod_term_spec *anti_affinity;
    size_t anti_affinity_count;
    const struct pod_term_spec *preferred_pods;
    size_t preferred_pod_count;
    const struct spread_spec *spread;
    size_t spread_count;
    const struct host_port_spec *ports;
    size_t port_count;
    const char *const *volume_claims;
    size_t volume_claim_count;
    const char *const *config_maps;
    size_t config_map_count;
    const char *priority_class;
    int32_t priority;
};

struct pod_claim_spec {
    const char *name;
    bool is_from_template;
};

/* What whole GPUs are asked for by, unless a pod says otherwise. */
#define GPU_RESOURCE "nvidia.com/gpu"

struct numa_draw_spec {
    const char *zone;
    const char *resource;
    int64_t amount;
};

struct pod_spec {
    const char *namespace;
    const char *name;
    const char *uid;      // NULL: namespace/name, or the name alone where there is no namespace
    const char *gang;     // in the pod's namespace; NULL: none
    const char *pod_set;  // NULL or "": "default"
    nsec_t created;
    nsec_t deleted;
    enum pod_status status;
    const char *node;  // NULL or "": none
    const char *nominated_node;
    const char *const *gpu_groups;
    size_t gpu_group_count;
    const struct str_pair *labels;
    size_t label_count;
    struct request_spec request;
    struct constraints_spec constraints;
    const struct pod_claim_spec *claims;
    size_t claim_count;
    const char *gpu_resource;    // by which it asks for whole GPUs; NULL: GPU_RESOURCE, "": by several
    const char *extended_claim;  // that was made for those GPUs; NULL or "": none
    const struct numa_draw_spec *numa;
    size_t numa_count;
    bool is_foreign;
    bool is_reservation;
    bool is_utility;
    uint8_t roles;  // POD_ROLE_*
    bool has_task_priority;
    bool is_task_priority_bad;
    int32_t task_priority;
};

MUST_CHECK int state_put_pod(struct state *state, const struct pod_spec *spec, struct err *err);
void state_drop_pod(struct state *state, const char *namespace, const char *name);

/*
 * A pod's status alone, as time or a service brings it: no node and no groups for one that waits again. Books follow, and
 * a pod without a node holds no claims: one that only it held loses its devices.
 * (While a cycle runs, model/books/books.h is for that.)
 */
void state_move_pod(struct state *state, pod_id pod, enum pod_status status, node_id node, struct group_list groups);

/* The gang started now, or lost pods to an eviction now. */
void state_set_gang_times(struct state *state, gang_id gang, nsec_t last_start, nsec_t last_eviction,
                          nsec_t stale_since);

struct topology_spec {
    const char *name;
    const struct str_pair *levels;  // key: node label, value: alias or NULL
    size_t level_count;
};

MUST_CHECK int state_put_topology(struct state *state, const struct topology_spec *spec, struct err *err);
void state_drop_topology(struct state *state, const char *name);

MUST_CHECK int state_put_priority_class(struct state *state, const char *name, int32_t value, bool is_default,
                                        struct err *err);
void state_drop_priority_class(struct state *state, const char *name);

/* The value of the class called `name`; when there is none, of the default class, else 50. */
int32_t state_priority(const struct state *state, const char *name);

/*
 * A class of devices. Pods that ask for GPUs by the resource that it serves get devices of it, by a claim of their own,
 * where no device plugin hands that resource out. A class serves deviceclass.resource.kubernetes.io/<name> as well.
 */
struct device_class_spec {
    const char *name;
    const char *resource;          // NULL or "": none
    const char *driver;            // only devices of this driver are of the class; NULL or "": any
    nsec_t created;                // of several that serve a resource, the newest does, then the first by name
    const char *const *selectors;  // in CEL; a device of the class meets all
    size_t selector_count;
    const struct device_config *configs;
    size_t config_count;
};

void state_put_device_class(struct state *state, const struct device_class_spec *spec);
void state_drop_device_class(struct state *state, const char *name);

struct slice_spec {
    const char *name;
    const char *driver;
    const char *pool;
    const char *device_class;  // NULL or "": any class
    const char *node;          // NULL with is_for_all_nodes
    bool is_for_all_nodes;
    const char *const *devices;  // names; NULL: "0", "1", ... device_count - 1
    size_t device_count;
    int64_t generation;                 // of the pool; older slices of it are no more
    int64_t slice_count;                // of the pool at that generation; 0: not told, as many as there are
    bool has_device_nodes;              // each device says which nodes can use it
    struct node_reach reach;            // its terms count where the slice is neither of a node nor for all
    const struct device_offer *offers;  // one a device, or none
    size_t offer_count;
    const struct counter_set *counters;  // that the pool's devices share
    size_t counter_count;
};

MUST_CHECK int state_put_slice(struct state *state, const struct slice_spec *spec, struct err *err);
void state_drop_slice(struct state *state, const char *name);

struct device_spec {
    const char *driver;
    const char *pool;
    const char *device;
    const char *request;  // that it is for, "request/sub-request" where there are some; NULL: not told
    bool is_admin;        // others may have it as well
    bool is_share;        // others may have a part of it: this one takes these amounts of its capacities
    const struct device_amount *amounts;
    size_t amount_count;
};

struct claim_spec {
    const char *namespace;
    const char *name;
    const char *device_class;
    const struct str_pair *labels;
    size_t label_count;
    int64_t count;
    bool is_synthetic;
    bool is_allocated;
    const struct device_spec *devices;
    size_t device_count;
    const char *const *reserved_for;
    size_t reserved_count;
    struct claim_ask ask;  // without requests: `count` devices of the class
};

MUST_CHECK int state_put_claim(struct state *state, const struct claim_spec *spec, struct err *err);
/*
 * What quotas are charged for the claim's devices, in billionths of a GPU; below 0: its GPUs are counted. No delta: whoever
 * knows the devices works it out anew from what the state says.
 */
void state_charge_claim(struct state *state, uint32_t claim, int64_t charge);
void state_drop_claim(struct state *state, const char *namespace, const char *name);

/* A claim on a volume, as far as placement needs it. */
struct volume_spec {
    const char *namespace;
    const char *name;
    bool is_bound;
    bool is_lost;                            // lost, or being deleted
    bool waits_for_consumer;                 // its class binds when a pod is placed
    const struct selector_spec *node_terms;  // of the volume, or those it may get: one must match
    size_t node_term_count;
    bool is_for_one_pod;  // ReadWriteOncePod
    const char *driver;   // that attaches its volume; NULL or "": none whose volumes are counted
    const char *handle;   // the volume's name there; NULL or "": there is no volume yet
    /* Of a volume that has yet to be made. */
    const char *class;                       // NULL or "": none makes it
    const char *made_for;                    // the node that it is being made for; NULL or "": none
    const struct selector_spec *made_terms;  // nodes that the class makes volumes for; none: all
    size_t made_term_count;
    bool needs_storage;  // its driver tells where it has room, by storage_spec
    int64_t bytes;
};

MUST_CHECK int state_put_volume(struct state *state, const struct volume_spec *spec, struct err *err);
void state_drop_volume(struct state *state, const char *namespace, const char *name);

/* Volumes of the class with up to so many bytes can be made for these nodes (CSIStorageCapacity). */
struct storage_spec {
    const char *namespace;
    const char *name;
    const char *class;
    struct selector_spec nodes;
    int64_t bytes;
};

MUST_CHECK int state_put_storage(struct state *state, const struct storage_spec *spec, struct err *err);
void state_drop_storage(struct state *state, const char *namespace, const char *name);

void state_put_config_map(struct state *state, const char *namespace, const char *name);
void state_drop_config_map(struct state *state, const char *namespace, const char *name);
