/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Test 7 of those in refute.c: most plans of reclaim fail because every victim is placed again before the
 * probe has its turn. Where two things can be told beforehand, that is rehearsed on what is free (rehearsal.c) and not
 * simulated.
 *
 * Turns. All victims are of one leaf, next to the probe's leaf below the same queue. To come to the probe, its leaf
 * has to be served with each gang that waits before it; one of them, or the probe itself, is the barrier. A leaf's
 * place among the others is compared by what it holds and what its next gang asks for. Until the last victim came off,
 * their leaf holds no more than it did, and its next gang is one that waits before the last victim, or a victim: and
 * with what that one asks for it holds no more than it did either. So if the leaf with all that it held, and with the
 * most that any of those that wait asks for, is before the probe's leaf at its barrier, it is at every moment; and a
 * heap whose ranks are up to date does not give out what comes later. Ranks are: a leaf's changes only when it is at
 * the top and its gang came off. Only parts of the comparison that make an order count: what decides between equals
 * does not.
 *
 * Order. Victims of one leaf come off by priority, by how complete eviction left them, and by age. A gang has one try:
 * at what its minimum lacks, or at one pod where it lacks nothing; all other victims of it stay out. Pods of it that
 * waited before count like those that were evicted: the first ones of both are tried. As the gang was complete, they are
 * no more than were evicted, and being alike they ask for no more. A gang whose first pod finds no room stays out as
 * well; one that gets stuck later would have to be taken back, and the rehearsal gives up.
 *
 * When all have had their turns and the probe then finds no room, the plan has failed; and so it has before that, once
 * no node has as many whole GPUs as one of its pods needs, since what is placed later only takes some. Whatever else
 * comes out is simulated.
 */
#include "engine/victims/search_rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/queues/kept_orders.h"
#include "engine/queues/order_rows.h"
#include "engine/queues/order_tree.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/marks.h"
#include "engine/victims/rehearsal.h"
#include "engine/victims/search_internal.h"
#include "model/gang.h"

enum {
    BARRIERS_MAX = 64,  // gangs in front of the probe that are looked at
    LEAVES_MAX = 64,    // times that a search may go over to victims of another leaf
    WORTH = 500,        // nodes and gangs that may be read for the price of one simulation
    ELASTIC_STATES = ELASTIC_ABOVE + 1,
};

/* A gang of the victims' leaf, by its turn among equally complete ones. */
struct turn {
    gang_id gang;
    struct gang_key key;  // when it lacks pods of its minimum
    /* The most that gangs which wait before it ask for, by how complete it is then. */
    double before[ELASTIC_STATES][SHARE_COUNT];
};

struct search_rehearsal {
    uint32_t solve;  // the search that this is about
    bool is_plain;
    bool is_leaf_plain;
    uint32_t leaf_count;
    queue_id leaf;  // the victims' leaf that turns are known of
    struct turn *turns;
    uint32_t turn_count;
    uint64_t *chosen;           // by elastic state, bits: turns of the plan's gangs
    uint32_t words;             // of such bits
    uint32_t barrier_probe;     // the probe of which the following is known
    struct queue_rank barrier;  // the last place of the probe's leaf before the probe's turn
    int64_t needed;             // whole GPUs of the largest of its pods
};

struct search_rehearsal *search_rehearsal_new(void)
{
    return xcalloc(1, sizeof(struct search_rehearsal));
}

void search_rehearsal_free(struct search_rehearsal *rehearsal)
{
    free(rehearsal);
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
        if (queue_rank_compare_shares(&barrier, &rank) < 0)
            barrier = rank;
    }
    return barrier;
}

/* Puts the gang in its place among those found so far: the list that they come from has complete ones first. */
static void add_turn(const struct engine *engine, struct search_rehearsal *rehearsal, gang_id id)
{
    struct turn turn = {.gang = id, .key = gang_key_of(engine, &engine->state->gangs.items[id], ELASTIC_BELOW)};
    uint32_t at = rehearsal->turn_count++;

    for (; at > 0 && gang_key_precedes(engine->state, &turn.key, &rehearsal->turns[at - 1].key); at--)
        rehearsal->turns[at] = rehearsal->turns[at - 1];
    rehearsal->turns[at] = turn;
}

/* What gangs that wait in the leaf ask for at most before each turn, if the gang is as complete as `state` then. */
static void weigh_waiting(struct search *s, const struct kept_list *waiting, enum elastic_state state)
{
    struct engine *engine = s->engine;
    struct search_rehearsal *rehearsal = s->rehearsal;
    struct kept_place at = {0, 0};
    double most[SHARE_COUNT] = {0};

    for (uint32_t turn = 0; turn < rehearsal->turn_count; turn++) {
        const struct gang *gang = &engine->state->gangs.items[rehearsal->turns[turn].gang];
        struct gang_key key = gang_key_of(engine, gang, state);
        for (; !kept_list_is_end(waiting, at); at = kept_list_next(waiting, at)) {
            gang_id other = kept_list_at(waiting, at);
            if (!gang_key_precedes(engine->state, &engine->orders->gangs.items[other].key, &key))
                break;
            raise_to(most, view_of(engine, other)->asked);
        }
        memcpy(rehearsal->turns[turn].before[state], most, sizeof most);
    }
}

