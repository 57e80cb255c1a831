/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What cannot succeed is not simulated. Every test here is a condition that success implies, so that the first plan
 * that works, and with it each decision, stays the same.
 *
 * 1. Quotas of work that may not be preempted. Victims may be preempted, so that no simulation changes these books; and
 *    success places the whole chunk, which asks for them. The same for a limit of the gang's own leaf in reclaim, whose
 *    victims are in other leaves.
 *
 * 2. Sides that may not give. The validator lets an item go while what is left of the victim's side is above its share or
 *    quota; what is left only shrinks. So a side that may not give the first item gives none, and one that has too many
 *    GPUs, and too much of nothing else, gives its surplus and one item at most. All other victims have to be placed
 *    again; and where moved victims count as taken, a side that gives none has no use at all.
 *
 * 3. Whole GPUs are conserved. Let W(n) be the GPUs of node n that are idle or being released and that nobody shares, as
 *    if all sharers had left. If all victims but those given end up on nodes again, then for each node
 *    W before - W after <= max(0, W before) + what was given there: a node that something was placed on ends at 0 or
 *    above, any other only gained. Summed up: what the chunk takes <= sum of max(0, W) + what sides give. Nodes whose
 *    GPUs come as claims are charged once for several pods; where there are any, this is not used. Nor once a pod was
 *    moved: as in KAI, such a pod goes back to its promised place, full or not, when it finds the one that it is leaving.
 *
 * 4. Pods of at least u whole GPUs need one of the slots floor(W(n) / u) each, on nodes that may be used, where W counts
 *    all victims of the plan as gone, and a victim that shares GPUs as if it freed each of them whole. Pods that a
 *    topology requires to be together need them in one domain.
 *
 * 5. Pre-filters look at sums over the victims so far. With all candidates taken in, they are the same in each probe,
 *    whatever was recorded; and what one pod more asks for never makes them pass (see is_monotone). So a number of pods
 *    for which no state passed has no state for more pods, in no generator.
 *
 * 6. The local generator adds the victims of one node's gangs to the recorded ones. Over all candidates, the slots that
 *    this adds on any node are at most `local_gain`, and more recorded victims can only lower that. So when the slots of
 *    recorded victims and that gain are too few, no plan of it has enough.
 *
 * 7. Victims that all return before the probe has its turn, and leave it no room: see search_rehearsal.c.
 *
 * Tests 4, 6 and 7 start when a first plan has failed: most searches end with their first.
 */
#include "engine/victims/refute.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/queues/share.h"
#include "engine/victims/accumulate.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/generators.h"
#include "engine/victims/prefilters.h"
#include "engine/victims/search_internal.h"
#include "engine/victims/sources.h"
#include "model/books/books.h"

/* What the leaves of one side may give. */
struct side {
    uint32_t solve;
    int64_t held;  // billionths
    int64_t largest_item;
};

/* Slots by domain of a level at which pods have to be together. */
struct level_slots {
    int64_t *base;                   // by domain, without victims
    int64_t *with[_SLOT_COUNT_MAX];  // by domain: with the victims of the plan or probe `counted_in`
    uint32_t *counted_in[_SLOT_COUNT_MAX];
    int64_t most_base;
    int64_t most[_SLOT_COUNT_MAX];  // in one domain
    uint32_t need;                  // pods of the probe that one domain has to hold
};

/* What is known to be hopeless in the search under way. */
struct refutation {
    struct side *sides;          // by queue id; NULL until a first search needs them
    uint32_t never_passes;       // pre-filters never pass for so many pods or more
    int64_t unit;                // whole GPUs of the smallest pod of the probe that takes any; 0: no such test
    uint32_t unit_count;         // pods that take whole GPUs
    int64_t base_unit;           // that `base_slots` are for
    int64_t base_slots;          // such pods that free GPUs hold without victims
    struct level_slots *levels;  // by the search's levels; NULL: not counted
    uint32_t state_probe;        // the probe of which the first `state_groups` groups are counted
    uint32_t state_groups;
    int64_t state_slots;       // that they add
    int64_t local_gain;        // most pods that one step of the local generator added room for; -1: not known
    int64_t local_unit;        // of that size
    const pod_id *local_past;  // what was recorded when that was found
    uint32_t local_past_count;
};

struct refutation *refutation_new(void)
{
    return xcalloc(1, sizeof(struct refutation));
}

