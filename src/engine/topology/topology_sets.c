/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which domains a group of a gang may try, in KAI's order.
 *
 * The search starts in the innermost domain that holds all nodes of the set. [KAI] Only below it is anything free: a
 * required level above the start finds nothing, even where the start itself would do. From there domains are listed
 * level by level, the fullest first, down to the preferred (or else the required) level; those that can take the pods
 * are tried from the innermost level out. A preferred level also gives its domains scores, so that a group that has to
 * be spread over some of them fills the emptiest first.
 */
#include "engine/topology/topology.h"

#include <stdlib.h>

#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/topology/topology_tree.h"

struct domain_list {
    uint32_t *items;
    uint32_t count;
};

struct set_search {
    struct engine *engine;
    struct arena *arena;
    struct topology_tree *tree;
    struct topology_demand demand;
    struct node_set from;
    const int64_t *free;        // by domain
    const int64_t *pod_counts;  // by domain; NULL: not counted
    const bool *holds;          // by domain: has pods of these sets; NULL: there are none yet
    uint32_t required;          // levels, 0: none
    uint32_t preferred;
    uint32_t start;
    uint32_t valid_count;  // nodes of the set that are in the tree
    struct domain_list lists[TOPOLOGY_LEVELS_MAX + 1];
};

static double ratio_of(const struct set_search *search, uint32_t domain)
{
    return topology_demand_ratio(&search->demand, search->free + (size_t)domain * search->tree->dims);
}

static bool is_below_start(const struct set_search *search, uint32_t domain)
{
    uint32_t level = tree_domain(search->tree, search->start)->level;

    return tree_domain(search->tree, domain)->level >= level &&
           tree_above(search->tree, domain, level) == search->start;
}

static bool fits(const struct set_search *search, uint32_t domain)
{
    const struct topology_demand *demand = &search->demand;

    if (demand->need_count == 0)
        return true;
    if (!demand->is_uniform)
        return ratio_of(search, domain) <= 1;
    return search->pod_counts[domain] >= demand->pod_count;
}

static uint32_t common_domain(const struct topology_tree *tree, uint32_t a, uint32_t b)
{
    while (a != b) {
        const struct domain *l = tree_domain(tree, a);
        const struct domain *r = tree_domain(tree, b);
        if (l->level >= r->level)
            a = l->parent;
        if (r->level >= l->level)
            b = r->parent;
    }
    return a;
}

/* Marks the nodes of the set that are in the tree, and finds the innermost domain that has them all. */
static uint32_t mark_nodes(struct set_search *search)
{
    struct topology_trees *trees = search->engine->topologies;
    uint32_t common = NO_ID;

    if (trees->marks.len < search->engine->state->nodes.len)
        vec_resize(&trees->marks, search->engine->state->nodes.len);
    if (++trees->mark == 0) {
        memset(trees->marks.items, 0, trees->marks.len * sizeof *trees->marks.items);
        trees->mark = 1;
    }
    for (uint32_t i = 0; i < search->from.count; i++) {
        node_id node = search->from.ids[i];
        uint32_t leaf = tree_leaf(search->tree, node);
        if (leaf == NO_ID)
            continue;
        trees->marks.items[node] = trees->mark;
        search->valid_count++;
        common = common == NO_ID ? leaf : common_domain(search->tree, common, leaf);
    }
    return common == NO_ID ? 0 : common;
}

static uint32_t lone_descendant(const struct topology_tree *tree)
{
    uint32_t domain = 0;

    while (tree_domain(tree, domain)->child_count == 1)
        domain = tree_domain(tree, domain)->first_child;
    return domain;
}

/* The start is not below the preferred level, and not below a label without a value. */
static void find_start(struct set_search *search)
{
    const struct topology_tree *tree = search->tree;
    uint32_t common;

    if (search->from.is_all) {
        search->valid_count = tree->node_count;
        common = lone_descendant(tree);
    } else {
        common = mark_nodes(search);
    }
    search->start = common;
    for (uint32_t d = common; d != 0; d = tree_domain(tree, d)->parent) {
        bool is_too_deep = search->preferred > 0 && tree_domain(tree, d)->level > search->preferred;
        if (is_too_deep || tree_domain(tree, d)->value == 0)
            search->start = tree_domain(tree, d)->parent;
    }
}

