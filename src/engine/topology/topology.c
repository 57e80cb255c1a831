/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the engine keeps for topologies: a tree for each, built when the first gang asks for it, and a log of the nodes
 * whose books changed. Whoever keeps a sum remembers how far it has read the log, so that a placement costs one entry
 * and a sum costs what was placed since it was last asked for.
 */
#include "engine/topology/topology.h"

#include "engine/context.h"
#include "engine/topology/topology_tree.h"

/* A log longer than this is cheaper to forget: summing up all nodes costs about as much as reading it. */
enum { LOG_MIN = 1024 };

struct topology_trees *topology_trees_new(void)
{
    struct topology_trees *trees = xcalloc(1, sizeof *trees);

    trees->attempt = 1;
    return trees;
}

static void forget_trees(struct topology_trees *trees)
{
    vec_foreach (&trees->trees, tree)
        topology_tree_done(tree);
    vec_clear(&trees->trees);
    vec_clear(&trees->log);
    trees->built_count = 0;
}

void topology_trees_free(struct topology_trees *trees)
{
    if (!trees)
        return;
    forget_trees(trees);
    vec_foreach (&trees->scores, table)
        vec_done(&table->by_node);
    vec_done(&trees->trees);
    vec_done(&trees->log);
    vec_done(&trees->scores);
    vec_done(&trees->marks);
    free(trees);
}

static size_t tree_bytes(const struct topology_tree *tree)
{
    size_t bytes = vec_bytes(&tree->domains) + vec_bytes(&tree->by_value) + vec_bytes(&tree->nodes);

    bytes += vec_bytes(&tree->leaf) + vec_bytes(&tree->node_free) + vec_bytes(&tree->free) + vec_bytes(&tree->capacity);
    for (int i = 0; i < POD_COUNTS_KEPT; i++) {
        const struct pod_counts *counts = &tree->counts[i];
        bytes += vec_bytes(&counts->biggest) + vec_bytes(&counts->by_node) + vec_bytes(&counts->by_domain);
        bytes += vec_bytes(&tree->emptied[i].biggest);
    }
    return bytes;
}

size_t topology_trees_bytes(const struct topology_trees *trees)
{
    size_t bytes = sizeof *trees + vec_bytes(&trees->trees) + vec_bytes(&trees->log) + vec_bytes(&trees->scores);

    bytes += vec_bytes(&trees->marks);
    for (uint32_t i = 0; i < trees->trees.len; i++)
        bytes += tree_bytes(&trees->trees.items[i]);
    for (uint32_t i = 0; i < trees->scores.len; i++)
        bytes += vec_bytes(&trees->scores.items[i].by_node);
    return bytes;
}

void topology_trees_update(struct engine *engine)
{
    const struct changes *changes = &engine->state->changes;

    if (changes->nodes_static || changes->topologies) {
        forget_trees(engine->topologies);
        engine->topologies->touches++;
        return;
    }
    for (uint32_t i = 0; i < changes->nodes.ids.len; i++)
        topology_node_touched(engine, changes->nodes.ids.items[i]);
}

struct topology_tree *topology_tree_get(struct engine *engine, topology_id topology)
{
    struct topology_trees *trees = engine->topologies;

    if (trees->trees.len < engine->state->topologies.len)
        vec_resize(&trees->trees, engine->state->topologies.len);
    struct topology_tree *tree = &trees->trees.items[topology];
    if (!tree->is_built) {
        topology_tree_build(engine->state, topology, tree);
        trees->built_count++;
    }
    return tree;
}

static void cut_log(struct topology_trees *trees)
{
    uint32_t gone = trees->log.len / 2;

    memmove(trees->log.items, trees->log.items + gone, (trees->log.len - gone) * sizeof *trees->log.items);
    trees->log.len -= gone;
    trees->log_start += gone;
}

void topology_node_touched(struct engine *engine, node_id node)
{
    struct topology_trees *trees = engine->topologies;

    trees->touches++;
    if (trees->built_count == 0)
        return;
    /* Pods often come to one node in a row; once is enough while nobody has read it. */
    if (trees->log.len > 0 && vec_last(&trees->log) == node && trees->log_start + trees->log.len > trees->log_read)
        return;
    if (trees->log.len >= MAX(2 * engine->state->nodes.len, (uint32_t)LOG_MIN))
        cut_log(trees);
    vec_push(&trees->log, node);
}

uint64_t topology_touches(const struct engine *engine)
{
    return engine->topologies->touches;
}
