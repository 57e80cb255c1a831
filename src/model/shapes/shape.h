/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/shapes/labels.h"

/*
 * What a pod asks for and where it may go. Both are interned: pods of one gang, and most pods of one team, share them,
 * so that whatever is computed for one pod (the nodes that may take it, in which order) serves all pods like it.
 */

enum request_kind {
    REQUEST_REGULAR,     // whole GPUs, or none
    REQUEST_FRACTION,    // a fraction of each of `devices` shared GPUs
    REQUEST_GPU_MEMORY,  // so many MiB on each of `devices` shared GPUs
    REQUEST_MIG,         // MIG slices, which are dimensions of their own
};

/* Quality of service, as the kubelet would class the pod; NUMA alignment looks at it. */
enum qos_class { QOS_UNSET, QOS_GUARANTEED, QOS_BURSTABLE, QOS_BEST_EFFORT };

struct request {
    enum request_kind kind;
    enum qos_class qos;
    uint32_t devices;    // shared GPUs asked for, 1 unless FRACTION or GPU_MEMORY say more; whole ones are in `v`
    bool is_cpu_only;    // no GPU in any form
    bool is_legacy_mig;  // MIG asked for by annotation: keeps running, is never placed
    double portion;      // of each device, as asked: FRACTION only
    int64_t memory_mib;  // of each device: GPU_MEMORY only
    int64_t gpus;        // GPUs(): round(portion*100)*devices/100, or whole devices; billionths, without DRA
    int64_t dra_gpus;    // devices of DRA claims; billionths
    int64_t dra_parts;   // what quotas are charged for claims above dra_gpus; below 0 for parts of GPUs
    int64_t quota_gpus;  // gpus + dra_gpus + dra_parts + MIG slices; billionths
    const int64_t *v;    // the request vector; entries past v_count are 0
    uint32_t v_count;
};

static inline bool request_is_shared(const struct request *request)
{
    return request->kind == REQUEST_FRACTION || request->kind == REQUEST_GPU_MEMORY;
}

enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE, _TAINT_EFFECT_MAX };

struct taint {
    name_id key;
    name_id value;
    enum taint_effect effect;
};

struct toleration {
    name_id key;  // 0 with `exists`: every taint
    name_id value;
    bool exists;  // operator Exists: any value
    bool any_effect;
    enum taint_effect effect;
};

/* A required or preferred term of inter-pod (anti)affinity. Namespaces: the pod's own when none are named. */
struct pod_term {
    struct selector selector;
    const name_id *namespaces;
    uint32_t namespace_count;
    bool all_namespaces;  // an empty namespaceSelector
    name_id topology_key;
    int32_t weight;  // preferred terms only; 0 for required ones
};

struct preferred_node_term {
    struct selector selector;
    int32_t weight;
};

struct host_port {
    name_id address;  // "" stands for every address
    uint16_t port;
    uint8_t protocol;  // 0 TCP, 1 UDP, 2 SCTP
};

struct spread_term {
    struct selector selector;
    name_id topology_key;
    int32_t max_skew;
    bool is_hard;  // DoNotSchedule
};

/*
 * Constraints are equal when every field is; pods with equal ones form one class for scheduling signatures as well.
 * Lists are in the order in which the pod gives them.
 */
struct constraints {
    const struct label *node_selector;
    uint32_t node_selector_count;
    bool has_node_selector;             // it was given, even if empty
    const struct selector *node_terms;  // required node affinity: one of them must match
    uint32_t node_term_count;
    const struct preferred_node_term *preferred_nodes;
    uint32_t preferred_node_count;
    const struct toleration *tolerations;
    uint32_t toleration_count;
    const struct pod_term *affinity;  // required
    uint32_t affinity_count;
    const struct pod_term *anti_affinity;  // required
    uint32_t anti_affinity_count;
    const struct pod_term *preferred_pods;  // preferred affinity; negative weights are preferred anti-affinity
    uint32_t preferred_pod_count;
    const struct spread_term *spread;
    uint32_t spread_count;
    const struct host_port *ports;
    uint32_t port_count;
    const name_id *volume_claims;  // PersistentVolumeClaims in the pod's namespace
    uint32_t volume_claim_count;
    const name_id *config_maps;  // that must exist in the pod's namespace
    uint32_t config_map_count;
    name_id priority_class;
    int32_t priority;
};

static inline bool constraints_limit_nodes(const struct constraints *c)
{
    return c->has_node_selector || c->node_term_count > 0;
}