struct ranked_child {
    double ratio;
    uint32_t place;  // by value
    uint32_t domain;
};

static int compare_children(const void *a, const void *b)
{
    const struct ranked_child *l = a;
    const struct ranked_child *r = b;

    if (l->ratio != r->ratio)
        return l->ratio > r->ratio ? -1 : 1;
    return l->place < r->place ? -1 : 1;
}

/* Mostly they are in order already: domains of one kind are equally full until pods come. */
static void sort_children(struct ranked_child *children, uint32_t count)
{
    if (count > 64) {
        qsort(children, count, sizeof *children, compare_children);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        struct ranked_child child = children[i];
        uint32_t at = i;
        for (; at > 0 && children[at - 1].ratio < child.ratio; at--)
            children[at] = children[at - 1];
        children[at] = child;
    }
}

static void list_children(struct set_search *search, uint32_t domain, struct ranked_child *room, struct domain_list *to)
{
    const struct topology_tree *tree = search->tree;
    const struct domain *d = tree_domain(tree, domain);

    if (search->demand.need_count == 0 && !is_below_start(search, domain)) {
        for (uint32_t i = 0; i < d->child_count; i++)
            to->items[to->count++] = d->first_child + i;
        return;
    }
    for (uint32_t i = 0; i < d->child_count; i++) {
        uint32_t child = tree->by_value.items[d->first_child + i];
        room[i] = (struct ranked_child){ratio_of(search, child), i, child};
    }
    sort_children(room, d->child_count);
    for (uint32_t i = 0; i < d->child_count; i++)
        to->items[to->count++] = room[i].domain;
}

/*
 * Lists the domains of every level from the top of what can fit down to `inner`. Outside of the start nothing counts as
 * free, which is enough for pods that need nothing but a slot.
 */
static void list_domains(struct set_search *search, uint32_t inner)
{
    const struct topology_tree *tree = search->tree;
    uint32_t top = search->demand.need_count == 0 ? 0 : search->start;
    uint32_t level = tree_domain(tree, top)->level;

    if (level > inner)
        return;
    search->lists[level] = (struct domain_list){arena_alloc(search->arena, sizeof(uint32_t)), 1};
    search->lists[level].items[0] = top;
    for (; level < inner; level++) {
        const struct domain_list *above = &search->lists[level];
        struct domain_list *list = &search->lists[level + 1];
        uint32_t count = 0;
        uint32_t most = 0;

        for (uint32_t i = 0; i < above->count; i++) {
            uint32_t children = tree_domain(tree, above->items[i])->child_count;
            count += children;
            most = MAX(most, children);
        }
        list->items = arena_alloc(search->arena, count * sizeof *list->items);
        struct ranked_child *room = arena_alloc(search->arena, most * sizeof *room);
        for (uint32_t i = 0; i < above->count; i++)
            list_children(search, above->items[i], room, list);
    }
}

static void score_domains(struct set_search *search, uint32_t group)
{
    const struct domain_list *list = &search->lists[search->preferred];
    uint32_t *scores = topology_scores_reset(search->engine, group);
    uint32_t count = 0;
    uint32_t place = 0;

    for (uint32_t i = 0; i < list->count; i++)
        count += is_below_start(search, list->items[i]);
    if (count == 0)
        return;
    for (uint32_t i = 0; i < list->count; i++) {
        if (!is_below_start(search, list->items[i]))
            continue;
        uint32_t score = (uint32_t)((uint64_t)10 * ++place / count) * 100000;
        const node_id *nodes = tree_nodes(search->tree, list->items[i]);
        for (uint32_t n = 0; n < tree_domain(search->tree, list->items[i])->node_count; n++)
            scores[nodes[n]] = score;
    }
}

