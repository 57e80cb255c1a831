/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Test 7 of those in search_refute.c: most scenarios of reclaim fail because every victim is placed again before the probe
 * has its turn. Where two things can be told beforehand, that is replayed on what is free (replay.c) and not simulated.
 *
 * Turns. All victims are of one leaf, next to the probe's leaf below the same queue. To come to the probe, its leaf has to
 * be served with each gang that waits before it; one of them, or the probe itself, is the barrier. A leaf's place among
 * the others is compared by what it holds and what its next gang asks for. Until the last victim came off, their leaf
 * holds no more than it did, and its next gang is one that waits before the last victim, or a victim: and with what that
 * one asks for it holds no more than it did either. So if the leaf with all that it held, and with the most that any of
 * those that wait asks for, is before the probe's leaf at its barrier, it is at every moment; and a heap whose ranks are
 * up to date does not give out what comes later. Ranks are: a leaf's changes only when it is at the top and its gang came
 * off. Only parts of the comparison that make an order count: what decides between equals does not.
 *
 * Order. Victims of one leaf come off by priority and age, which eviction does not change for gangs that were complete
 * and had no pod beyond their minimum. Such a gang comes back with all its pods, or the replay gives up.
 *
 * When all are back and the probe then finds no room, the scenario has failed. Whatever else comes out is simulated.
 */
#include <string.h>

#include "engine/engine_internal.h"
#include "engine/kept_orders_internal.h"
#include "engine/order_tree_internal.h"
#include "engine/replay_internal.h"
#include "engine/search_internal.h"
#include "model/gang.h"

enum { BARRIERS_MAX = 64 };  // gangs in front of the probe that are looked at

/* A gang of the victims' leaf, by its turn. */
struct turn {
    gang_id gang;
    double before[SHARE_COUNT];  // the most that gangs which wait before it ask for
};

/* A gang whose pods are all there, all needed, and plain. */
static bool is_plain(const struct engine *engine, const struct gang *gang, bool waits)
{
    if (gang->group_count != 2 || !gang->groups[1].is_pod_set || gang->groups[0].topology.topology != 0 ||
        gang->groups[1].topology.topology != 0 || gang->stray_pods.len > 0)
        return false;
    const struct group *set = &gang->groups[1];
    if (!waits && (set->min != (int32_t)set->pods.len || gang->active_allocated != set->pods.len ||
                   gang->groups[0].min > 1))
        return false;
    /* A pod that was moved, and only has a promise now, finds back to where that is in its own way. */
    if (!waits && gang->allocated != set->pods.len && engine->room->has_moved_pods)
        return false;
    for (uint32_t i = 0; i < set->pods.len; i++) {
        if (!replay_takes(engine, set->pods.items[i]))
            return false;
    }
    return true;
}

static bool queue_has_limits(const struct engine *engine, queue_id queue)
{
    const struct queue *queues = engine->state->queues.items;

    for (queue_id id = queue; id != NO_ID; id = queues[id].parent) {
        for (int r = 0; r < SHARE_COUNT; r++) {
            if (queues[id].limit[r] != UNLIMITED)
                return true;
        }
    }
    return false;
}

static void raise_to(double most[SHARE_COUNT], const double asked[SHARE_COUNT])
{
    for (int r = 0; r < SHARE_COUNT; r++)
        most[r] = MAX(most[r], asked[r]);
}

/* ---- Turns. ---- */

/* Is l before r by what makes an order of all queues? */
static bool precedes_clearly(const struct queue_rank *l, const struct queue_rank *r)
{
    if (l->is_over_utilised != r->is_over_utilised)
        return r->is_over_utilised;
    if (l->is_starved != r->is_starved)
        return l->is_starved;
    if (l->priority != r->priority)
        return l->priority > r->priority;
    if (l->violates_zero_share != r->violates_zero_share)
        return r->violates_zero_share;
    if (l->loaded_share != r->loaded_share)
        return l->loaded_share < r->loaded_share;
    return l->plain_share < r->plain_share;
}

/* The last place that the probe's leaf has among the others before the probe's turn. */
static struct queue_rank find_barrier(struct search *s)
{
    struct engine *engine = s->engine;
    const struct gang *gang = &engine->state->gangs.items[s->gang];
    struct kept_list *list = &engine->orders->queues.items[s->queue].waiting;
    struct gang_key key = gang_key_of(engine, gang, s->view->elastic);
    struct kept_place end = kept_list_find(list, engine->orders, engine->state, &key);
    struct queue_rank barrier;
    uint64_t seen = 0;

    queue_rank_of(engine, s->queue, s->view->asked, NULL, &barrier);
    struct kept_place at = {0, 0};
    for (uint32_t i = 0; i < BARRIERS_MAX && kept_place_is_before(at, end); i++, at = kept_list_next(list, at)) {
        gang_id other = kept_list_at(list, at);
        uint8_t class = kept_class(engine, other);
        struct queue_rank rank;
        if (other == s->gang || (class != CLASS_OTHER && seen >> class & 1))
            continue;
        seen |= UINT64_C(1) << class;
        queue_rank_of(engine, s->queue, view_of(engine, other)->asked, NULL, &rank);
        if (precedes_clearly(&barrier, &rank))
            barrier = rank;
    }
    return barrier;
}

