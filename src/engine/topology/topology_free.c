/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is free in domains, and how many pods of a size they could take. Both are sums over nodes that remember what
 * they hold of each node: when its books changed, the difference goes up the tree. Integers, so that they never drift.
 *
 * All nodes of a domain count, also those that no pod may use now: KAI's way.
 */
#include "engine/topology/topology_tree.h"

#include <math.h>

#include "engine/context.h"

static uint64_t log_end(const struct topology_trees *trees)
{
    return trees->log_start + trees->log.len;
}

static node_id logged(const struct topology_trees *trees, uint64_t number)
{
    return trees->log.items[number - trees->log_start];
}

static int64_t free_of(const struct books *books, uint32_t dim)
{
    return books->idle[dim] + books->releasing[dim];
}

static void sum_up_all(struct engine *engine, struct topology_tree *tree)
{
    const struct state *state = engine->state;
    uint32_t dims = tree->dims = state->book_dims;

    vec_resize(&tree->node_free, (uint64_t)state->nodes.len * dims);
    vec_clear(&tree->free);
    vec_resize(&tree->free, (uint64_t)tree->domains.len * dims);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        node_id node = tree->nodes.items[i];
        struct books books = state_books(state, node);
        int64_t *held = tree->node_free.items + (size_t)node * dims;
        int64_t *sum = tree->free.items + (size_t)tree->leaf.items[node] * dims;

        for (uint32_t dim = 0; dim < dims; dim++) {
            held[dim] = free_of(&books, dim);
            sum[dim] += held[dim];
        }
    }
    for (uint32_t d = tree->domains.len - 1; d > 0; d--) {
        const int64_t *from = tree->free.items + (size_t)d * dims;
        int64_t *to = tree->free.items + (size_t)tree_domain(tree, d)->parent * dims;
        for (uint32_t dim = 0; dim < dims; dim++)
            to[dim] += from[dim];
    }
}

static void sum_up_node(const struct state *state, struct topology_tree *tree, node_id node)
{
    uint32_t leaf = tree_leaf(tree, node);

    if (leaf == NO_ID)
        return;
    struct books books = state_books(state, node);
    int64_t *held = tree->node_free.items + (size_t)node * tree->dims;
    for (uint32_t dim = 0; dim < tree->dims; dim++) {
        int64_t change = free_of(&books, dim) - held[dim];
        if (change == 0)
            continue;
        held[dim] += change;
        for (uint32_t d = leaf; d != NO_ID; d = tree_domain(tree, d)->parent)
            tree->free.items[(size_t)d * tree->dims + dim] += change;
    }
}

static void forget_counts(struct topology_tree *tree)
{
    for (int i = 0; i < POD_COUNTS_KEPT; i++)
        tree->counts[i].is_used = false;
}

const int64_t *topology_free(struct engine *engine, struct topology_tree *tree)
{
    struct topology_trees *trees = engine->topologies;

    if (tree->dims != engine->state->book_dims) {
        tree->is_summed = false;
        forget_counts(tree);
    }
    if (!tree->is_summed || tree->seen < trees->log_start) {
        sum_up_all(engine, tree);
        tree->is_summed = true;
    } else {
        for (uint64_t i = tree->seen; i < log_end(trees); i++)
            sum_up_node(engine->state, tree, logged(trees, i));
    }
    tree->seen = trees->log_read = log_end(trees);
    return tree->free.items;
}

/* Parts of shared GPUs count for pods that ask for less than one GPU. */
static int64_t fractions_on(const struct state *state, node_id node, int64_t free, int64_t size)
{
    double room = gpu_to_double(free) + node_shared_room(state, node);

    return (int64_t)floor(room / gpu_to_double(size));
}

static int32_t pods_on(const struct state *state, uint32_t dims, node_id node, const int64_t *biggest)
{
    struct books books = state_books(state, node);
    int64_t most = INT32_MAX;

    for (uint32_t dim = 0; dim < dims; dim++) {
        if (biggest[dim] <= 0)
            continue;
        int64_t free = free_of(&books, dim);
        if (dim == RES_GPU && biggest[dim] < GPU_ONE)
            most = MIN(most, fractions_on(state, node, free, biggest[dim]));
        else
            most = MIN(most, free >= biggest[dim] ? free / biggest[dim] : 0);
    }
    return (int32_t)MAX(most, 0);
}

static void count_all(struct engine *engine, const struct topology_tree *tree, struct pod_counts *counts)
{
    const struct state *state = engine->state;

    vec_resize(&counts->by_node, state->nodes.len);
    vec_clear(&counts->by_domain);
    vec_resize(&counts->by_domain, tree->domains.len);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        node_id node = tree->nodes.items[i];
        int32_t pods = pods_on(state, tree->dims, node, counts->biggest.items);

        counts->by_node.items[node] = pods;
        counts->by_domain.items[tree->leaf.items[node]] += pods;
    }
    for (uint32_t d = tree->domains.len - 1; d > 0; d--)
        counts->by_domain.items[tree_domain(tree, d)->parent] += counts->by_domain.items[d];
}

static void count_node(const struct state *state, const struct topology_tree *tree, struct pod_counts *counts,
                       node_id node)
{
    uint32_t leaf = tree_leaf(tree, node);

    if (leaf == NO_ID)
        return;
    int32_t pods = pods_on(state, tree->dims, node, counts->biggest.items);
    int64_t change = (int64_t)pods - counts->by_node.items[node];
    if (change == 0)
        return;
    counts->by_node.items[node] = pods;
    for (uint32_t d = leaf; d != NO_ID; d = tree_domain(tree, d)->parent)
        counts->by_domain.items[d] += change;
}

/* The counts for this size, or those that were not asked for the longest, to be made anew. */
static struct pod_counts *find_counts(struct topology_tree *tree, const int64_t *biggest)
{
    struct pod_counts *oldest = &tree->counts[0];

    for (int i = 0; i < POD_COUNTS_KEPT; i++) {
        struct pod_counts *counts = &tree->counts[i];
        if (counts->is_used && memcmp(counts->biggest.items, biggest, tree->dims * sizeof *biggest) == 0)
            return counts;
        if (!counts->is_used || (oldest->is_used && counts->last_use < oldest->last_use))
            oldest = counts;
    }
    oldest->is_used = oldest->is_stale = true;
    vec_resize(&oldest->biggest, tree->dims);
    memcpy(oldest->biggest.items, biggest, tree->dims * sizeof *biggest);
    return oldest;
}

const int64_t *topology_pod_counts(struct engine *engine, struct topology_tree *tree, const int64_t *biggest)
{
    struct topology_trees *trees = engine->topologies;
    struct pod_counts *counts = find_counts(tree, biggest);

    if (counts->is_stale || counts->seen < trees->log_start) {
        count_all(engine, tree, counts);
        counts->is_stale = false;
    } else {
        for (uint64_t i = counts->seen; i < log_end(trees); i++)
            count_node(engine->state, tree, counts, logged(trees, i));
    }
    counts->seen = trees->log_read = log_end(trees);
    counts->last_use = ++trees->uses;
    return counts->by_domain.items;
}
