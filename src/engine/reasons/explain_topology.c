/* SPDX-License-Identifier: Apache-2.0 */

/* The domains of a required level, and how many of the gang's pods each could take by what is free in it. */
#include "base/strbuf.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/reasons/explain_internal.h"
#include "engine/topology/topology.h"
#include "engine/topology/topology_tree.h"

enum { DOMAIN_NAME_MAX = 1024 };

/* The nearest group, from `group` up, that names a topology. */
static uint32_t constrained_group(const struct gang *gang, uint32_t group)
{
    while (group != NO_ID && gang->groups[group].topology.topology == 0)
        group = gang->groups[group].parent;
    return group;
}

static const char *domain_name(const struct state *state, const struct topology_tree *tree, uint32_t domain,
                               struct arena *arena)
{
    struct strbuf name;
    uint32_t path[TOPOLOGY_LEVELS_MAX + 1];
    uint32_t depth = 0;

    for (uint32_t d = domain; tree_domain(tree, d)->level > 0; d = tree_domain(tree, d)->parent)
        path[depth++] = d;
    strbuf_init(&name, DOMAIN_NAME_MAX);
    while (depth-- > 0) {
        strbuf_addstr(&name, state_name(state, tree_domain(tree, path[depth])->value));
        if (depth > 0)
            strbuf_addch(&name, '.');
    }
    const char *kept = arena_strdup(arena, name.text);
    strbuf_done(&name);
    return kept;
}

/* Where the search for a domain starts: the innermost domain that holds all nodes, not below the preferred level. */
static uint32_t start_of(const struct topology_tree *tree, uint32_t preferred)
{
    uint32_t domain = 0;

    while (tree_domain(tree, domain)->child_count == 1) {
        uint32_t child = tree_domain(tree, domain)->first_child;
        if (tree_domain(tree, child)->value == 0 || (preferred > 0 && tree_domain(tree, child)->level > preferred))
            break;
        domain = child;
    }
    return domain;
}

static void look_at_start(const struct state *state, const struct topology_tree *tree, uint32_t start,
                          const struct topology_demand *demand, const int64_t *free, const int64_t *counts,
                          struct explanation *e)
{
    e->start = start == 0 ? NULL : domain_name(state, tree, start, &e->arena);
    if (demand->need_count == 0)
        return;
    e->start_is_full = counts ? counts[start] < demand->pod_count
                              : topology_demand_ratio(demand, free + (size_t)start * tree->dims) > 1;
}

static uint64_t lacks_of(const struct topology_demand *demand, const int64_t *free)
{
    uint64_t lacks = 0;

    for (uint32_t i = 0; i < demand->need_count; i++) {
        uint32_t dim = demand->need_dim[i];
        double has = dim == RES_GPU ? gpu_to_double(free[dim]) : (double)free[dim];
        if (demand->need[i] > has)
            lacks |= UINT64_C(1) << dim;
    }
    return lacks;
}

static void list_domains(struct engine *engine, struct topology_tree *tree, uint32_t level, uint32_t preferred,
                         const struct topology_demand *demand, struct explanation *e)
{
    struct explained_domain *domains = arena_calloc(&e->arena, tree->domains.len, sizeof *domains);
    const int64_t *free = topology_free(engine, tree);
    const int64_t *counts = demand->is_uniform ? topology_pod_counts(engine, tree, demand->biggest) : NULL;

    for (uint32_t d = 0; d < tree->domains.len; d++) {
        const struct domain *domain = tree_domain(tree, d);
        if (domain->level != level)
            continue;
        domains[e->domain_count++] = (struct explained_domain){
            .name = domain_name(engine->state, tree, d, &e->arena),
            .nodes = domain->node_count,
            .pods = counts ? counts[d] : -1,
            .lacks = lacks_of(demand, free + (size_t)d * tree->dims),
        };
    }
    e->domains = domains;
    e->domains_are_counted = demand->is_uniform;
    look_at_start(engine->state, tree, start_of(tree, preferred), demand, free, counts, e);
}

void explain_domains(struct engine *engine, const struct gang_view *view, uint32_t group, struct explanation *e)
{
    const struct state *state = engine->state;
    const struct gang *gang = &state->gangs.items[e->gang];
    struct topology_demand demand;
    uint32_t count;

    group = constrained_group(gang, group);
    if (group == NO_ID || !engine_has(engine, PLUGIN_TOPOLOGY))
        return;
    const struct topology_constraint *constraint = &gang->groups[group].topology;
    e->topology = constraint->topology;
    e->topology_group = group;
    e->level = constraint->required;
    topology_id topology = state_find_topology(state, constraint->topology);
    if (topology == NO_ID)
        return;
    struct topology_tree *tree = topology_tree_get(engine, topology);
    uint32_t level = topology_tree_level(tree, constraint->required);
    pod_id *pods = explain_pods_below(state, &e->arena, gang, group, view, &count);
    e->domain_need = count;
    if (level == 0 || tree->node_count == 0)
        return;
    topology_demand_of(state, pods, count, &demand);
    list_domains(engine, tree, level, topology_tree_level(tree, constraint->preferred), &demand, e);
}
