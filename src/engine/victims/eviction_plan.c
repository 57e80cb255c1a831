/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An eviction plan: victims to be evicted together. It is simulated on the state and taken back, unless it works: evicted pods
 * and the probe are placed again in the order of their queues, so that victims with a better claim come before the probe.
 * Costs follow the victims; nodes that had room before are a list that victims' nodes are merged into.
 */
#include "engine/victims/eviction_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/nodes/place.h"
#include "engine/nodes/statement.h"
#include "engine/queues/order.h"
#include "engine/victims/marks.h"
#include "engine/victims/record.h"
#include "engine/victims/refute.h"
#include "engine/victims/search_internal.h"
#include "engine/victims/search_rehearsal.h"
#include "engine/victims/validate.h"

struct eviction_plan *plan_new(void)
{
    return xcalloc(1, sizeof(struct eviction_plan));
}

void plan_free(struct eviction_plan *plan)
{
    if (!plan)
        return;
    map64_done(&plan->failed);
    vec_done(&plan->chosen);
    vec_done(&plan->victims);
    vec_done(&plan->gangs);
    free(plan);
}

void plan_add(struct search *s, const struct victim_group *group)
{
    struct gang_tally *tally = &s->marks->gangs[group->gang];

    vec_push(&s->plan->chosen, *group);
    if (tally->listed != s->plan->number) {
        tally->listed = s->plan->number;
        tally->evicted = 0;
        vec_push(&s->plan->gangs, group->gang);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        struct pod_mark *mark = &s->marks->pods[group->victims[i].pod];
        if (mark->listed == s->plan->number)
            continue;
        mark->listed = s->plan->number;
        tally->evicted++;
        vec_push(&s->plan->victims, group->victims[i]);
    }
}

void plan_begin(struct search *s)
{
    arena_clear(&s->simulating);
    s->plan->number = ++s->number;
    vec_clear(&s->plan->chosen);
    vec_clear(&s->plan->victims);
    vec_clear(&s->plan->gangs);
    vec_foreach (&s->record->groups, group)
        plan_add(s, group);
}

/* ---- Fingerprints of what has failed. ---- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct fingerprint {
    uint64_t key;
    uint64_t check;
};

/* Sums do not depend on order; recorded and other victims count differently, and so does the number of pods probed. */
static struct fingerprint fingerprint_of(const struct search *s)
{
    uint64_t pods = s->view->chunk_count;
    struct fingerprint print = {mix(pods + 1), mix(~pods)};

    for (uint32_t i = 0; i < s->plan->victims.len; i++) {
        pod_id pod = s->plan->victims.items[i].pod;
        uint64_t id = (uint64_t)pod << 1 | (s->marks->pods[pod].recorded == s->probe);
        print.key += mix(id + UINT64_C(0x9e3779b97f4a7c15));
        print.check += mix(id * UINT64_C(0xd1342543de82ef95) + 7);
    }
    return print;
}

/* ---- Simulation. ---- */

static int by_rank(const void *l, const void *r)
{
    uint32_t a = *(const uint32_t *)l;
    uint32_t b = *(const uint32_t *)r;

    return (a > b) - (a < b);
}

/* Ranks of the victims' nodes that had no room before, sorted, each once. */
static uint32_t *added_ranks(struct search *s, uint32_t *ret_count)
{
    const struct state *state = s->engine->state;
    uint32_t *ranks = arena_alloc(&s->simulating, s->plan->victims.len * sizeof *ranks);
    uint32_t count = 0;

    vec_foreach (&s->plan->victims, victim) {
        struct node_tally *tally = &s->marks->nodes[victim->node];
        if (tally->chosen_in == s->plan->number || !state->nodes.items[victim->node].is_present ||
            s->engine->room->nodes.items[victim->node].has_room)
            continue;
        tally->chosen_in = s->plan->number;
        ranks[count++] = state->nodes.items[victim->node].rank;
    }
    qsort(ranks, count, sizeof *ranks, by_rank);
    *ret_count = count;
    return ranks;
}

