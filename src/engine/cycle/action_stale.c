/* SPDX-License-Identifier: Apache-2.0 */

/* Stale gangs: what is left of a gang that lost pods it needs is evicted after a grace period. */
#include <stdlib.h>
#include <string.h>

#include "engine/context.h"
#include "engine/cycle/actions_internal.h"
#include "engine/nodes/statement.h"
#include "model/delta.h"

static bool is_stale(const struct gang *gang)
{
    return gang->succeeded == 0 && gang->active_used > 0 && gang->short_sets > 0;
}

/* Ids depend on the order in which gangs came. */
static int by_name(const void *l, const void *r, void *context)
{
    const struct state *state = context;
    const struct gang *a = &state->gangs.items[*(const gang_id *)l];
    const struct gang *b = &state->gangs.items[*(const gang_id *)r];
    int order = strcmp(state_name(state, a->uid), state_name(state, b->uid));

    if (!order)
        order = strcmp(state_name(state, a->namespace), state_name(state, b->namespace));
    return order ? order : strcmp(state_name(state, a->name), state_name(state, b->name));
}

static void evict_all(struct engine *engine, const struct gang *gang)
{
    const struct state *state = engine->state;

    statement_begin(engine);
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        for (uint32_t i = 0; i < set->pods.len; i++) {
            pod_id pod = set->pods.items[i];
            if (status_in(state->pods.items[pod].status, ACTIVE_ALLOCATED))
                statement_evict(engine, pod);
        }
    }
    statement_commit(engine, ACTION_STALE_GANG, NO_ID);
}

static void mark(struct engine *engine, gang_id id, nsec_t since)
{
    const struct gang *gang = &engine->state->gangs.items[id];

    if (gang->stale_since != since)
        state_set_gang_times(engine->state, id, gang->last_start, gang->last_eviction, since);
}

static void look_at(struct engine *engine, gang_id id)
{
    const struct gang *gang = &engine->state->gangs.items[id];
    nsec_t grace = gang->has_grace ? gang->staleness_grace : engine->config.staleness_grace;

    if (!gang->is_present)
        return;
    if (!is_stale(gang)) {
        mark(engine, id, 0);
        return;
    }
    if (gang->stale_since == 0)
        mark(engine, id, engine->now);
    if (grace >= 0 && engine->now - gang->stale_since >= grace && gang->active_allocated > 0)
        evict_all(engine, gang);
}

/*
 * Gangs that were stale when the cycle began, and those that it changed: KAI looks at all of them as they are now, also at
 * one that it has just started in part.
 */
void action_stale_gangs(struct engine *engine)
{
    struct state *state = engine->state;
    uint32_t known = state->stale_gangs.ids.len;
    uint32_t changed = state->changes.gangs.ids.len;

    if (known + changed == 0)
        return;
    /* Both lists may grow while gangs are looked at. */
    gang_id *ids = arena_alloc(&engine->scratch, (known + changed) * sizeof *ids);
    uint32_t count = 0;
    for (uint32_t i = 0; i < known; i++)
        ids[count++] = state->stale_gangs.ids.items[i];
    for (uint32_t i = 0; i < changed; i++) {
        if (!id_set_has(&state->stale_gangs, state->changes.gangs.ids.items[i]))
            ids[count++] = state->changes.gangs.ids.items[i];
    }
    qsort_r(ids, count, sizeof *ids, by_name, state);
    for (uint32_t i = 0; i < count; i++)
        look_at(engine, ids[i]);
}
