/* SPDX-License-Identifier: Apache-2.0 */

/*
 * KAI's NodeLocalGreedy: of the victims so far, those of the gangs that meet on one node. Each new victim offers the nodes
 * on which its gang has pods, by name, and a plan takes all victims of every gang with one of them there, as one group
 * a gang.
 */
#include <stdlib.h>

#include "engine/context.h"
#include "engine/victims/accumulate.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/generators.h"
#include "engine/victims/marks.h"
#include "engine/victims/record.h"
#include "engine/victims/refute.h"
#include "engine/victims/search_internal.h"

bool generator_is_local(const struct search *s)
{
    return s->engine->config.generators[s->generator] == PLUGIN_NODE_LOCAL_GREEDY;
}

/* Groups of the gang, recorded ones too, as one; a pod in several of them stands in it once. */
static struct victim_group merge_groups(struct search *s, gang_id gang)
{
    const struct gang_tally *tally = &s->marks->gangs[gang];
    uint32_t most = 0;
    uint32_t count = 0;

    if (tally->first_group == tally->last_group)
        return s->accumulation->groups.items[tally->first_group];
    for (uint32_t g = tally->first_group; g != NO_ID; g = s->accumulation->next_group.items[g])
        most += s->accumulation->groups.items[g].count;
    struct victim *victims = arena_alloc(&s->simulating, most * sizeof *victims);
    for (uint32_t g = tally->first_group; g != NO_ID; g = s->accumulation->next_group.items[g]) {
        const struct victim_group *group = &s->accumulation->groups.items[g];
        for (uint32_t i = 0; i < group->count; i++) {
            bool is_listed = false;
            /* Only recorded groups overlap. */
            for (uint32_t k = 0; g < s->record->groups.len && k < count && !is_listed; k++)
                is_listed = victims[k].pod == group->victims[i].pod;
            if (!is_listed)
                victims[count++] = group->victims[i];
        }
    }
    return (struct victim_group){gang, count, victims};
}

void generator_local_fill(struct search *s, node_id node)
{
    plan_begin(s);
    for (uint32_t i = node_tally(s, node)->first_seat; i != NO_ID; i = s->accumulation->seats.items[i].next) {
        struct victim_group merged = merge_groups(s, s->accumulation->seats.items[i].gang);
        plan_add(s, &merged);
    }
}

static int by_rank(const void *l, const void *r)
{
    const uint32_t *a = l;
    const uint32_t *b = r;

    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Nodes with victims on which the gang has a pod, whatever it does there: pairs of rank and id, by rank. */
static uint32_t (*nodes_of(struct search *s, gang_id id, uint32_t *ret_count))[2]
{
    const struct state *state = s->engine->state;
    const struct gang *gang = &state->gangs.items[id];
    uint32_t most = 0;
    uint32_t count = 0;

    for (uint32_t g = 0; g < gang->group_count; g++)
        most += gang->groups[g].pods.len;
    uint32_t(*nodes)[2] = arena_alloc(&s->probing, most * sizeof *nodes);
    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            node_id node = state->pods.items[gang->groups[g].pods.items[i]].node;
            if (node == NO_ID || node_tally(s, node)->first_seat == NO_ID)
                continue;
            nodes[count][0] = state->nodes.items[node].is_present ? state->nodes.items[node].rank : NO_ID;
            nodes[count++][1] = node;
        }
    }
    qsort(nodes, count, sizeof *nodes, by_rank);
    *ret_count = count;
    return nodes;
}

static bool try_state(struct search *s)
{
    if (!has_potential(s)) {
        plan_begin(s);
        return plan_try(s);
    }
    if (refute_state(s))
        return false;
    uint32_t count;
    uint32_t(*nodes)[2] = nodes_of(s, vec_last(&s->accumulation->groups).gang, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && nodes[i][1] == nodes[i - 1][1])
            continue;
        if (search_must_stop(s))
            return false;
        generator_local_fill(s, nodes[i][1]);
        if (plan_try(s))
            return true;
    }
    return false;
}

bool generator_local(struct search *s)
{
    while (!search_must_stop(s) && accumulate_next(s)) {
        if (try_state(s))
            return true;
    }
    return false;
}