void refutation_free(struct refutation *refutation)
{
    if (!refutation)
        return;
    free(refutation->sides);
    free(refutation);
}

void refute_begin(struct search *s)
{
    struct side *sides = s->refutation->sides;

    if (!sides)
        sides = xcalloc(s->engine->state->queues.len, sizeof *sides);
    *s->refutation = (struct refutation){.sides = sides, .never_passes = UINT32_MAX, .local_gain = -1};
}

void refute_begin_round(struct search *s)
{
    s->refutation->local_gain = -1;
}

/* Whole GPUs that the pod takes from the books of its node, in one dimension; 0 for pods of other kinds. */
static int64_t whole_gpus(const struct request *request)
{
    if (request->kind != REQUEST_REGULAR || request->dra_gpus > 0 || request->v_count <= RES_GPU)
        return 0;
    return request->v[RES_GPU];
}

static bool leaf_is_at_limit(const struct search *s, const struct gang_view *view)
{
    const struct queue *leaf = &s->engine->state->queues.items[s->queue];
    double held[SHARE_COUNT];

    if (s->action != ACTION_RECLAIM)
        return false;
    share_allocated(s->engine, s->queue, held);
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (leaf->limit[r] != UNLIMITED && view->asked_most[r] != 0 && leaf->limit[r] < held[r] + view->asked_most[r])
            return true;
    }
    return false;
}

/* What a side gives at most: an item goes as long as there is a surplus before it, so the last one may be all beyond it. */
static int64_t gives_at_most(const struct side *side, double surplus)
{
    double most = surplus * (double)GPU_ONE + (double)side->largest_item;

    return most < (double)side->held ? (int64_t)most + 1 : side->held;
}

/* Tests 2 and 3; also whether there is any victim to look at. */
static bool leaves_give_too_little(struct search *s)
{
    const struct state *state = s->engine->state;
    const struct gpu_room *room = s->engine->room;
    bool has_source = false;
    bool has_giver = false;
    int64_t given = 0;
    int64_t need = 0;

    for (queue_id leaf = 0; leaf < room->leaves.len; leaf++) {
        if (!room->leaves.items[leaf].has_gangs || !sources_take_queue(s->sources, leaf))
            continue;
        const struct leaf_case *found = leaf_case(s->sources, leaf);
        has_source = true;
        if (!found->gives_up)
            continue;
        /* Leaves of one side share its surplus: each takes the place of the sum so far. */
        struct side *side = &s->refutation->sides[found->theirs];
        if (side->solve != s->solve)
            *side = (struct side){.solve = s->solve};
        else
            given -= gives_at_most(side, found->surplus);
        side->held += state->queues.items[leaf].allocated.v[SHARE_GPU];
        side->largest_item = MAX(side->largest_item, room->leaves.items[leaf].largest_item);
        given += gives_at_most(side, found->surplus);
        has_giver = true;
    }
    if (!has_source || (!has_giver && !s->engine->config.allows_consolidating_reclaim))
        return true;
    for (uint32_t i = 0; i < s->chunk_count; i++)
        need += whole_gpus(state_request(state, s->chunk[i]));
    return need > 0 && room->dra_nodes == 0 && !room->has_moved_pods && room->most + given < need;
}

bool refute_search(struct search *s, const struct gang_view *view)
{
    const struct gang *gang = &s->engine->state->gangs.items[s->gang];

    if (!capacity_allows_fixed(s->engine, gang, view->asked_most, NULL) || leaf_is_at_limit(s, view))
        return true;
    if (s->action == ACTION_RECLAIM)
        return leaves_give_too_little(s);
    return s->action == ACTION_PREEMPT && !sources_take_queue(s->sources, s->queue);
}

/* ---- Slots. ---- */

static int64_t slots_in(int64_t whole, int64_t unit)
{
    return whole < unit ? 0 : whole / unit;
}

static int64_t frees_at_most(const struct state *state, pod_id pod)
{
    const struct request *request = state_request(state, pod);

    return request_is_shared(request) ? request->devices * GPU_ONE : state->pods.items[pod].accepted_gpu;
}

static bool is_usable(const struct search *s, node_id node)
{
    return s->feasible.is_all || s->engine->room->nodes.items[node].has_room;
}

