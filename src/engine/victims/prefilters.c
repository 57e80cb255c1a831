/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pre-filters say whether the victims so far may be enough; while they are not, no plan is made of them. As in KAI
 * there are three: pods that are picky about nodes have met one that they match; groups that have to be together find
 * domains with GPUs enough; and the pods' GPUs go into the best nodes. Each follows the victims one by one.
 */
#include "engine/victims/prefilters.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/gpu_room.h"
#include "engine/victims/search_internal.h"
#include "engine/victims/victim.h"

/* A level as the probe under way sees it. */
struct domain_filter {
    const struct domain_level *level;
    double *capacity;  // by domain: free GPUs and those of victims
    double *demands;   // of the groups, largest first
    struct top_list best;
};

struct prefilters *prefilters_new(void)
{
    return xcalloc(1, sizeof(struct prefilters));
}

void prefilters_free(struct prefilters *filters)
{
    free(filters);
}

static int larger_first(const void *l, const void *r)
{
    double a = *(const double *)l;
    double b = *(const double *)r;

    return (a < b) - (a > b);
}

/* ---- Domains. ---- */

bool group_is_below(const struct gang *gang, uint32_t group, uint32_t above)
{
    while (group != NO_ID && group != above)
        group = gang->groups[group].parent;
    return group == above;
}

static double running_gpus(const struct search *s, const struct gang *gang, uint32_t group)
{
    const struct state *state = s->engine->state;
    double gpus = 0;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        if (set->active_allocated == 0 || !group_is_below(gang, g, group))
            continue;
        for (uint32_t i = 0; i < set->pods.len; i++) {
            pod_id pod = set->pods.items[i];
            if (status_in(state->pods.items[pod].status, ACTIVE_ALLOCATED))
                gpus += gpu_to_double(state_request(state, pod)->quota_gpus);
        }
    }
    return gpus;
}

/* Domains of the level by the value of its label, with the GPUs that are free in each. */
static void find_domains(struct search *s, struct domain_level *level)
{
    const struct state *state = s->engine->state;
    struct map64 by_value;

    map64_init(&by_value);
    level->domain_of = arena_alloc(&s->solving, (size_t)state->nodes.len * sizeof *level->domain_of);
    level->free = arena_alloc(&s->solving, (size_t)state->nodes.len * sizeof *level->free);
    memset(level->domain_of, 0xff, (size_t)state->nodes.len * sizeof *level->domain_of);
    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++) {
        node_id node = state->nodes_by_rank.items[i];
        name_id value = labels_get(state_labels(state, state->nodes.items[node].labels), level->key);
        uint64_t domain;
        if (value == NO_ID)
            continue;
        if (!map64_get(&by_value, value, &domain)) {
            domain = level->domain_count++;
            level->free[domain] = 0;
            map64_put(&by_value, value, domain);
        }
        level->domain_of[node] = (uint32_t)domain;
        level->free[domain] += s->engine->room->nodes.items[node].free;
    }
    map64_done(&by_value);
}

static struct domain_level *level_of(struct search *s, uint32_t most, const struct topology_constraint *topology)
{
    for (uint32_t i = 0; i < s->prefilters->level_count; i++) {
        if (s->prefilters->levels[i].topology == topology->topology &&
            s->prefilters->levels[i].key == topology->required)
            return &s->prefilters->levels[i];
    }
    struct domain_level *level = &s->prefilters->levels[s->prefilters->level_count++];
    *level = (struct domain_level){
        .topology = topology->topology,
        .key = topology->required,
        .groups = arena_alloc(&s->solving, most * sizeof *level->groups),
        .running = arena_alloc(&s->solving, most * sizeof *level->running),
    };
    find_domains(s, level);
    return level;
}

void prefilters_begin_search(struct search *s)
{
    const struct gang *gang = &s->engine->state->gangs.items[s->gang];
    uint32_t most = 0;

    s->prefilters->roomiest = (struct top_list){0};
    s->prefilters->level_count = 0;
    for (uint32_t g = 0; g < gang->group_count; g++)
        most += !gang->groups[g].is_pod_set && gang->groups[g].topology.required != 0;
    if (most == 0)
        return;
    s->prefilters->levels = arena_alloc(&s->solving, most * sizeof *s->prefilters->levels);
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *group = &gang->groups[g];
        if (group->is_pod_set || group->topology.required == 0 || group->topology.topology == 0 ||
            state_find_topology(s->engine->state, group->topology.topology) == NO_ID)
            continue;
        struct domain_level *level = level_of(s, most, &group->topology);
        level->groups[level->group_count] = g;
        level->running[level->group_count++] = running_gpus(s, gang, g);
    }
}

static void begin_level(struct search *s, struct domain_filter *filter, const struct domain_level *level,
                        uint32_t count)
{
    const struct state *state = s->engine->state;
    const struct gang *gang = &state->gangs.items[s->gang];

    filter->level = level;
    filter->demands = arena_alloc(&s->probing, level->group_count * sizeof *filter->demands);
    for (uint32_t i = 0; i < level->group_count; i++) {
        filter->demands[i] = level->running[i];
        for (uint32_t p = 0; p < count; p++) {
            if (group_is_below(gang, state->pods.items[s->chunk[p]].pod_set, level->groups[i]))
                filter->demands[i] += gpu_to_double(state_request(state, s->chunk[p])->quota_gpus);
        }
    }
    qsort(filter->demands, level->group_count, sizeof *filter->demands, larger_first);
    filter->capacity = arena_alloc(&s->probing, level->domain_count * sizeof *filter->capacity);
    top_list_init(&filter->best, &s->probing, level->group_count, 0);
    for (uint32_t d = 0; d < level->domain_count; d++) {
        filter->capacity[d] = level->free[d];
        top_list_raise(&filter->best, d, filter->capacity[d]);
    }
}

