/* SPDX-License-Identifier: Apache-2.0 */

/* Asks why: runs the cluster as it is, explains, and looks for what would help. */
#include "sim/why/why.h"

#include "engine/engine.h"
#include "model/state.h"
#include "sim/why/why_internal.h"

#define ALL_STATUSES UINT32_MAX

static uint32_t pods_in(const struct state *state, gang_id id, uint32_t statuses)
{
    const struct gang *gang = &state->gangs.items[id];
    uint32_t count = 0;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++)
            count += status_in(state->pods.items[gang->groups[g].pods.items[i]].status, statuses);
    }
    return count;
}

/* Nothing waits for a place any more, promised or not, or has just lost its own. */
static bool is_all_placed(const struct state *state, gang_id id)
{
    return why_gang_runs(state, id, 0) &&
           pods_in(state, id, 1 << POD_PENDING | 1 << POD_PIPELINED | 1 << POD_RELEASING) == 0;
}

/* Not even alone on the emptied cluster, with neither quotas nor limits; then room and quotas are not what is missing. */
static bool runs_nowhere(struct why *why)
{
    struct retell_change emptied = why_change_new(why);

    emptied.is_emptied = true;
    return why->explanation.verdict.code != VERDICT_NOT_READY && !why_works(why, &emptied, why->now);
}

void why_try_all(struct why *why, bool is_never)
{
    why_try_requests(why);
    why_try_claims(why);
    why_try_pods(why);
    why_try_queues(why);
    why_try_choices(why);
    if (is_never)
        return;
    why_try_quota(why);
    why_try_without(why);
    why_try_waiting(why);
}

static void look_for_remedies(struct why *why)
{
    why->is_never = runs_nowhere(why);
    why_try_all(why, why->is_never);
    if (why->remedies.len == 0)
        why_try_pairs(why);
    if (why->remedies.len == 0 && !why->is_never)
        why_find_line(why);
    why_rank(why);
}

void why_ask(struct why *why, struct state *state, const struct object_set *objects, const struct config *config,
             nsec_t now, gang_id gang)
{
    struct retell_change nothing = RETELL_CHANGE_INIT(gang);
    const struct gang *asked = &state->gangs.items[gang];

    *why = (struct why){.state = state,
                        .objects = objects,
                        .config = config,
                        .now = now,
                        .gang = gang,
                        .base = nothing,
                        .line = {NO_ID, NO_ID}};
    arena_init(&why->arena);
    state_settle(state);
    why->settled = state_retell(state, &nothing);
    why_run(&why->run, why->settled, config, now);
    why->settled_gang =
        state_find_gang(why->settled, state_name(state, asked->namespace), state_name(state, asked->name));
    explain_all(why->run.engine, why->settled_gang, &why->explanation);
    why->runs = is_all_placed(why->settled, why->settled_gang);
    /* A gang that has what it needs may still have pods that wait: it is about the next of them. */
    if (why_gang_runs(why->settled, why->settled_gang, 0))
        why->more_than = pods_in(why->settled, why->settled_gang, ALLOCATED_SET);
    if (why->runs) {
        vec_push(&why->causes, (struct why_cause){verdict_code_name(VERDICT_NONE),
                                                  asked->pending == 0 ? "all of its pods run"
                                                                      : "its pods find nodes in the next cycles"});
        return;
    }
    why->has_no_pods = pods_in(why->settled, why->settled_gang, ALL_STATUSES) == 0;
    if (!why->has_no_pods)
        look_for_remedies(why);
    why_find_causes(why);
}

const char *why_state(const struct why *why)
{
    return why->runs && why->state->gangs.items[why->gang].pending == 0 ? "Running" : "Pending";
}

const char *why_outlook(const struct why *why)
{
    if (why->runs)
        return verdict_class_name(why->state->gangs.items[why->gang].pending == 0 ? VERDICT_CLASS_FINE
                                                                                  : VERDICT_CLASS_SOON);
    if (why->has_no_pods)
        return verdict_class_name(verdict_class(VERDICT_NOT_READY));
    return verdict_class_name(why->is_never ? VERDICT_CLASS_NEVER : verdict_class(why->explanation.verdict.code));
}

void why_done(struct why *why)
{
    explanation_done(&why->explanation);
    why_run_done(&why->run);
    state_free(why->settled);
    vec_done(&why->causes);
    vec_done(&why->remedies);
    arena_done(&why->arena);
}