/* Numbers the gangs that run in the leaf by their turns, those that are not plain with none. */
static void find_turns(struct search *s, queue_id leaf)
{
    struct engine *engine = s->engine;
    const struct kept_queue *kept = &engine->orders->queues.items[leaf];
    const struct kept_list *list = &kept->victims;
    struct search_rehearsal *rehearsal = s->rehearsal;

    rehearsal->leaf = leaf;
    rehearsal->turn_count = 0;
    rehearsal->turns = arena_alloc(&s->solving, list->len * sizeof *rehearsal->turns);
    for (struct kept_place at = {0, 0}; !kept_list_is_end(list, at); at = kept_list_next(list, at)) {
        gang_id id = kept_list_at(list, at);
        const struct gang *gang = &engine->state->gangs.items[id];
        s->marks->gangs[id].turn = NO_ID;
        s->marks->gangs[id].turn_solve = s->solve;
        if (rehearsal_takes_victim(engine, gang))
            add_turn(engine, rehearsal, id);
    }
    rehearsal->words = rehearsal->turn_count / 64 + 1;
    rehearsal->chosen = arena_alloc(&s->solving, ELASTIC_STATES * rehearsal->words * sizeof *rehearsal->chosen);
    for (uint32_t i = 0; i < rehearsal->turn_count; i++)
        s->marks->gangs[rehearsal->turns[i].gang].turn = i;
    for (enum elastic_state state = ELASTIC_BELOW; state <= ELASTIC_ABOVE; state++)
        weigh_waiting(s, &kept->waiting, state);
}

/* Do all victims have their turns before the probe? Marks the turns of their gangs, by how complete they are left. */
static bool victims_come_first(struct search *s, queue_id leaf)
{
    struct engine *engine = s->engine;
    struct search_rehearsal *rehearsal = s->rehearsal;
    double most[SHARE_COUNT] = {0};
    struct queue_rank rank;

    memset(rehearsal->chosen, 0, ELASTIC_STATES * rehearsal->words * sizeof *rehearsal->chosen);
    for (uint32_t i = 0; i < s->plan->gangs.len; i++) {
        gang_id id = s->plan->gangs.items[i];
        const struct gang *gang = &engine->state->gangs.items[id];
        const struct gang_tally *tally = &s->marks->gangs[id];
        if (gang->queue != leaf || tally->turn_solve != s->solve || tally->turn == NO_ID)
            return false;
        const struct group *set = &gang->groups[1];
        int32_t left = (int32_t)(set->active_allocated - tally->evicted);
        enum elastic_state state = left < set->min ? ELASTIC_BELOW : left == set->min ? ELASTIC_AT_MIN : ELASTIC_ABOVE;
        if (!gang_order_by_completeness(engine))
            state = ELASTIC_BELOW;
        rehearsal->chosen[state * rehearsal->words + tally->turn / 64] |= UINT64_C(1) << (tally->turn % 64);
        raise_to(most, rehearsal->turns[tally->turn].before[state]);
    }
    /* Sums of doubles depend on their order: a little more is safe. */
    for (int r = 0; r < SHARE_COUNT; r++)
        most[r] = most[r] * (1 + 1e-9) + 1e-9;
    queue_rank_of(engine, leaf, most, NULL, &rank);
    return queue_rank_compare_shares(&rank, &rehearsal->barrier) < 0;
}

/* ---- The rehearsal. ---- */

static bool search_is_plain(struct search *s)
{
    struct engine *engine = s->engine;
    const struct gang *gang = &engine->state->gangs.items[s->gang];

    return engine->config.max_placements == 0 && engine_has(engine, PLUGIN_PROPORTION) && orders_are_plain(engine) &&
           rehearsal_takes_gang(engine, gang) && rehearsal_begin(engine->rehearsal, engine, s->feasible);
}

static void begin_search(struct search *s)
{
    *s->rehearsal = (struct search_rehearsal){.solve = s->solve, .leaf = NO_ID};
    kept_orders_settle(s->engine);
    rehearsal_begin_asking(s->engine->rehearsal);
    s->rehearsal->is_plain = search_is_plain(s);
}

static bool begin_leaf(struct search *s, queue_id leaf)
{
    const struct queue *queues = s->engine->state->queues.items;

    if (s->rehearsal->leaf != leaf) {
        if (s->rehearsal->leaf_count++ == LEAVES_MAX)
            return s->rehearsal->is_plain = false;
        find_turns(s, leaf);
        s->rehearsal->is_leaf_plain =
            leaf != s->queue && queues[leaf].parent == queues[s->queue].parent && !queue_has_limits(s->engine, leaf);
    }
    return s->rehearsal->is_leaf_plain;
}

