/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* The tables that objects are rows of. */
enum { SHAPE_AMOUNTS = 6, REQUEST_AMOUNTS = 4 };

struct node_shape {
    const char *name;
    struct amount_spec amounts[SHAPE_AMOUNTS];  // up to the first without a name
    int64_t gpu_memory_mib;                     // 0: not known
    bool is_mig_enabled;
    enum mig_strategy mig_strategy;
    uint32_t theme;  // that it belongs to, 0: every world has it
};

extern const struct node_shape node_shapes[];
extern const uint32_t node_shape_count;

struct request_shape {
    const char *name;
    enum request_kind kind;
    enum qos_class qos;
    bool is_legacy_mig;
    int64_t gpus;
    uint32_t devices;
    double portion;
    int64_t memory_mib;
    struct amount_spec amounts[REQUEST_AMOUNTS];
    uint32_t weight;  // how often it is drawn
    uint32_t theme;
};

extern const struct request_shape request_shapes[];
extern const uint32_t request_shape_count;

struct tree_shape {
    uint32_t count;
    struct group_spec groups[WORLD_GROUPS];  // the minimum of a pod set is the gang's own
};

extern const struct tree_shape tree_shapes[];
extern const uint32_t tree_shape_count;

/* The group of the set-th pod set of the tree, NOWHERE when it has fewer. */
uint32_t tree_pod_set(uint32_t tree, uint32_t set);

/* A topology constraint on a group of the tree; groups that a tree does not have take the last one. */
struct place_shape {
    uint32_t group;
    struct topology_constraint_spec constraint;
};

extern const struct place_shape place_shapes[];
extern const uint32_t place_shape_count;

/* The group of the gang's tree that its constraint is on. */
uint32_t gang_constrained_group(const struct world_gang *gang);

/* Fills in what a pod's rule says; `app` is the pod's own label. */
enum rule {
    RULE_NO,
    RULE_POOL,
    RULE_ZONES,
    RULE_NOT_NODE,
    RULE_TOLERATES_KEY,
    RULE_TOLERATES_ALL,
    RULE_APART_BY_HOST,
    RULE_APART_BY_ZONE,
    RULE_NEAR_OWN_BY_RACK,
    RULE_NEAR_A_BY_ZONE,
    RULE_PREFERS_PODS,
    RULE_PORT,
    RULE_PORT_ON_ADDRESS,
    RULE_VOLUME,
    RULE_MAP,
    RULE_SPREAD_HARD,
    RULE_SPREAD_SOFT,
    RULE_PREFERS_NODES,
    _RULE_MAX
};

/* What the pointers of a pod's constraints point to. */
struct rule_parts {
    struct str_pair selector[1];
    const char *values[2];
    const char *app[1];
    struct match_spec match[1];
    struct match_spec pod_match[1];
    struct selector_spec terms[1];
    struct toleration_spec tolerations[1];
    struct pod_term_spec affinity[1];
    struct pod_term_spec anti[1];
    struct pod_term_spec preferred[2];
    struct preferred_node_spec nodes[1];
    struct spread_spec spread[1];
    struct host_port_spec ports[2];
    const char *volumes[1];
    const char *maps[1];
};

void rule_fill(enum rule rule, const char *app, struct rule_parts *parts, struct constraints_spec *spec);

/* What is written in labels. */
const char *app_text(uint32_t app);
const char *zone_text(uint32_t zone);
const char *rack_text(uint32_t rack);
const char *pool_text(uint32_t pool);

/* Taints of a node. */
struct taint_row {
    uint32_t count;
    struct taint_spec taints[2];
};

extern const struct taint_row taint_rows[];
extern const uint32_t taint_row_count;

/* Zones that share a node's cpu and GPUs; `zones` 0: the node tells nothing. */
struct numa_row {
    uint32_t zones;
    enum numa_policy policy;
    bool is_pod_scope;
    bool reconstructs_available;
};

extern const struct numa_row numa_rows[];
extern const uint32_t numa_row_count;