static uint32_t first_at_or_after(const struct state *state, struct node_set set, uint32_t from, uint32_t rank)
{
    uint32_t low = from;
    uint32_t high = set.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (state->nodes.items[set.ids[middle]].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct node_set feasible_nodes(struct search *s)
{
    const struct state *state = s->engine->state;
    uint32_t added_count;

    if (s->feasible.is_all)
        return s->feasible;
    const uint32_t *added = added_ranks(s, &added_count);
    node_id *ids = arena_alloc(&s->simulating, (size_t)(s->feasible.count + added_count) * sizeof *ids);
    uint32_t from = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < added_count; i++) {
        uint32_t to = first_at_or_after(state, s->feasible, from, added[i]);
        memcpy(ids + count, s->feasible.ids + from, (to - from) * sizeof *ids);
        count += to - from;
        from = to;
        ids[count++] = state->nodes_by_rank.items[added[i]];
    }
    memcpy(ids + count, s->feasible.ids + from, (s->feasible.count - from) * sizeof *ids);
    count += s->feasible.count - from;
    return (struct node_set){count == state->nodes_by_rank.len, ids, count};
}

/* Nothing of the gang that the plan evicted is still leaving. */
static bool is_back(const struct search *s, gang_id id)
{
    const struct gang *gang = &s->engine->state->gangs.items[id];

    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].is_pod_set && gang->groups[g].virtual_releasing > 0)
            return false;
    }
    return true;
}

/* Places victims and probe in the order of queues. False when the probe found no place, or nothing can come of it. */
static bool place_again(struct search *s)
{
    struct engine *engine = s->engine;
    struct node_set nodes = feasible_nodes(s);
    struct order *order =
        order_of_simulation(engine, &s->simulating, s->view, s->plan->gangs.items, s->plan->gangs.len);
    bool is_placed = false;

    while (!order_is_empty(order)) {
        const struct gang_view *view = order_pop(order);
        gang_id gang = view->gang;
        bool works = place_gang(engine, view, nodes, true);
        if (gang == s->gang) {
            if (!works)
                return false;
            is_placed = true;
        } else if (s->action == ACTION_CONSOLIDATION && (!works || !is_back(s, gang))) {
            /* A gang has one try, and consolidation may not lose any. */
            return false;
        }
    }
    return is_placed;
}

static bool validate(struct search *s)
{
    switch (s->action) {
    case ACTION_CONSOLIDATION:
        return validate_consolidation(s);
    case ACTION_RECLAIM:
        return validate_reclaim(s) && validate_min_runtime(s);
    default:
        return validate_min_runtime(s);
    }
}

bool plan_try(struct search *s)
{
    struct engine *engine = s->engine;

    if (s->plan->victims.len == 0)
        return false;
    s->report.generators[s->generator].emitted++;
    if (refute_plan(s))
        return false;
    struct fingerprint print = fingerprint_of(s);
    uint64_t check;
    if (map64_get(&s->plan->failed, print.key, &check) && check == print.check)
        return false;

    bool is_refuted = rehearsal_refutes(s);
    if (is_refuted && !engine->checks_rehearsals) {
        map64_put(&s->plan->failed, print.key, print.check);
        return false;
    }
    s->report.generators[s->generator].simulated++;
    statement_begin(engine);
    for (uint32_t i = 0; i < s->plan->victims.len; i++)
        statement_evict(engine, s->plan->victims.items[i].pod);
    bool has_room = place_again(s);
    BUG_ON(is_refuted && has_room);
    if (has_room && validate(s)) {
        record_outcome(s);
        return true;
    }
    s->report.generators[s->generator].rejected += has_room;
    statement_discard(engine);
    map64_put(&s->plan->failed, print.key, print.check);
    return false;
}
