/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "chance.h"
#include "model/delta.h"
#include "model/ids.h"
#include "model/resources.h"

struct strbuf;

/*
 * The world: the objects of a small cluster as an API would hold them. It knows nothing of books or indexes; a state can
 * be made from it at any time, and every change of it can be said to a state as a delta.
 *
 * Objects are addressed by their index; what an object is like is mostly a row of a table (world_tables.c).
 */
enum {
    WORLD_NODES = 12,
    WORLD_QUEUES = 14,
    WORLD_GANGS = 24,
    WORLD_PODS = 80,
    WORLD_CLAIMS = 20,
    WORLD_SLICES = 6,
    WORLD_VOLUMES = 4,
    WORLD_MAPS = 2,
    WORLD_TOPOLOGIES = 2,
    WORLD_CLASSES = 2,
    WORLD_GROUPS = 8,   // of a gang's tree
    WORLD_DEVICES = 4,  // GPUs that a pod shares, devices of a claim
    WORLD_DRAWS = 8,    // from NUMA zones
    WORLD_POD_CLAIMS = 2,
    WORLD_TEXT = 32,
    NOWHERE = 255,  // instead of an index
};

struct world_node {
    bool is_present;
    uint8_t shape;
    uint8_t zone;  // values of labels, 0: the label is missing
    uint8_t rack;
    uint8_t pool;
    uint8_t taints;
    uint8_t numa;
    bool has_few_pods;
    uint32_t troubles;
};

struct world_queue {
    bool is_present;
    uint8_t parent;       // a queue before it, NOWHERE: none
    bool is_parent_lost;  // names a parent that is not there
    int32_t priority;
    nsec_t created;
    nsec_t preempt_min_runtime;  // negative: not set
    nsec_t reclaim_min_runtime;
    double deserved[SHARE_COUNT];
    double limit[SHARE_COUNT];
    double weight[SHARE_COUNT];
    double usage[SHARE_COUNT];
};

struct world_gang {
    bool is_present;
    uint8_t queue;  // NOWHERE: one that does not exist
    uint8_t tree;
    uint8_t place;  // topology constraint
    uint8_t mins[WORLD_GROUPS];
    int32_t priority;
    bool is_preemptible;
    nsec_t created;
    nsec_t last_start;
    nsec_t last_eviction;
    nsec_t stale_since;
    nsec_t preemption_delay;
    bool has_grace;
    nsec_t grace;
};

struct world_draw {
    char zone[WORLD_TEXT];
    char resource[WORLD_TEXT];
    int64_t amount;
};

struct world_pod {
    bool is_present;
    uint8_t gang;  // NOWHERE: none
    uint8_t set;   // among the pod sets of its gang's tree; one too many: a set that is not there
    uint8_t request;
    uint8_t rules[2];
    uint8_t app;     // value of its label, 0: none
    uint8_t status;  // enum pod_status
    uint8_t node;    // NOWHERE: none
    uint8_t nominated;
    uint8_t group_count;
    uint8_t claim_count;
    uint8_t claims[WORLD_POD_CLAIMS];
    uint8_t draw_count;
    uint8_t roles;
    bool is_claim_shared;  // its claims are named, not made from a template
    bool has_uid;          // a UID that is not its name
    bool is_foreign;
    bool is_reservation;
    bool has_task_priority;
    int32_t task_priority;
    nsec_t created;
    gpu_group groups[WORLD_DEVICES];  // fresh ones by their number, others by a number that is part of their name
    struct world_draw draws[WORLD_DRAWS];
};

struct world_device {
    char driver[WORLD_TEXT];
    char pool[WORLD_TEXT];
    char name[WORLD_TEXT];
};

struct world_claim {
    bool is_present;
    uint8_t namespace;
    uint8_t class;
    uint8_t queue;  // of its label, NOWHERE: no label
    uint8_t count;
    bool is_synthetic;
    bool is_allocated;
    uint8_t device_count;
    struct world_device devices[WORLD_DEVICES];
    uint64_t reserved[2];  // bits of pods
};

struct world_slice {
    bool is_present;
    uint8_t class;  // its driver, too
    bool is_for_any_class;
    uint8_t node;  // NOWHERE: all
    uint8_t count;
};

struct world_volume {
    bool is_present;
    bool is_bound;
    bool is_lost;
    bool waits;
    uint8_t zone;  // where the bound volume is, 0: everywhere
};

enum world_kind {
    KIND_NODE,
    KIND_QUEUE,
    KIND_GANG,
    KIND_POD,
    KIND_CLAIM,
    KIND_SLICE,
    KIND_VOLUME,
    KIND_MAP,
    KIND_TOPOLOGY,
    KIND_CLASS,
    _WORLD_KIND_MAX
};

/* What a world has beside whole GPUs, plain pods and flat queues. */
enum {
    THEME_SHARED = 1 << 0,  // fractions of GPUs
    THEME_MEMORY = 1 << 1,  // GPU memory
    THEME_MIG = 1 << 2,
    THEME_CLAIMS = 1 << 3,
    THEME_NUMA = 1 << 4,
    THEME_PLACES = 1 << 5,     // topology constraints
    THEME_RULES = 1 << 6,      // on nodes, and what pods have on them
    THEME_PODS = 1 << 7,       // rules on other pods
    THEME_TREES = 1 << 8,      // of gangs
    THEME_QUEUES = 1 << 9,     // in queues
    THEME_LIMITS = 1 << 10,    // of queues
    THEME_TIMES = 1 << 11,     // minimum runtimes, delays, grace
    THEME_TROUBLES = 1 << 12,  // foreign pods, strays, odd statuses
    THEME_SETTINGS = 1 << 13,  // other than by default
    THEME_ALL = (1 << 14) - 1,
};

struct world {
    nsec_t now;
    uint32_t theme;
    uint64_t banned[_WORLD_KIND_MAX][8];  // bits of objects that never come to be; pods by the order in which they come
    uint32_t pods_made;
    uint8_t usual_shapes[2];  // what most nodes are like, and what most pods ask for: so that they compete
    uint8_t usual_requests[3];
    struct world_node nodes[WORLD_NODES];
    struct world_queue queues[WORLD_QUEUES];
    struct world_gang gangs[WORLD_GANGS];
    struct world_pod pods[WORLD_PODS];
    struct world_claim claims[WORLD_CLAIMS];
    struct world_slice slices[WORLD_SLICES];
    struct world_volume volumes[WORLD_VOLUMES];
    bool has_map[WORLD_MAPS];
    bool has_topology[WORLD_TOPOLOGIES];
    bool has_class[WORLD_CLASSES];
    uint64_t named_groups;  // shared GPUs that were given a name
};

uint32_t world_count(enum world_kind kind);

/* Names last for good. Pods, gangs, claims and volumes of the two namespaces have the same names. */
const char *world_name(enum world_kind kind, uint32_t i);
const char *world_namespace(enum world_kind kind, uint32_t i);
const char *world_uid(const struct world *world, uint32_t pod);

/* Says the object to the state as it is: put, or dropped when it is not there. */
void world_tell(const struct world *world, struct state *state, enum world_kind kind, uint32_t i);

/* A state of all objects, said in an order that chance decides. Not settled. */
struct state *world_load(const struct world *world, struct chance *chance, uint64_t fresh_groups);

/* The objects in words, a line each. */
void world_print(const struct world *world, struct strbuf *out);

static inline bool pod_uses_node(const struct world_pod *pod)
{
    return pod->is_present && pod->node != NOWHERE && status_in(pod->status, ACTIVE_USED);
}
