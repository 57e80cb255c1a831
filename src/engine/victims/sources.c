/* SPDX-License-Identifier: Apache-2.0 */

/* Whose gangs an action may look at, and whether it may start at all. */
#include "engine/victims/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/queues/share.h"
#include "engine/victims/validate.h"

struct sources {
    struct engine *engine;
    enum action action;
    gang_id gang;  // for which victims are looked for
    queue_id queue;
    double asked[SHARE_COUNT];
    uint32_t round;
    struct leaf_case *leaves;  // by queue id; zeros until used
};

struct sources *sources_new(struct engine *engine, enum action action)
{
    struct sources *s = xcalloc(1, sizeof *s);

    s->engine = engine;
    s->action = action;
    return s;
}

void sources_free(struct sources *s)
{
    if (!s)
        return;
    free(s->leaves);
    free(s);
}

void sources_begin(struct sources *s, const struct gang_view *view)
{
    s->gang = view->gang;
    s->queue = s->engine->state->gangs.items[view->gang].queue;
    memcpy(s->asked, view->asked, sizeof s->asked);
    s->round++;
    if (!s->leaves)
        s->leaves = xcalloc(s->engine->state->queues.len, sizeof *s->leaves);
}

bool reclaim_is_due(const struct engine *engine, const struct gang_view *view)
{
    const struct gang *gang = &engine->state->gangs.items[view->gang];
    double held[SHARE_COUNT];

    if (!engine_has(engine, PLUGIN_PROPORTION) || gang->queue == NO_ID)
        return false;
    const double *fair = engine->shares.items[gang->queue].fair;
    share_allocated(engine, gang->queue, held);
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (!share_le(held[r] + view->asked[r], fair[r]))
            return false;
    }
    if (gang->is_preemptible)
        return true;
    share_allocated_fixed(engine, gang->queue, held);
    return share_stays_deserved(&engine->state->queues.items[gang->queue], held, view->asked);
}

bool consolidation_may_help(struct engine *engine, const struct gang_view *view)
{
    const struct state *state = engine->state;
    int64_t hundredths = 0;
    int64_t memory = 0;

    for (uint32_t i = 0; i < view->chunk_count; i++) {
        const struct request *request = state_request(state, view->chunk[i]);
        hundredths += request->quota_gpus / GPU_HUNDREDTH;
        if (request->kind == REQUEST_GPU_MEMORY)
            memory += request->devices * request->memory_mib;
        /* KAI adds gigabytes of MIG slices to MiB. */
        for (uint32_t d = RES_FIXED; d < request->v_count; d++)
            memory += state->res.mig_gigabytes[d] * request->v[d];
    }
    gpu_room_refresh(engine);
    return engine->room->hundredths >= hundredths && engine->room->memory_mib >= memory;
}

/* Is something of the victim's side above what it may have, so that a queue beyond its own quota may take it? */
static bool is_over_share(const struct engine *engine, queue_id queue, const double held[SHARE_COUNT])
{
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (!share_le(held[r], share_allocatable(engine, queue, r)))
            return true;
    }
    return false;
}

static bool may_take_from(const struct sources *s, queue_id mine, queue_id theirs)
{
    const struct engine *engine = s->engine;
    const double *deserved = engine->state->queues.items[theirs].deserved;
    double held[SHARE_COUNT];
    bool has_less = false;

    share_allocated(engine, mine, held);
    bool is_within_quota = share_stays_deserved(&engine->state->queues.items[mine], held, s->asked);
    share_allocated(engine, theirs, held);
    if (!is_within_quota)
        return is_over_share(engine, theirs, held);
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (s->asked[r] <= 0 || deserved[r] == UNLIMITED)
            continue;
        if (held[r] > deserved[r])
            return true;
        has_less |= held[r] < deserved[r];
    }
    return !has_less;
}

/*
 * GPUs that the other side has above what the validator defends: it lets items go while there are any. Unlimited when it
 * is another resource that it has too much of. What is left only shrinks, so that no other resource joins later.
 */
