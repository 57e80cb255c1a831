/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/topology.h"

struct engine;
struct state;

/* What the topology*.c files share: the tree of one topology, what is free in it, and the score tables. */

/*
 * Domains are numbered level by level, so that the children of one stand together, as do all its offspring of a level.
 */
struct domain {
    uint32_t parent;       // NO_ID for the root
    uint32_t level;        // 0 the root, 1 the outermost level of the topology, and so on
    name_id value;         // of the level's label
    uint32_t first_child;  // by the rank of their first node
    uint32_t child_count;
    uint32_t first_node;  // in the list of its level: its nodes by rank
    uint32_t node_count;
};

/* How many pods of one size each domain could take. */
struct pod_counts {
    bool is_used;
    bool is_stale;
    uint64_t seen;  // of the log of touched nodes
    uint64_t last_use;
    VEC(int64_t) biggest;  // the size, a vector
    VEC(int32_t) by_node;
    VEC(int64_t) by_domain;
};

enum { POD_COUNTS_KEPT = 8 };

/* How many pods of one size fit into the emptied domain of a level that has the most room for them. */
struct emptied_count {
    uint32_t level;  // 0: not used
    VEC(int64_t) biggest;
    int64_t most;
};

struct topology_tree {
    bool is_built;
    bool is_label;         // named like the one node label that makes it; no object describes it
    uint32_t level_count;  // without the root
    name_id levels[TOPOLOGY_LEVELS_MAX];
    name_id aliases[TOPOLOGY_LEVELS_MAX];
    VEC(struct domain) domains;  // the root first
    VEC(uint32_t) by_value;      // domains again, the children of each by their labels' values
    VEC(node_id) nodes;          // a list for each level and the root: by domain of that level, then by rank
    uint32_t node_count;         // the length of each list
    VEC(uint32_t) leaf;          // by node id: its innermost domain, NO_ID when it is in none

    uint32_t dims;
    bool is_summed;
    uint64_t seen;           // of the log of touched nodes
    VEC(int64_t) node_free;  // by node id: the vector that the sums hold of it
    VEC(int64_t) free;       // by domain: idle and releasing of all its nodes
    struct pod_counts counts[POD_COUNTS_KEPT];

    uint32_t capacity_dims;  // 0: capacities are not summed up
    VEC(int64_t) capacity;   // by domain: all that its nodes have
    uint32_t emptied_count;  // entries that were ever used
    struct emptied_count emptied[POD_COUNTS_KEPT];
};

/* The scores of a group, good for one attempt. */
struct score_table {
    uint64_t attempt;
    VEC(uint32_t) by_node;
};

struct topology_trees {
    VEC(struct topology_tree) trees;  // by topology id
    uint32_t built_count;
    uint64_t touches;
    VEC(node_id) log;  // touched nodes; the first is number log_start
    uint64_t log_start;
    uint64_t log_read;  // entries before this one were read by somebody
    uint64_t uses;
    uint64_t attempt;
    VEC(struct score_table) scores;  // by group index
    VEC(uint32_t) marks;             // by node id: the last call that had it in its set
    uint32_t mark;
};

/* The tree of a topology that is present, built when it is not yet. */
struct topology_tree *topology_tree_get(struct engine *engine, topology_id topology);
void topology_tree_build(const struct state *state, topology_id topology, struct topology_tree *tree);
void topology_tree_done(struct topology_tree *tree);

/* The level called `name` or with that alias, 1 for the outermost one; 0 when there is none. */
uint32_t topology_tree_level(const struct topology_tree *tree, name_id name);

static inline const struct domain *tree_domain(const struct topology_tree *tree, uint32_t domain)
{
    return &tree->domains.items[domain];
}

static inline const node_id *tree_nodes(const struct topology_tree *tree, uint32_t domain)
{
    const struct domain *d = tree_domain(tree, domain);
    return tree->nodes.items + (size_t)d->level * tree->node_count + d->first_node;
}

/* The innermost domain of a node, NO_ID when it is not in the tree. */
static inline uint32_t tree_leaf(const struct topology_tree *tree, node_id node)
{
    return node < tree->leaf.len ? tree->leaf.items[node] : NO_ID;
}

/* The domain above `domain`, or itself, at `level`. */
static inline uint32_t tree_above(const struct topology_tree *tree, uint32_t domain, uint32_t level)
{
    while (tree_domain(tree, domain)->level > level)
        domain = tree_domain(tree, domain)->parent;
    return domain;
}

/* What is free now: by domain, vectors of tree->dims. Good until books change. */
const int64_t *topology_free(struct engine *engine, struct topology_tree *tree);

/* How many pods of the size `biggest` (tree->dims long) each domain could take, by domain. */
const int64_t *topology_pod_counts(struct engine *engine, struct topology_tree *tree, const int64_t *biggest);

struct topology_demand;

/* Could one of the domains of the level hold the demand if all pods left? All nodes count, as in topology_free. */
bool topology_could_fit(const struct state *state, struct topology_tree *tree, uint32_t level,
                        const struct topology_demand *demand);

/* An empty table for the group's scores in this attempt, by node id. */
uint32_t *topology_scores_reset(struct engine *engine, uint32_t group);

/* What pods ask for together. */
struct topology_demand {
    uint32_t pod_count;
    bool is_uniform;  // pods of one kind: counted rather than summed up
    uint32_t need_count;
    uint32_t need_dim[RES_MAX];  // resources asked for, pod slots not among them
    double need[RES_MAX];        // GPUs in devices, so that equal ratios are equal for KAI as well
    int64_t biggest[RES_MAX];
};

void topology_demand_of(const struct state *state, const pod_id *pods, uint32_t count, struct topology_demand *ret);

/* How full it would make a domain with so much free; 1000 where nothing is left of something that it needs. */
double topology_demand_ratio(const struct topology_demand *demand, const int64_t *free);
