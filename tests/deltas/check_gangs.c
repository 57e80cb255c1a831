/* SPDX-License-Identifier: Apache-2.0 */

/* Gangs that were bound run in whole, and together where they have to be. */
#include "base/macros.h"
#include "check.h"
#include "model/state.h"
#include "world_tables.h"

static bool is_in_group(const struct tree_shape *tree, uint32_t group, uint32_t above)
{
    for (int32_t at = (int32_t)group; at >= 0; at = tree->groups[at].parent)
        if ((uint32_t)at == above)
            return true;
    return false;
}

/* Pods of a set that run or are about to; what is only promised does not count. */
static uint32_t count_running(const struct world *world, uint32_t gang, uint32_t set)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < WORLD_PODS; p++) {
        const struct world_pod *pod = &world->pods[p];
        count += pod->is_present && pod->gang == gang && tree_pod_set(world->gangs[gang].tree, pod->set) == set &&
                 status_in(pod->status, ALLOCATED_SET);
    }
    return count;
}

static bool is_satisfied(const struct world *world, uint32_t gang, uint32_t group)
{
    const struct tree_shape *tree = &tree_shapes[world->gangs[gang].tree];
    uint32_t children = 0;
    uint32_t satisfied = 0;

    if (tree->groups[group].is_pod_set)
        return count_running(world, gang, group) >= world->gangs[gang].mins[group];
    for (uint32_t g = group + 1; g < tree->count; g++) {
        if (tree->groups[g].parent != (int32_t)group)
            continue;
        children++;
        satisfied += is_satisfied(world, gang, g);
    }
    return satisfied >= (tree->groups[group].min < 0 ? children : (uint32_t)tree->groups[group].min);
}

/*
 * Has every set the pods that it needs? As in KAI, a gang that needs only some of its groups starts with the first ones,
 * also where those are short of pods.
 */
static bool has_all_pods(const struct world *world, uint32_t gang)
{
    for (uint32_t set = 0; tree_pod_set(world->gangs[gang].tree, set) != NOWHERE; set++) {
        uint32_t pods = 0;
        for (uint32_t p = 0; p < WORLD_PODS; p++)
            pods += world->pods[p].is_present && world->pods[p].gang == gang && world->pods[p].set == set &&
                    status_in(world->pods[p].status, ALIVE) && world->pods[p].status != POD_GATED;
        if (pods < world->gangs[gang].mins[tree_pod_set(world->gangs[gang].tree, set)])
            return false;
    }
    return true;
}

/* The domain of a node at a level of a topology, as a number; 0: the node is not in the topology. */
static uint32_t domain_of(const struct world *world, uint32_t node, const struct topology_constraint_spec *constraint)
{
    const struct world_node *at = &world->nodes[node];
    bool is_tree = constraint->topology[0] == 't';
    char level = constraint->required[0];

    if (!at->is_present || !at->rack || (is_tree && !at->zone))
        return 0;
    if (!is_tree)
        return at->rack;
    return level == 'h' ? node + 1 : level == 'r' ? at->zone * 8u + at->rack : at->zone;
}

/*
 * Pods of a set that this cycle bound must be in one domain, and in one where the set was already. As in KAI, sets of one
 * group that are placed one after the other need not be together.
 */
static void check_together(const struct cycle *cycle, uint32_t i, uint32_t set)
{
    const struct world *world = &cycle->play->world;
    const struct world_gang *gang = &world->gangs[i];
    const struct topology_constraint_spec *constraint = &place_shapes[gang->place].constraint;
    uint64_t now[2] = {0};
    uint64_t before[2] = {0};

    if (!constraint->required || !cycle->play->config.has[PLUGIN_TOPOLOGY] ||
        !is_in_group(&tree_shapes[gang->tree], set, gang_constrained_group(gang)))
        return;
    for (uint32_t p = 0; p < WORLD_PODS; p++) {
        const struct world_pod *pod = &world->pods[p];

        if (!pod->is_present || pod->gang != i || tree_pod_set(gang->tree, pod->set) != set ||
            !status_in(pod->status, ALLOCATED_SET))
            continue;
        uint32_t domain = domain_of(world, pod->node, constraint);
        if (cycle->is_bound[p] && domain == 0)
            play_fail(cycle->play, "topology", "gang %s has a pod on node %s, which is not in the topology",
                      world_name(KIND_GANG, i), world_name(KIND_NODE, pod->node));
        (cycle->is_bound[p] ? now : before)[domain / 64] |= UINT64_C(1) << domain % 64;
    }
    int domains = __builtin_popcountll(now[0]) + __builtin_popcountll(now[1]);
    bool was_somewhere = (before[0] & ~UINT64_C(1)) || before[1];
    if (domains > 1 || (domains == 1 && was_somewhere && !(now[0] & before[0]) && !(now[1] & before[1])))
        play_fail(cycle->play, "topology", "gang %s/%s was bound to %d domains of %s that it was not in before",
                  world_namespace(KIND_GANG, i), world_name(KIND_GANG, i), domains, constraint->required);
}

void check_gangs(const struct cycle *cycle, const struct decision *decisions, size_t first, size_t count)
{
    const struct world *world = &cycle->play->world;
    bool is_checked[WORLD_GANGS] = {false};

    for (size_t d = first; d < count; d++) {
        uint32_t pod = cycle->pod_of.items[decisions[d].pod];
        uint32_t gang = world->pods[pod].gang;

        if (decisions[d].kind != DECISION_BIND || is_checked[gang])
            continue;
        is_checked[gang] = true;
        if (has_all_pods(world, gang) && !is_satisfied(world, gang, 0))
            play_fail(cycle->play, "gang in part", "gang %s/%s was bound without its minimum",
                      world_namespace(KIND_GANG, gang), world_name(KIND_GANG, gang));
        for (uint32_t set = 0; tree_pod_set(world->gangs[gang].tree, set) != NOWHERE; set++)
            check_together(cycle, gang, tree_pod_set(world->gangs[gang].tree, set));
    }
}