/* Slots without victims, by domain of each level. */
static void count_levels(struct search *s)
{
    struct refutation *r = s->refutation;

    r->levels = arena_alloc(&s->solving, s->prefilters->level_count * sizeof *r->levels);
    for (uint32_t i = 0; i < s->prefilters->level_count; i++) {
        const struct domain_level *level = &s->prefilters->levels[i];
        struct level_slots *slots = &r->levels[i];
        *slots = (struct level_slots){.base = arena_calloc(&s->solving, level->domain_count, sizeof *slots->base)};
        for (enum slot_count of = 0; of < _SLOT_COUNT_MAX; of++) {
            slots->with[of] = arena_alloc(&s->solving, level->domain_count * sizeof *slots->with[of]);
            slots->counted_in[of] = arena_calloc(&s->solving, level->domain_count, sizeof *slots->counted_in[of]);
        }
        for (uint32_t k = 0; k < s->feasible.count; k++) {
            uint32_t domain = level->domain_of[s->feasible.ids[k]];
            if (domain == NO_ID)
                continue;
            slots->base[domain] += slots_in(s->engine->room->nodes.items[s->feasible.ids[k]].whole, r->unit);
            slots->most_base = MAX(slots->most_base, slots->base[domain]);
        }
    }
}

/* Pods of the probe that one group of the level has to hold in one domain, at most. */
static uint32_t need_of_level(const struct search *s, const struct domain_level *level, uint32_t count)
{
    const struct state *state = s->engine->state;
    const struct gang *gang = &state->gangs.items[s->gang];
    uint32_t most = 0;

    for (uint32_t i = 0; i < level->group_count; i++) {
        uint32_t below = 0;
        for (uint32_t p = 0; p < count; p++)
            below += whole_gpus(state_request(state, s->chunk[p])) > 0 &&
                     group_is_below(gang, state->pods.items[s->chunk[p]].pod_set, level->groups[i]);
        most = MAX(most, below);
    }
    return most;
}

/* Counts the slots without victims for the unit of the probe, unless that is done. */
static void count_base(struct search *s)
{
    struct refutation *r = s->refutation;

    if (r->base_unit != r->unit) {
        r->base_unit = r->unit;
        r->base_slots = 0;
        for (uint32_t i = 0; i < s->feasible.count; i++)
            r->base_slots += slots_in(s->engine->room->nodes.items[s->feasible.ids[i]].whole, r->unit);
        if (s->prefilters->level_count > 0 && engine_has(s->engine, PLUGIN_TOPOLOGY))
            count_levels(s);
    }
    if (r->state_probe == s->probe)
        return;
    r->state_probe = s->probe;
    r->state_groups = 0;
    r->state_slots = 0;
    for (uint32_t i = 0; r->levels && i < s->prefilters->level_count; i++) {
        r->levels[i].need = need_of_level(s, &s->prefilters->levels[i], s->view->chunk_count);
        r->levels[i].most[OF_STATE] = r->levels[i].most_base;
    }
}

static void add_to_levels(struct search *s, enum slot_count of, uint32_t number, node_id node, int64_t added)
{
    for (uint32_t i = 0; i < s->prefilters->level_count; i++) {
        struct level_slots *slots = &s->refutation->levels[i];
        uint32_t domain = s->prefilters->levels[i].domain_of[node];
        if (domain == NO_ID)
            continue;
        if (slots->counted_in[of][domain] != number) {
            slots->counted_in[of][domain] = number;
            slots->with[of][domain] = slots->base[domain];
        }
        slots->with[of][domain] += added;
        slots->most[of] = MAX(slots->most[of], slots->with[of][domain]);
    }
}

/* Slots that one more victim adds. A node's only grow, and so do those of its domains. */
static int64_t add_victim(struct search *s, enum slot_count of, uint32_t number, const struct victim *victim)
{
    struct node_tally *tally = &s->marks->nodes[victim->node];
    int64_t whole = s->engine->room->nodes.items[victim->node].whole;
    int64_t unit = s->refutation->unit;
    int64_t before;

    if (tally->bound_in[of] != number) {
        tally->bound_in[of] = number;
        tally->bound[of] = 0;
        before = is_usable(s, victim->node) ? slots_in(whole, unit) : 0;
    } else {
        before = slots_in(whole + tally->bound[of], unit);
    }
    tally->bound[of] += frees_at_most(s->engine->state, victim->pod);
    int64_t added = slots_in(whole + tally->bound[of], unit) - before;
    if (added > 0 && s->refutation->levels)
        add_to_levels(s, of, number, victim->node, added);
    return added;
}