/* ---- GPUs. ---- */

/* The best nodes before anything is evicted, for the whole chunk; a probe's are the first of them. */
static void find_roomiest(struct search *s)
{
    const struct gpu_room *room = s->engine->room;

    top_list_init(&s->prefilters->roomiest, &s->solving, s->chunk_count, 0);
    for (uint32_t i = 0; i < s->feasible.count; i++) {
        node_id node = s->feasible.ids[i];
        double free = room->nodes.items[node].free;
        /* Each node comes once: what does not reach the last place need not be looked up. */
        if (s->prefilters->roomiest.len < s->prefilters->roomiest.want ||
            free > s->prefilters->roomiest.items[s->prefilters->roomiest.len - 1].value)
            top_list_raise(&s->prefilters->roomiest, node, free);
    }
}

static void begin_gpus(struct search *s, uint32_t count)
{
    struct prefilters *filters = s->prefilters;
    double *demands = arena_alloc(&s->probing, count * sizeof *demands);
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        double gpus = gpu_to_double(state_request(s->engine->state, s->chunk[i])->quota_gpus);
        if (gpus > 0)
            demands[found++] = gpus;
    }
    filters->demands = demands;
    filters->demand_count = found;
    if (found == 0)
        return;
    qsort(demands, found, sizeof *demands, larger_first);
    bool is_whole = demands[0] == demands[found - 1] && demands[0] == (double)(int64_t)demands[0];
    if (!is_whole && found > 1)
        filters->is_monotone = false;
    if (!s->prefilters->roomiest.items)
        find_roomiest(s);
    top_list_init(&filters->best, &s->probing, found, is_whole ? demands[0] : 0);
    for (uint32_t i = 0; i < s->prefilters->roomiest.len && i < found; i++)
        top_list_raise(&filters->best, s->prefilters->roomiest.items[i].id, s->prefilters->roomiest.items[i].value);
}

/* ---- Nodes that pods ask for. ---- */

static bool matches_any(const struct search *s, const struct constraints *c)
{
    for (uint32_t i = 0; i < s->feasible.count; i++) {
        if (node_matches(s->engine->state, c, s->feasible.ids[i]))
            return true;
    }
    return false;
}

static void begin_picky(struct search *s, uint32_t count)
{
    const struct state *state = s->engine->state;
    struct prefilters *filters = s->prefilters;

    for (uint32_t i = 0; i < count; i++) {
        constraints_id id = state->pods.items[s->chunk[i]].constraints;
        const struct constraints *c = &state->constraints.items[id];
        /* Pods of a gang are mostly alike, and in a row. */
        bool is_seen = i > 0 && id == state->pods.items[s->chunk[i - 1]].constraints;
        if (is_seen || !constraints_limit_nodes(c) || matches_any(s, c))
            continue;
        if (!filters->picky)
            filters->picky = arena_alloc(&s->probing, count * sizeof *filters->picky);
        filters->picky[filters->picky_count++] = id;
    }
}

/* ---- All of them. ---- */

void prefilters_begin(struct search *s, uint32_t count)
{
    struct prefilters *filters = s->prefilters;

    filters->picky = NULL;
    filters->picky_count = 0;
    filters->domains = NULL;
    filters->is_monotone = true;
    begin_picky(s, count);
    if (filters->level_count > 0)
        filters->domains = arena_alloc(&s->probing, filters->level_count * sizeof *filters->domains);
    for (uint32_t i = 0; i < filters->level_count; i++) {
        begin_level(s, &filters->domains[i], &filters->levels[i], count);
        filters->is_monotone &= filters->levels[i].group_count == 1;
    }
    begin_gpus(s, count);
}

void prefilters_victim(struct search *s, const struct victim *victim, double capacity)
{
    const struct state *state = s->engine->state;
    struct prefilters *filters = s->prefilters;

    for (uint32_t i = 0; i < filters->picky_count; i++) {
        if (node_matches(state, &state->constraints.items[filters->picky[i]], victim->node))
            filters->picky[i--] = filters->picky[--filters->picky_count];
    }
    for (uint32_t i = 0; i < filters->level_count; i++) {
        struct domain_filter *filter = &filters->domains[i];
        uint32_t domain = filter->level->domain_of[victim->node];
        if (domain == NO_ID)
            continue;
        filter->capacity[domain] += victim->freed;
        top_list_raise(&filter->best, domain, filter->capacity[domain]);
    }
    if (filters->demand_count > 0)
        top_list_raise(&filters->best, victim->node, capacity);
}

bool prefilters_pass(struct search *s)
{
    struct prefilters *filters = s->prefilters;

    if (filters->picky_count > 0)
        return false;
    for (uint32_t i = 0; i < filters->level_count; i++) {
        struct domain_filter *filter = &filters->domains[i];
        if (!top_list_takes(&filter->best, filter->demands, filter->level->group_count))
            return false;
    }
    return top_list_takes(&filters->best, filters->demands, filters->demand_count);
}
