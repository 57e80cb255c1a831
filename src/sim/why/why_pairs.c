/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pairs of remedies, for workloads that two things keep waiting: a node selector that no node meets and a queue's limit,
 * say. One that needs no search of its own is taken as given, and all searches run again on top of it. Since neither
 * helps alone, both are needed.
 */
#include "model/state.h"
#include "sim/why/why_internal.h"

enum { PAIRS_MAX = 6, ENDED_MAX = 3 };

/* Runs all searches on top of the remedy. */
static void try_with(struct why *why, struct why_remedy remedy)
{
    struct why_remedy *kept = ARENA_NEW(&why->arena, struct why_remedy);
    struct retell_change emptied;

    *kept = remedy;
    why->base = remedy.change;
    why->base_remedy = kept;
    emptied = remedy.change;
    emptied.is_emptied = true;
    why_try_all(why, why->is_never && !why_works(why, &emptied, why->now));
    why->base = RETELL_CHANGE_INIT(why->gang);
    why->base_remedy = NULL;
}

static bool limits_nodes(const struct why *why)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];

    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            if (constraints_limit_nodes(state_constraints(why->state, gang->groups[g].pods.items[i])))
                return true;
        }
    }
    return false;
}

static void try_with_choices(struct why *why)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    struct why_remedy remedy = {.change = RETELL_CHANGE_INIT(why->gang)};

    if (limits_nodes(why)) {
        remedy.kind = WHY_NODES;
        remedy.change.drops_node_limits = true;
        try_with(why, remedy);
        remedy.change.drops_node_limits = false;
    }
    if (why->remedies.len == 0) {
        remedy.kind = WHY_TAINTS;
        remedy.change.tolerates_all = true;
        try_with(why, remedy);
        remedy.change.tolerates_all = false;
    }
    for (uint32_t g = 0; g < gang->group_count && why->remedies.len == 0; g++) {
        if (gang->groups[g].topology.required == 0)
            continue;
        remedy.kind = WHY_LEVEL;
        remedy.change.level_group = g;
        remedy.level_from = remedy.level_less = state_name(why->state, gang->groups[g].topology.required);
        try_with(why, remedy);
        remedy.change.level_group = NO_ID;
    }
    if (why->remedies.len == 0 && !gang->is_preemptible) {
        remedy.kind = WHY_PREEMPTIBLE;
        remedy.change.is_preemptible = true;
        try_with(why, remedy);
    }
}

/* The largest first: what they leave is most likely enough. */
static void try_with_ends(struct why *why)
{
    const struct explanation *e = &why->explanation;
    uint32_t tried = 0;

    for (uint32_t i = 0; i < e->holder_count && tried < ENDED_MAX && why->remedies.len == 0; i++) {
        struct why_remedy remedy = {.kind = WHY_WITHOUT, .change = RETELL_CHANGE_INIT(why->gang)};

        if (e->holders[i].gang == NO_ID)
            continue;
        remedy.change.without = why_source_gang(why, e->holders[i].gang);
        if (remedy.change.without == NO_ID)
            continue;
        tried++;
        try_with(why, remedy);
    }
}

void why_try_pairs(struct why *why)
{
    try_with_choices(why);
    if (why->remedies.len == 0 && !why->is_never)
        try_with_ends(why);
    why_rank(why);
    why->remedies.len = why->remedies.len < PAIRS_MAX ? why->remedies.len : PAIRS_MAX;
}