/* Slots that the plan's victims add to those without any; its number must not have been counted before. */
static int64_t added_slots(struct search *s)
{
    struct refutation *r = s->refutation;
    int64_t added = 0;

    for (uint32_t i = 0; r->levels && i < s->prefilters->level_count; i++)
        r->levels[i].most[OF_PLAN] = r->levels[i].most_base;
    for (uint32_t i = 0; i < s->plan->victims.len; i++)
        added += add_victim(s, OF_PLAN, s->plan->number, &s->plan->victims.items[i]);
    return added;
}

void refute_begin_probe(struct search *s, uint32_t count)
{
    struct refutation *r = s->refutation;

    r->unit = 0;
    r->unit_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t gpus = whole_gpus(state_request(s->engine->state, s->chunk[i]));
        if (gpus <= 0)
            continue;
        r->unit = r->unit_count++ == 0 ? gpus : MIN(r->unit, gpus);
    }
}

static bool has_too_few(const struct search *s, enum slot_count of, int64_t added)
{
    const struct refutation *r = s->refutation;

    if (r->base_slots + added < r->unit_count)
        return true;
    for (uint32_t i = 0; r->levels && i < s->prefilters->level_count; i++) {
        if (r->levels[i].most[of] < r->levels[i].need)
            return true;
    }
    return false;
}

/* All victims so far are an upper bound of every plan made of them. */
bool refute_state(struct search *s)
{
    struct refutation *r = s->refutation;

    if (r->unit == 0 || map64_len(&s->plan->failed) == 0)
        return false;
    count_base(s);
    for (; r->state_groups < s->accumulation->groups.len; r->state_groups++) {
        const struct victim_group *group = &s->accumulation->groups.items[r->state_groups];
        /* Recorded groups may overlap; a pod that counts twice only makes the bound weaker. */
        for (uint32_t i = 0; i < group->count; i++)
            r->state_slots += add_victim(s, OF_STATE, s->probe, &group->victims[i]);
    }
    return has_too_few(s, OF_STATE, r->state_slots);
}

bool refute_plan(struct search *s)
{
    if (s->refutation->unit == 0 || map64_len(&s->plan->failed) == 0)
        return false;
    count_base(s);
    return has_too_few(s, OF_PLAN, added_slots(s));
}

static bool past_is_recorded(const struct search *s)
{
    const struct refutation *r = s->refutation;

    for (uint32_t i = 0; i < r->local_past_count; i++) {
        if (s->marks->pods[r->local_past[i]].recorded != s->probe)
            return false;
    }
    return true;
}

bool refute_probe(struct search *s, uint32_t count)
{
    const struct refutation *r = s->refutation;

    if (count >= r->never_passes)
        return true;
    if (!generator_is_local(s) || r->local_gain < 0 || r->unit != r->local_unit || !past_is_recorded(s))
        return false;
    plan_begin(s);
    count_base(s);
    return r->base_slots + added_slots(s) + r->local_gain < r->unit_count;
}

static void learn_local_gain(struct search *s)
{
    struct refutation *r = s->refutation;

    count_base(s);
    plan_begin(s);
    int64_t recorded = added_slots(s);
    pod_id *past = arena_alloc(&s->solving, s->plan->victims.len * sizeof *past);
    for (uint32_t i = 0; i < s->plan->victims.len; i++)
        past[i] = s->plan->victims.items[i].pod;
    r->local_past = past;
    r->local_past_count = s->plan->victims.len;
    r->local_unit = r->unit;
    r->local_gain = 0;
    for (uint32_t i = 0; i < s->accumulation->nodes.len; i++) {
        generator_local_fill(s, s->accumulation->nodes.items[i]);
        r->local_gain = MAX(r->local_gain, added_slots(s) - recorded);
    }
}

void refute_learn_exhausted(struct search *s, uint32_t count, bool is_local)
{
    struct refutation *r = s->refutation;

    /* Limited consolidation sees other candidates in each probe. */
    if (s->action == ACTION_CONSOLIDATION && s->engine->config.max_consolidation_preemptees >= 0)
        return;
    if (!s->accumulation->has_passed) {
        if (s->prefilters->is_monotone)
            r->never_passes = MIN(r->never_passes, count);
    } else if (is_local && r->unit > 0) {
        learn_local_gain(s);
    }
}