/* Numbers the gangs that run in the leaf by their turns, those that are not plain with none. */
static void find_turns(struct search *s, queue_id leaf)
{
    struct engine *engine = s->engine;
    const struct state *state = engine->state;
    const struct kept_queue *kept = &engine->orders->queues.items[leaf];
    struct search_replay *replay = &s->replay;
    struct kept_place waiting = {0, 0};
    double before[SHARE_COUNT] = {0};

    replay->leaf = leaf;
    replay->turn_count = 0;
    replay->turns = arena_alloc(&s->solving, kept->victims.len * sizeof *replay->turns);
    replay->chosen = arena_calloc(&s->solving, kept->victims.len / 64 + 1, sizeof *replay->chosen);
    for (struct kept_place at = {0, 0}; !kept_list_is_end(&kept->victims, at); at = kept_list_next(&kept->victims, at)) {
        gang_id id = kept_list_at(&kept->victims, at);
        const struct gang *gang = &state->gangs.items[id];
        s->gangs[id].turn = NO_ID;
        s->gangs[id].turn_solve = s->solve;
        if (gang->pending > 0 || !is_plain(engine, gang, false))
            continue;
        struct gang_key key = gang_key_of(engine, gang, ELASTIC_BELOW);
        for (; !kept_list_is_end(&kept->waiting, waiting); waiting = kept_list_next(&kept->waiting, waiting)) {
            gang_id other = kept_list_at(&kept->waiting, waiting);
            if (!gang_key_precedes(state, &engine->orders->gangs.items[other].key, &key))
                break;
            raise_to(before, view_of(engine, other)->asked);
        }
        s->gangs[id].turn = replay->turn_count;
        struct turn *turn = &replay->turns[replay->turn_count++];
        turn->gang = id;
        memcpy(turn->before, before, sizeof before);
    }
}

/* Do all victims have their turns before the probe? Marks the turns of their gangs. */
static bool victims_come_first(struct search *s, queue_id leaf)
{
    struct engine *engine = s->engine;
    struct search_replay *replay = &s->replay;
    double most[SHARE_COUNT];
    uint32_t pods = 0;
    uint32_t last = 0;
    struct queue_rank rank;

    memset(replay->chosen, 0, (replay->turn_count / 64 + 1) * sizeof *replay->chosen);
    for (uint32_t i = 0; i < s->victim_gangs.len; i++) {
        gang_id id = s->victim_gangs.items[i];
        const struct gang *gang = &engine->state->gangs.items[id];
        const struct gang_tally *tally = &s->gangs[id];
        if (gang->queue != leaf || tally->turn_solve != s->solve || tally->turn == NO_ID)
            return false;
        replay->chosen[tally->turn / 64] |= UINT64_C(1) << (tally->turn % 64);
        last = MAX(last, tally->turn);
        pods += gang->groups[1].pods.len;
    }
    if (pods != s->victims.len)
        return false;
    /* Sums of doubles depend on their order: a little more is safe. */
    for (int r = 0; r < SHARE_COUNT; r++)
        most[r] = replay->turns[last].before[r] * (1 + 1e-9) + 1e-9;
    queue_rank_of(engine, leaf, most, NULL, &rank);
    return precedes_clearly(&rank, &replay->barrier);
}

/* ---- The replay. ---- */

static bool search_is_plain(struct search *s)
{
    struct engine *engine = s->engine;
    const struct gang *gang = &engine->state->gangs.items[s->gang];

    return s->action == ACTION_RECLAIM && engine->config.max_placements == 0 &&
           engine_has(engine, PLUGIN_PROPORTION) && is_plain(engine, gang, true) &&
           replay_begin(engine->replay, engine, s->feasible);
}

static void begin_search(struct search *s)
{
    s->replay = (struct search_replay){.solve = s->solve, .leaf = NO_ID};
    kept_orders_settle(s->engine);
    s->replay.is_plain = search_is_plain(s);
}

static bool begin_leaf(struct search *s, queue_id leaf)
{
    const struct queue *queues = s->engine->state->queues.items;

    if (s->replay.leaf != leaf) {
        find_turns(s, leaf);
        s->replay.is_leaf_plain = leaf != s->queue && queues[leaf].parent == queues[s->queue].parent &&
                                  !queue_has_limits(s->engine, leaf);
    }
    return s->replay.is_leaf_plain;
}

static bool place_all(struct replay *replay, const pod_id *pods, uint32_t count, enum replay_result *ret)
{
    *ret = REPLAY_DONE;
    for (uint32_t i = 0; i < count && *ret == REPLAY_DONE; i++)
        *ret = replay_place(replay, pods[i]);
    return *ret == REPLAY_DONE;
}

static bool victims_return(struct search *s)
{
    const struct gang *gangs = s->engine->state->gangs.items;
    struct replay *replay = s->engine->replay;
    enum replay_result result;

    replay_reset(replay);
    for (uint32_t i = 0; i < s->victims.len; i++) {
        if (replay_evict(replay, s->victims.items[i].pod) != REPLAY_DONE)
            return false;
    }
    for (uint32_t w = 0; w <= s->replay.turn_count / 64; w++) {
        for (uint64_t bits = s->replay.chosen[w]; bits; bits &= bits - 1) {
            const struct turn *turn = &s->replay.turns[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            const struct group *set = &gangs[turn->gang].groups[1];
            if (!place_all(replay, set->pods.items, set->pods.len, &result))
                return false;
        }
    }
    return true;
}

bool replay_refutes(struct search *s)
{
    enum replay_result result;

    if (s->victims.len == 0 || map64_len(&s->failed) == 0)
        return false;
    if (s->replay.solve != s->solve)
        begin_search(s);
    queue_id leaf = s->engine->state->gangs.items[s->victim_gangs.items[0]].queue;
    if (!s->replay.is_plain || !begin_leaf(s, leaf))
        return false;
    if (s->replay.barrier_probe != s->probe) {
        s->replay.barrier_probe = s->probe;
        s->replay.barrier = find_barrier(s);
    }
    if (!victims_come_first(s, leaf) || !victims_return(s))
        return false;
    (void)place_all(s->engine->replay, s->view->chunk, s->view->chunk_count, &result);
    return result == REPLAY_NO_ROOM;
}
