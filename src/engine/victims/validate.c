/* SPDX-License-Identifier: Apache-2.0 */

/* Rules on an eviction plan that worked: consolidation loses nobody, and who started lately keeps the minimum running. */
#include "engine/victims/validate.h"

#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/marks.h"
#include "engine/victims/search_internal.h"
#include "engine/victims/sources.h"

bool validate_consolidation(const struct search *s)
{
    const struct state *state = s->engine->state;

    for (uint32_t i = 0; i < s->plan->victims.len; i++) {
        if (state->pods.items[s->plan->victims.items[i].pod].status == POD_RELEASING)
            return false;
    }
    return true;
}

nsec_t preempt_min_runtime(const struct engine *engine, queue_id victim)
{
    const struct queue *queues = engine->state->queues.items;

    for (queue_id id = victim; id != NO_ID; id = queues[id].parent) {
        if (queues[id].has_preempt_min_runtime)
            return queues[id].preempt_min_runtime;
    }
    return engine->config.default_preempt_min_runtime;
}

static queue_id root_of(const struct queue *queues, queue_id id)
{
    while (queues[id].parent != NO_ID)
        id = queues[id].parent;
    return id;
}

/* The queue on the victim's way up just below the deepest common ancestor; that one itself when the way ends there. */
static queue_id below_common(const struct queue *queues, queue_id mine, queue_id victim)
{
    queue_id above = mine;
    queue_id at = victim;
    queue_id below = victim;

    while (queues[above].depth > queues[at].depth)
        above = queues[above].parent;
    while (queues[at].depth > queues[above].depth) {
        below = at;
        at = queues[at].parent;
    }
    while (at != above) {
        below = at;
        at = queues[at].parent;
        above = queues[above].parent;
    }
    return below;
}

nsec_t reclaim_min_runtime(const struct engine *engine, queue_id mine, queue_id victim)
{
    const struct queue *queues = engine->state->queues.items;
    queue_id from = victim;
    bool goes_up = true;

    if (engine->config.reclaim_runtime_method == RECLAIM_RUNTIME_LCA) {
        queue_id root = root_of(queues, victim);
        goes_up = root == root_of(queues, mine);
        from = goes_up ? below_common(queues, mine, victim) : root;
    }
    for (queue_id id = from; id != NO_ID; id = goes_up ? queues[id].parent : NO_ID) {
        if (queues[id].has_reclaim_min_runtime)
            return queues[id].reclaim_min_runtime;
    }
    return engine->config.default_reclaim_min_runtime;
}

/*
 * An elastic gang within its minimum runtime may give what it has beyond the minimum of each set. Pods that are leaving
 * still count as there, and every victim counts as gone, moved ones too.
 */
static bool keeps_minimum(const struct search *s, gang_id id)
{
    const struct gang *gang = &s->engine->state->gangs.items[id];

    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        uint32_t taken = 0;
        for (uint32_t i = 0; set->is_pod_set && i < set->pods.len; i++)
            taken += s->marks->pods[set->pods.items[i]].listed == s->plan->number;
        if (taken > 0 && (int64_t)set->active_used - taken < set->min)
            return false;
    }
    return true;
}

bool validate_min_runtime(struct search *s)
{
    for (uint32_t i = 0; i < s->plan->gangs.len; i++) {
        gang_id gang = s->plan->gangs.items[i];
        if (gang_is_protected(s->sources, gang) && gang_is_elastic(&s->engine->state->gangs.items[gang]) &&
            !keeps_minimum(s, gang))
            return false;
    }
    return true;
}