/* Pods of the same sets that have a place keep the rest in the domains of the required level that they are in. */
static void find_held(struct set_search *search, const struct gang *gang, const pod_id *pods, uint32_t pod_count)
{
    const struct state *state = search->engine->state;
    uint32_t last = NO_ID;
    bool *holds = NULL;

    if (search->required == 0 || gang->active_allocated == 0)
        return;
    for (uint32_t i = 0; i < pod_count; i++) {
        uint32_t set = state->pods.items[pods[i]].pod_set;
        if (set == last || gang->groups[set].active_allocated == 0)
            continue;
        last = set;
        if (!holds)
            holds = arena_calloc(search->arena, search->tree->domains.len, sizeof *holds);
        for (uint32_t p = 0; p < gang->groups[set].pods.len; p++) {
            const struct pod *pod = &state->pods.items[gang->groups[set].pods.items[p]];
            uint32_t leaf;
            if (!status_in(pod->status, ACTIVE_ALLOCATED) || (leaf = tree_leaf(search->tree, pod->node)) == NO_ID)
                continue;
            holds[tree_above(search->tree, leaf, search->required)] = true;
        }
    }
    search->holds = holds;
}

static struct node_set nodes_of(struct set_search *search, uint32_t domain)
{
    const struct topology_tree *tree = search->tree;
    const struct topology_trees *trees = search->engine->topologies;
    const struct domain *d = tree_domain(tree, domain);

    if (search->from.is_all) {
        if (d->node_count == search->engine->state->nodes_by_rank.len)
            return search->from;
        return (struct node_set){.ids = tree_nodes(tree, domain), .count = d->node_count};
    }
    node_id *ids = arena_alloc(search->arena, MIN(d->node_count, search->valid_count) * sizeof *ids);
    uint32_t count = 0;
    /* Both lists are by rank: the shorter one is walked. */
    if (search->from.count < d->node_count) {
        for (uint32_t i = 0; i < search->from.count; i++) {
            uint32_t leaf = tree_leaf(tree, search->from.ids[i]);
            if (leaf != NO_ID && tree_above(tree, leaf, d->level) == domain)
                ids[count++] = search->from.ids[i];
        }
    } else {
        const node_id *nodes = tree_nodes(tree, domain);
        for (uint32_t i = 0; i < d->node_count; i++) {
            if (trees->marks.items[nodes[i]] == trees->mark)
                ids[count++] = nodes[i];
        }
    }
    return (struct node_set){.ids = ids, .count = count};
}

static struct node_set *collect_sets(struct set_search *search, uint32_t inner, uint32_t *ret_count)
{
    uint32_t most = 0;
    uint32_t count = 0;

    for (uint32_t level = search->required; level <= inner; level++)
        most += search->lists[level].count;
    struct node_set *sets = arena_alloc(search->arena, most * sizeof *sets);
    for (uint32_t level = inner + 1; level-- > search->required;) {
        for (uint32_t i = 0; i < search->lists[level].count; i++) {
            uint32_t domain = search->lists[level].items[i];
            if (!fits(search, domain))
                continue;
            if (search->holds && !search->holds[tree_above(search->tree, domain, search->required)])
                continue;
            sets[count] = nodes_of(search, domain);
            count += sets[count].count > 0;
        }
    }
    *ret_count = count;
    return sets;
}

/* Fills in what the search needs to know of the books, and says whether the start has room. */
static bool start_fits(struct set_search *search)
{
    if (search->tree->node_count == 0)
        return false;
    search->free = topology_free(search->engine, search->tree);
    if (search->demand.is_uniform && search->demand.need_count > 0)
        search->pod_counts = topology_pod_counts(search->engine, search->tree, search->demand.biggest);
    return fits(search, search->start);
}