static double surplus_of(const struct sources *s, queue_id mine, queue_id theirs)
{
    const struct engine *engine = s->engine;
    const struct queue *queues = engine->state->queues.items;
    double held[SHARE_COUNT];
    double surplus = 0;

    share_allocated(engine, mine, held);
    bool keeps_quota = share_stays_deserved(&queues[mine], held, s->asked);
    share_allocated(engine, theirs, held);
    for (int r = 0; r < SHARE_COUNT; r++) {
        double bound = share_allocatable(engine, theirs, r);
        if (keeps_quota && !share_le(bound, queues[theirs].deserved[r]))
            bound = queues[theirs].deserved[r];
        if (share_le(held[r], bound))
            continue;
        if (r != SHARE_GPU)
            return INFINITY;
        surplus = held[r] - bound;
    }
    return surplus;
}

const struct leaf_case *leaf_case(struct sources *s, queue_id leaf)
{
    struct leaf_case *found = &s->leaves[leaf];

    if (found->round == s->round)
        return found;
    *found = (struct leaf_case){.round = s->round, .is_source = true, .mine = NO_ID, .theirs = NO_ID};
    if (s->action == ACTION_RECLAIM) {
        share_level(s->engine, s->queue, leaf, &found->mine, &found->theirs);
        found->is_source = leaf != s->queue && may_take_from(s, found->mine, found->theirs);
        found->surplus = found->is_source ? surplus_of(s, found->mine, found->theirs) : 0;
        found->gives_up = found->surplus > 0;
        found->min_runtime = reclaim_min_runtime(s->engine, s->queue, leaf);
    } else if (s->action == ACTION_PREEMPT) {
        found->is_source = leaf == s->queue;
        found->min_runtime = preempt_min_runtime(s->engine, leaf);
    }
    return found;
}

static bool is_within(const struct sources *s, nsec_t start, nsec_t min_runtime)
{
    return engine_has(s->engine, PLUGIN_MIN_RUNTIME) && start != 0 && s->engine->now < start + min_runtime;
}

bool gang_is_protected(struct sources *s, gang_id id)
{
    const struct gang *gang = &s->engine->state->gangs.items[id];

    return is_within(s, gang->last_start, leaf_case(s, gang->queue)->min_runtime);
}

/* Asked about leaves whose gangs run; the bounds say no only where every gang would be refused. */
bool sources_take_queue(void *context, queue_id leaf)
{
    struct sources *s = context;
    const struct leaf_case *found = leaf_case(s, leaf);

    if (!found->is_source || leaf >= s->engine->room->leaves.len)
        return false;
    const struct leaf_bounds *bounds = &s->engine->room->leaves.items[leaf];
    if (!bounds->has_gangs)
        return false;
    if (s->action == ACTION_CONSOLIDATION)
        return true;
    if (s->action == ACTION_PREEMPT && bounds->lowest_priority >= s->engine->state->gangs.items[s->gang].priority)
        return false;
    /* The one that started first is the first to be free to go. */
    return bounds->has_elastic || !is_within(s, bounds->oldest_start, found->min_runtime);
}

/* KAI: a preemption victim has some pod alive that has no node yet or is on a node that is there. */
static bool is_somewhere(const struct state *state, const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        for (uint32_t i = 0; i < set->pods.len; i++) {
            const struct pod *pod = &state->pods.items[set->pods.items[i]];
            if (status_in(pod->status, ALIVE) && (pod->node == NO_ID || state->nodes.items[pod->node].is_present))
                return true;
        }
    }
    return false;
}

bool sources_take_gang(void *context, gang_id id)
{
    struct sources *s = context;
    const struct state *state = s->engine->state;
    const struct gang *gang = &state->gangs.items[id];

    if (id == s->gang || !gang->is_preemptible || gang->active_allocated == 0)
        return false;
    /*
     * Which gangs a limited consolidation looks at is chance in KAI. Here it is the first ones that run: those that only
     * have a promise, of this action mostly, would take the places of gangs whose moving helps.
     */
    if (s->action == ACTION_CONSOLIDATION)
        return gang->allocated > 0 || s->engine->config.max_consolidation_preemptees < 0;
    if (s->action == ACTION_PREEMPT && gang->priority >= state->gangs.items[s->gang].priority)
        return false;
    if (gang_is_protected(s, id) && !gang_is_elastic(gang))
        return false;
    return s->action == ACTION_RECLAIM || is_somewhere(state, gang);
}