/* The gang's one try. False: nobody knows what comes of it. */
static bool place_victims(struct search *s, gang_id gang)
{
    const struct pod *pods = s->engine->state->pods.items;
    const struct group *set = &s->engine->state->gangs.items[gang].groups[1];
    uint32_t evicted = s->marks->gangs[gang].evicted;
    int32_t missing = set->min - (int32_t)(set->active_allocated - evicted);
    uint32_t count = MIN(set->pending + evicted, (uint32_t)MAX(missing, 1));
    uint32_t placed = 0;

    for (uint32_t i = 0; placed < count; i++) {
        if (s->marks->pods[set->pods.items[i]].listed != s->plan->number &&
            pods[set->pods.items[i]].status != POD_PENDING)
            continue;
        enum rehearsal_result result = rehearsal_place(s->engine->rehearsal, set->pods.items[i]);
        if (result != REHEARSAL_DONE)
            return result == REHEARSAL_NO_ROOM && placed == 0;
        placed++;
    }
    return true;
}

/* Gangs of one priority come by how complete they are, and then by age. NO_ROOM: the probe will find none. */
static enum rehearsal_result place_priority(struct search *s, uint32_t from, uint32_t to)
{
    const struct search_rehearsal *rehearsal = s->rehearsal;

    for (uint32_t state = 0; state < ELASTIC_STATES; state++) {
        const uint64_t *chosen = rehearsal->chosen + state * rehearsal->words;
        for (uint32_t turn = from; turn < to; turn++) {
            if (chosen[turn / 64] >> (turn % 64) == 0) {
                turn |= 63;
                continue;
            }
            if (!(chosen[turn / 64] >> (turn % 64) & 1))
                continue;
            if (rehearsal->needed > 0 && !rehearsal_has_whole(s->engine->rehearsal, rehearsal->needed))
                return REHEARSAL_NO_ROOM;
            if (!place_victims(s, rehearsal->turns[turn].gang))
                return REHEARSAL_UNKNOWN;
        }
    }
    return REHEARSAL_DONE;
}

static enum rehearsal_result place_all_victims(struct search *s)
{
    const struct search_rehearsal *rehearsal = s->rehearsal;
    uint32_t from = 0;

    rehearsal_reset(s->engine->rehearsal);
    for (uint32_t i = 0; i < s->plan->victims.len; i++) {
        if (rehearsal_evict(s->engine->rehearsal, s->plan->victims.items[i].pod) != REHEARSAL_DONE)
            return REHEARSAL_UNKNOWN;
    }
    while (from < rehearsal->turn_count) {
        uint32_t to = from;
        while (to < rehearsal->turn_count && rehearsal->turns[to].key.rank == rehearsal->turns[from].key.rank)
            to++;
        enum rehearsal_result result = place_priority(s, from, to);
        if (result != REHEARSAL_DONE)
            return result;
        from = to;
    }
    return REHEARSAL_DONE;
}

static bool probe_finds_no_room(struct search *s)
{
    enum rehearsal_result result = REHEARSAL_DONE;

    for (uint32_t i = 0; i < s->view->chunk_count && result == REHEARSAL_DONE; i++)
        result = rehearsal_place(s->engine->rehearsal, s->view->chunk[i]);
    return result == REHEARSAL_NO_ROOM;
}

static int64_t largest_whole(const struct search *s)
{
    int64_t largest = 0;

    for (uint32_t i = 0; i < s->view->chunk_count; i++) {
        const struct request *request = state_request(s->engine->state, s->view->chunk[i]);
        if (request->kind == REQUEST_REGULAR)
            largest = MAX(largest, request->v[RES_GPU] / GPU_ONE);
    }
    return largest;
}

/* Rehearsals begin with reading nodes and queues: not before simulations that failed have cost as much. */
static bool is_worth_it(const struct search *s, queue_id leaf)
{
    const struct kept_queue *kept = &s->engine->orders->queues.items[leaf];
    uint64_t items = (uint64_t)s->feasible.count + kept->victims.len + kept->waiting.len;

    return map64_len(&s->plan->failed) > 0 && (uint64_t)map64_len(&s->plan->failed) * WORTH >= items;
}

bool rehearsal_refutes(struct search *s)
{
    queue_id leaf = s->engine->state->gangs.items[s->plan->gangs.items[0]].queue;

    if (s->action != ACTION_RECLAIM || !is_worth_it(s, leaf))
        return false;
    if (s->rehearsal->solve != s->solve)
        begin_search(s);
    if (!s->rehearsal->is_plain || !begin_leaf(s, leaf))
        return false;
    if (s->rehearsal->barrier_probe != s->probe) {
        s->rehearsal->barrier_probe = s->probe;
        s->rehearsal->barrier = find_barrier(s);
        s->rehearsal->needed = largest_whole(s);
    }
    if (!victims_come_first(s, leaf))
        return false;
    enum rehearsal_result result = place_all_victims(s);
    return result == REHEARSAL_NO_ROOM || (result == REHEARSAL_DONE && probe_finds_no_room(s));
}