static struct node_set *no_sets(struct engine *engine, const struct gang_view *view, uint32_t group,
                                enum verdict_code code, bool is_simulation)
{
    if (!is_simulation)
        *engine_verdict_slot(engine, view->gang) =
            (struct verdict){.code = code, .pod = NO_ID, .group = group, .queue = NO_ID};
    return NULL;
}

static struct node_set *no_domain(const struct set_search *search, const struct gang_view *view, uint32_t group,
                                  bool is_simulation)
{
    enum verdict_code code = VERDICT_TOPOLOGY_FULL;

    /* Without nodes that have the labels nothing is known of their size. */
    if (!is_simulation && search->required > 0 && search->tree->node_count > 0 &&
        !topology_could_fit(search->engine->state, search->tree, search->required, &search->demand))
        code = VERDICT_TOPOLOGY_TOO_SMALL;
    return no_sets(search->engine, view, group, code, is_simulation);
}

static struct node_set *same_set(struct arena *arena, struct node_set from, uint32_t *ret_count)
{
    struct node_set *same = arena_alloc(arena, sizeof *same);

    *same = from;
    *ret_count = 1;
    return same;
}

/*
 * Domains that no Topology describes are no bounds for a group that merely prefers one of them: it may use nodes outside
 * of all of them, last.
 */
static bool may_leave(const struct set_search *search)
{
    return search->tree->is_label && search->required == 0;
}

static struct node_set *with_all(struct set_search *search, uint32_t group, struct node_set *sets, uint32_t *ret_count)
{
    uint32_t *scores = search->engine->topologies->scores.items[group].by_node.items;
    struct node_set *more = arena_alloc(search->arena, (*ret_count + 1) * sizeof *more);

    for (node_id node = 0; node < search->engine->state->nodes.len; node++)
        if (scores[node] == TOPOLOGY_NO_SCORE)
            scores[node] = 0;
    for (uint32_t i = 0; i < *ret_count; i++)
        more[i] = sets[i];
    more[(*ret_count)++] = search->from;
    return more;
}

struct node_set *topology_node_sets(struct engine *engine, struct arena *arena, const struct gang_view *view,
                                    uint32_t group, const pod_id *pods, uint32_t pod_count, struct node_set from,
                                    bool is_simulation, uint32_t *ret_count)
{
    const struct gang *gang = &engine->state->gangs.items[view->gang];
    const struct topology_constraint *constraint = &gang->groups[group].topology;

    if (constraint->topology == 0 || !engine_has(engine, PLUGIN_TOPOLOGY))
        return same_set(arena, from, ret_count);
    *ret_count = 0;
    topology_id topology = state_find_topology(engine->state, constraint->topology);
    if (topology == NO_ID)
        return no_sets(engine, view, group, VERDICT_NO_TOPOLOGY, is_simulation);

    struct topology_tree *tree = topology_tree_get(engine, topology);
    struct set_search search = {.engine = engine, .arena = arena, .tree = tree, .from = from};
    search.required = topology_tree_level(tree, constraint->required);
    search.preferred = topology_tree_level(tree, constraint->preferred);
    uint32_t inner = search.preferred > 0 ? search.preferred : search.required;
    bool names_unknown_level =
        (constraint->required != 0 && search.required == 0) || (constraint->preferred != 0 && search.preferred == 0);
    if (names_unknown_level || inner == 0)
        return no_sets(engine, view, group, VERDICT_NO_TOPOLOGY, is_simulation);

    topology_demand_of(engine->state, pods, pod_count, &search.demand);
    find_start(&search);
    if (!start_fits(&search))
        return may_leave(&search) ? same_set(arena, from, ret_count) : no_domain(&search, view, group, is_simulation);
    list_domains(&search, inner);
    if (search.preferred > 0)
        score_domains(&search, group);
    find_held(&search, gang, pods, pod_count);
    struct node_set *sets = collect_sets(&search, inner, ret_count);
    if (may_leave(&search))
        return with_all(&search, group, sets, ret_count);
    return *ret_count > 0 ? sets : no_domain(&search, view, group, is_simulation);
}
