/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Domains from labels. A node belongs to a topology when it has the label of every level. Starting from all such nodes
 * by rank, each level sorts the list of the level above once more, by domain: so the nodes of every domain of every
 * level stand together in the list of its level, by rank.
 */
#include "engine/topology/topology_tree.h"

#include <stdlib.h>

#include "base/map.h"
#include "model/state.h"

void topology_tree_done(struct topology_tree *tree)
{
    vec_done(&tree->domains);
    vec_done(&tree->by_value);
    vec_done(&tree->nodes);
    vec_done(&tree->leaf);
    vec_done(&tree->node_free);
    vec_done(&tree->free);
    for (int i = 0; i < POD_COUNTS_KEPT; i++) {
        vec_done(&tree->counts[i].biggest);
        vec_done(&tree->counts[i].by_node);
        vec_done(&tree->counts[i].by_domain);
        vec_done(&tree->emptied[i].biggest);
    }
    vec_done(&tree->capacity);
    *tree = (struct topology_tree){0};
}

uint32_t topology_tree_level(const struct topology_tree *tree, name_id name)
{
    if (name == 0)
        return 0;
    for (uint32_t i = 0; i < tree->level_count; i++) {
        if (tree->aliases[i] == name)
            return i + 1;
    }
    for (uint32_t i = 0; i < tree->level_count; i++) {
        if (tree->levels[i] == name)
            return i + 1;
    }
    return 0;
}

static bool has_every_level(const struct topology_tree *tree, struct labels labels)
{
    for (uint32_t i = 0; i < tree->level_count; i++) {
        if (labels_get(labels, tree->levels[i]) == NO_ID)
            return false;
    }
    return true;
}

static void collect_nodes(const struct state *state, struct topology_tree *tree)
{
    for (node_id node = 0; node < state->nodes.len; node++)
        vec_push(&tree->leaf, NO_ID);
    for (uint32_t rank = 0; rank < state->nodes_by_rank.len; rank++) {
        node_id node = state->nodes_by_rank.items[rank];
        if (!has_every_level(tree, state_labels(state, state->nodes.items[node].labels)))
            continue;
        vec_push(&tree->nodes, node);
        tree->leaf.items[node] = 0;
    }
    tree->node_count = tree->nodes.len;
    vec_resize(&tree->nodes, (uint64_t)tree->node_count * (tree->level_count + 1));
}

/* Makes the children of one domain and gives each of its nodes (through `leaf`) to one of them. */
static void split(const struct state *state, struct topology_tree *tree, uint32_t domain, struct map64 *by_value)
{
    const struct domain d = *tree_domain(tree, domain);
    const node_id *nodes = tree_nodes(tree, domain);
    name_id key = tree->levels[d.level];

    map64_clear(by_value);
    for (uint32_t i = 0; i < d.node_count; i++) {
        name_id value = labels_get(state_labels(state, state->nodes.items[nodes[i]].labels), key);
        uint64_t child;

        if (!map64_get(by_value, value, &child)) {
            child = tree->domains.len;
            map64_put(by_value, value, child);
            vec_push(&tree->domains, (struct domain){.parent = domain, .level = d.level + 1, .value = value});
        }
        tree->domains.items[child].node_count++;
        tree->leaf.items[nodes[i]] = (uint32_t)child;
    }
    tree->domains.items[domain].first_child = tree->domains.len - (uint32_t)map64_len(by_value);
    tree->domains.items[domain].child_count = (uint32_t)map64_len(by_value);
}

/* Sorts the nodes of the level above into the list of a level whose domains are `first` and those after it. */
static void fill_level(struct topology_tree *tree, uint32_t level, uint32_t first)
{
    const node_id *above = tree->nodes.items + (size_t)(level - 1) * tree->node_count;
    node_id *list = tree->nodes.items + (size_t)level * tree->node_count;
    uint32_t at = 0;

    for (uint32_t d = first; d < tree->domains.len; d++) {
        tree->domains.items[d].first_node = at;
        at += tree->domains.items[d].node_count;
        tree->domains.items[d].node_count = 0;
    }
    for (uint32_t i = 0; i < tree->node_count; i++) {
        struct domain *d = &tree->domains.items[tree->leaf.items[above[i]]];
        list[d->first_node + d->node_count++] = above[i];
    }
}

struct by_value_context {
    const struct state *state;
    const struct topology_tree *tree;
};

static int compare_values(const void *a, const void *b, void *context)
{
    const struct by_value_context *c = context;
    name_id l = tree_domain(c->tree, *(const uint32_t *)a)->value;
    name_id r = tree_domain(c->tree, *(const uint32_t *)b)->value;

    return strcmp(state_name(c->state, l), state_name(c->state, r));
}

static void sort_by_value(const struct state *state, struct topology_tree *tree)
{
    struct by_value_context context = {state, tree};

    vec_resize(&tree->by_value, tree->domains.len);
    for (uint32_t d = 0; d < tree->domains.len; d++)
        tree->by_value.items[d] = d;
    vec_foreach (&tree->domains, d)
        qsort_r(tree->by_value.items + d->first_child, d->child_count, sizeof *tree->by_value.items, compare_values,
                &context);
}

void topology_tree_build(const struct state *state, topology_id topology, struct topology_tree *tree)
{
    const struct topology *spec = &state->topologies.items[topology];
    struct map64 by_value;
    uint32_t first = 0;

    tree->is_built = true;
    tree->is_label = spec->level_count == 1 && spec->levels[0] == spec->name;
    tree->level_count = spec->level_count;
    memcpy(tree->levels, spec->levels, sizeof tree->levels);
    memcpy(tree->aliases, spec->aliases, sizeof tree->aliases);
    collect_nodes(state, tree);
    vec_push(&tree->domains, (struct domain){.parent = NO_ID, .node_count = tree->node_count});

    map64_init(&by_value);
    for (uint32_t level = 1; level <= tree->level_count; level++) {
        uint32_t next = tree->domains.len;
        for (uint32_t d = first; d < next; d++)
            split(state, tree, d, &by_value);
        fill_level(tree, level, next);
        first = next;
    }
    map64_done(&by_value);
    sort_by_value(state, tree);
}
