/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Score tables of groups that prefer to be together. An attempt makes those that it needs; a number of the attempt
 * tells them from tables that an earlier one left, so that forgetting them costs nothing.
 */
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/topology/topology.h"
#include "engine/topology/topology_tree.h"

_Static_assert(TOPOLOGY_NO_SCORE == UINT32_MAX, "tables are emptied by setting every byte");

void topology_begin(struct engine *engine)
{
    engine->topologies->attempt++;
}

uint32_t *topology_scores_reset(struct engine *engine, uint32_t group)
{
    struct topology_trees *trees = engine->topologies;

    if (trees->scores.len <= group)
        vec_resize(&trees->scores, (uint64_t)group + 1);
    struct score_table *table = &trees->scores.items[group];
    table->attempt = trees->attempt;
    vec_resize(&table->by_node, engine->state->nodes.len);
    memset(table->by_node.items, 0xff, table->by_node.len * sizeof *table->by_node.items);
    return table->by_node.items;
}

const uint32_t *topology_scores(const struct engine *engine, const struct gang_view *view, uint32_t group)
{
    const struct topology_trees *trees = engine->topologies;
    const struct gang *gang = &engine->state->gangs.items[view->gang];

    for (uint32_t g = group; g != NO_ID; g = gang->groups[g].parent) {
        const struct topology_constraint *constraint = &gang->groups[g].topology;
        if (constraint->topology == 0 || constraint->preferred == 0 || g >= trees->scores.len)
            continue;
        if (trees->scores.items[g].attempt == trees->attempt)
            return trees->scores.items[g].by_node.items;
    }
    return NULL;
}
