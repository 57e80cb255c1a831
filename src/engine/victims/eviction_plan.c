/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A scenario: victims to be evicted together. It is simulated on the state and taken back, unless it works: evicted pods
 * and the probe are placed again in the order of their queues, so that victims with a better claim come before the probe.
 * Costs follow the victims; nodes that had room before are a list that victims' nodes are merged into.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/context.h"
#include "engine/nodes/statement.h"
#include "engine/victims/search.h"

void scenario_add(struct search *s, const struct victim_group *group)
{
    vec_push(&s->chosen, *group);
    for (uint32_t i = 0; i < group->count; i++) {
        struct pod_mark *mark = &s->pods[group->victims[i].pod];
        if (mark->listed == s->scenario)
            continue;
        mark->listed = s->scenario;
        vec_push(&s->victims, group->victims[i]);
    }
    if (s->gangs[group->gang].listed != s->scenario) {
        s->gangs[group->gang].listed = s->scenario;
        vec_push(&s->victim_gangs, group->gang);
    }
}

void scenario_begin(struct search *s)
{
    arena_clear(&s->simulating);
    s->scenario = ++s->number;
    vec_clear(&s->chosen);
    vec_clear(&s->victims);
    vec_clear(&s->victim_gangs);
    vec_foreach (&s->recorded, group)
        scenario_add(s, group);
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

    for (uint32_t i = 0; i < s->victims.len; i++) {
        pod_id pod = s->victims.items[i].pod;
        uint64_t id = (uint64_t)pod << 1 | (s->pods[pod].recorded == s->probe);
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
    uint32_t *ranks = arena_alloc(&s->simulating, s->victims.len * sizeof *ranks);
    uint32_t count = 0;

    vec_foreach (&s->victims, victim) {
        struct node_tally *tally = &s->nodes[victim->node];
        if (tally->chosen_in == s->scenario || !state->nodes.items[victim->node].is_present ||
            s->engine->room->nodes.items[victim->node].has_room)
            continue;
        tally->chosen_in = s->scenario;
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

/* Nothing of the gang that the scenario evicted is still leaving. */
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
        order_of_simulation(engine, &s->simulating, s->view, s->victim_gangs.items, s->victim_gangs.len);
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

/* ---- Recording. ---- */

static bool group_has(const struct victim_group *group, pod_id pod)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->victims[i].pod == pod)
            return true;
    }
    return false;
}

struct recording {
    uint32_t *next_chosen;   // by index in `chosen`: the next group of the same gang
    uint32_t *next;          // likewise: the next one recorded
    uint32_t *first_chosen;  // by index in `victim_gangs`
    uint32_t *first;
    uint32_t *last;
    uint32_t *order;  // indexes in `victim_gangs`, in the order of their first recorded pod
    uint32_t order_count;
};

static struct recording begin_recording(struct search *s)
{
    uint32_t gangs = s->victim_gangs.len;
    uint32_t *room = arena_alloc(&s->simulating, (2 * (size_t)s->chosen.len + 4 * (size_t)gangs) * sizeof *room);
    struct recording to = {
        .next_chosen = room,
        .next = room + s->chosen.len,
        .first_chosen = room + 2 * s->chosen.len,
        .first = room + 2 * s->chosen.len + gangs,
        .last = room + 2 * s->chosen.len + 2 * gangs,
        .order = room + 2 * s->chosen.len + 3 * gangs,
    };

    for (uint32_t i = 0; i < gangs; i++) {
        s->gangs[s->victim_gangs.items[i]].place = i;
        to.first_chosen[i] = to.first[i] = NO_ID;
    }
    for (uint32_t i = s->chosen.len; i-- > 0;) {
        uint32_t place = s->gangs[s->chosen.items[i].gang].place;
        to.next_chosen[i] = to.first_chosen[place];
        to.first_chosen[place] = i;
    }
    return to;
}

/* Records the first group of the pod's gang that holds it, unless one that holds it is recorded. */
static void record_pod(struct search *s, struct recording *to, pod_id pod)
{
    uint32_t place = s->gangs[s->engine->state->pods.items[pod].gang].place;
    uint32_t found = to->first_chosen[place];

    for (uint32_t i = to->first[place]; i != NO_ID; i = to->next[i]) {
        if (group_has(&s->chosen.items[i], pod))
            return;
    }
    while (!group_has(&s->chosen.items[found], pod))
        found = to->next_chosen[found];
    if (to->first[place] == NO_ID) {
        to->first[place] = found;
        to->order[to->order_count++] = place;
    } else {
        to->next[to->last[place]] = found;
    }
    to->last[place] = found;
    to->next[found] = NO_ID;
}

static void keep_group(struct search *s, const struct victim_group *group)
{
    struct victim *victims = arena_alloc(&s->solving, group->count * sizeof *victims);

    memcpy(victims, group->victims, group->count * sizeof *victims);
    vec_push(&s->outcome, (struct victim_group){group->gang, group->count, victims});
}

/* Is the list of victims of the outcome the one that was simulated? */
static bool outcome_is_same_list(const struct search *s)
{
    uint32_t at = 0;

    for (uint32_t g = 0; g < s->outcome.len; g++) {
        const struct victim_group *group = &s->outcome.items[g];
        for (uint32_t i = 0; i < group->count; i++, at++) {
            if (at >= s->victims.len || s->victims.items[at].pod != group->victims[i].pod)
                return false;
        }
    }
    return at == s->victims.len;
}

/*
 * What later probes start from: of each pod that was really evicted, then of each that was moved, the whole group, with
 * members that stayed where they were.
 */
static void classify(struct search *s)
{
    static const uint32_t kinds[] = {POD_RELEASING, POD_PIPELINED};
    const struct state *state = s->engine->state;
    struct recording to = begin_recording(s);

    vec_clear(&s->outcome);
    vec_clear(&s->outcome_nodes);
    for (uint32_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
        for (uint32_t i = 0; i < s->victims.len; i++) {
            const struct victim *victim = &s->victims.items[i];
            if (state->pods.items[victim->pod].status != kinds[kind])
                continue;
            record_pod(s, &to, victim->pod);
            vec_push(&s->outcome_nodes, victim->node);
        }
    }
    for (uint32_t i = 0; i < to.order_count; i++) {
        for (uint32_t g = to.first[to.order[i]]; g != NO_ID; g = to.next[g])
            keep_group(s, &s->chosen.items[g]);
    }
    s->is_repeatable = outcome_is_same_list(s);
}

bool scenario_try(struct search *s)
{
    struct engine *engine = s->engine;

    if (s->victims.len == 0)
        return false;
    s->report.generators[s->generator].emitted++;
    if (refute_scenario(s))
        return false;
    struct fingerprint print = fingerprint_of(s);
    uint64_t check;
    if (map64_get(&s->failed, print.key, &check) && check == print.check)
        return false;

    bool is_refuted = replay_refutes(s);
    if (is_refuted && !engine->checks_replays) {
        map64_put(&s->failed, print.key, print.check);
        return false;
    }
    s->report.generators[s->generator].simulated++;
    statement_begin(engine);
    for (uint32_t i = 0; i < s->victims.len; i++)
        statement_evict(engine, s->victims.items[i].pod);
    bool has_room = place_again(s);
    BUG_ON(is_refuted && has_room);
    if (has_room && validate(s)) {
        classify(s);
        return true;
    }
    s->report.generators[s->generator].rejected += has_room;
    statement_discard(engine);
    map64_put(&s->failed, print.key, print.check);
    return false;
}
