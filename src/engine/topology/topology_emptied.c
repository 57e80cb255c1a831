/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What domains could hold if all pods left: a gang that no domain of its required level can ever take is reported as such.
 * Capacities change only when the tree is built anew, so that the answers are kept with it.
 */
#include "engine/topology/topology_tree.h"

#include "model/state.h"

static void sum_up_capacity(const struct state *state, struct topology_tree *tree)
{
    uint32_t dims = tree->capacity_dims = state->book_dims;

    vec_clear(&tree->capacity);
    vec_resize(&tree->capacity, (uint64_t)tree->domains.len * dims);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        node_id node = tree->nodes.items[i];
        struct books books = state_books(state, node);
        int64_t *sum = tree->capacity.items + (size_t)tree->leaf.items[node] * dims;

        for (uint32_t dim = 0; dim < dims; dim++)
            sum[dim] += books.allocatable[dim];
    }
    for (uint32_t d = tree->domains.len - 1; d > 0; d--) {
        const int64_t *from = tree->capacity.items + (size_t)d * dims;
        int64_t *to = tree->capacity.items + (size_t)tree_domain(tree, d)->parent * dims;

        for (uint32_t dim = 0; dim < dims; dim++)
            to[dim] += from[dim];
    }
}

static int64_t pods_on_emptied(const struct state *state, uint32_t dims, node_id node, const int64_t *biggest)
{
    struct books books = state_books(state, node);
    int64_t most = INT32_MAX;

    for (uint32_t dim = 0; dim < dims; dim++)
        if (biggest[dim] > 0)
            most = MIN(most, MAX(books.allocatable[dim], INT64_C(0)) / biggest[dim]);
    return most;
}

static int64_t count_most(const struct state *state, const struct topology_tree *tree, uint32_t level,
                          const int64_t *biggest)
{
    int64_t most = 0;

    for (uint32_t d = 0; d < tree->domains.len; d++) {
        const struct domain *domain = tree_domain(tree, d);
        const node_id *nodes = tree_nodes(tree, d);
        int64_t pods = 0;

        for (uint32_t i = 0; domain->level == level && i < domain->node_count; i++)
            pods += pods_on_emptied(state, tree->capacity_dims, nodes[i], biggest);
        most = MAX(most, pods);
    }
    return most;
}

/* The most pods of the size that an emptied domain of the level could take. */
static int64_t most_pods(const struct state *state, struct topology_tree *tree, uint32_t level, const int64_t *biggest)
{
    uint32_t dims = tree->capacity_dims;

    for (uint32_t i = 0; i < MIN(tree->emptied_count, (uint32_t)POD_COUNTS_KEPT); i++) {
        const struct emptied_count *known = &tree->emptied[i];

        if (known->level == level && known->biggest.len == dims &&
            memcmp(known->biggest.items, biggest, dims * sizeof *biggest) == 0)
            return known->most;
    }
    struct emptied_count *next = &tree->emptied[tree->emptied_count++ % POD_COUNTS_KEPT];
    next->level = level;
    vec_resize(&next->biggest, dims);
    memcpy(next->biggest.items, biggest, dims * sizeof *biggest);
    next->most = count_most(state, tree, level, biggest);
    return next->most;
}

bool topology_could_fit(const struct state *state, struct topology_tree *tree, uint32_t level,
                        const struct topology_demand *demand)
{
    if (tree->capacity_dims != state->book_dims)
        sum_up_capacity(state, tree);
    if (demand->is_uniform)
        return demand->need_count == 0 || most_pods(state, tree, level, demand->biggest) >= demand->pod_count;
    for (uint32_t d = 0; d < tree->domains.len; d++)
        if (tree_domain(tree, d)->level == level &&
            topology_demand_ratio(demand, tree->capacity.items + (size_t)d * tree->capacity_dims) <= 1)
            return true;
    return false;
}
