/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Accumulation: victims come off their order batch by batch and are added up. Nothing is ever taken back within a probe,
 * so that tallies by node, by gang and in the pre-filters each cost the pods of the batch.
 *
 * A batch with a pod that is recorded already is not taken: what is left of its gang without recorded pods goes back in
 * its place, and comes off as batches of its own.
 */
#include "engine/victims/accumulate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/queues/order.h"
#include "engine/victims/marks.h"
#include "engine/victims/prefilters.h"
#include "engine/victims/record.h"
#include "engine/victims/search_internal.h"
#include "engine/victims/sources.h"
#include "model/books/books.h"

enum { ASK_EVERY = 1024 };  // batches between two looks at the limits while no plan comes of them

struct accumulation *accumulation_new(void)
{
    return xcalloc(1, sizeof(struct accumulation));
}

void accumulation_free(struct accumulation *accumulation)
{
    if (!accumulation)
        return;
    vec_done(&accumulation->groups);
    vec_done(&accumulation->next_group);
    vec_done(&accumulation->seats);
    vec_done(&accumulation->nodes);
    vec_done(&accumulation->by_capacity);
    free(accumulation);
}

bool has_potential(const struct search *s)
{
    return s->accumulation->groups.len > s->record->groups.len;
}

static void chain_group(struct search *s, gang_id gang)
{
    struct gang_tally *tally = &s->marks->gangs[gang];
    uint32_t index = s->accumulation->groups.len - 1;

    vec_push(&s->accumulation->next_group, NO_ID);
    if (tally->probe != s->probe) {
        tally->probe = s->probe;
        tally->first_group = index;
    } else {
        s->accumulation->next_group.items[tally->last_group] = index;
    }
    tally->last_group = index;
}

static void take_seat(struct search *s, struct node_tally *tally, node_id node, gang_id gang)
{
    if (tally->appearance == NO_ID) {
        tally->appearance = s->accumulation->nodes.len;
        vec_push(&s->accumulation->nodes, node);
    }
    for (uint32_t i = tally->first_seat; i != NO_ID; i = s->accumulation->seats.items[i].next) {
        if (s->accumulation->seats.items[i].gang == gang)
            return;
    }
    uint32_t index = s->accumulation->seats.len;
    vec_push(&s->accumulation->seats, (struct seat){gang, NO_ID});
    if (tally->first_seat == NO_ID)
        tally->first_seat = index;
    else
        s->accumulation->seats.items[tally->last_seat].next = index;
    tally->last_seat = index;
}

static void add_group(struct search *s, const struct victim_group *group, bool is_recorded)
{
    vec_push(&s->accumulation->groups, *group);
    chain_group(s, group->gang);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct victim *victim = &group->victims[i];
        struct pod_mark *mark = &s->marks->pods[victim->pod];
        /* Recorded groups may overlap; a pod counts once. */
        if (mark->recorded == s->probe)
            continue;
        if (is_recorded)
            mark->recorded = s->probe;
        struct node_tally *tally = node_tally(s, victim->node);
        tally->capacity += victim->freed;
        if (is_recorded) {
            tally->recorded += victim->freed;
        } else {
            tally->potential += victim->freed;
            take_seat(s, tally, victim->node, group->gang);
        }
        prefilters_victim(s, victim, tally->capacity);
    }
}

void accumulate_begin(struct search *s, uint32_t count)
{
    arena_clear(&s->probing);
    s->probe = ++s->number;
    s->accumulation->order = NULL;
    s->accumulation->has_offered = s->accumulation->is_exhausted = s->accumulation->has_passed = false;
    s->accumulation->grown = s->accumulation->candidate_gangs = 0;
    vec_clear(&s->accumulation->groups);
    vec_clear(&s->accumulation->next_group);
    vec_clear(&s->accumulation->seats);
    vec_clear(&s->accumulation->nodes);
    vec_clear(&s->accumulation->by_capacity);
    prefilters_begin(s, count);
    for (uint32_t i = 0; i < s->record->groups.len; i++)
        add_group(s, &s->record->groups.items[i], true);
}

/* The recorded pods of a gang, for a rest without them. */
static const pod_id *recorded_pods(struct search *s, gang_id gang, uint32_t *ret_count)
{
    uint32_t most = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->record->groups.len; i++)
        most += s->record->groups.items[i].gang == gang ? s->record->groups.items[i].count : 0;
    pod_id *pods = arena_alloc(&s->probing, (size_t)most * sizeof *pods);
    for (uint32_t i = 0; i < s->record->groups.len; i++) {
        const struct victim_group *group = &s->record->groups.items[i];
        for (uint32_t p = 0; group->gang == gang && p < group->count; p++) {
            bool is_listed = false;
            for (uint32_t k = 0; k < count && !is_listed; k++)
                is_listed = pods[k] == group->victims[p].pod;
            if (!is_listed)
                pods[count++] = group->victims[p].pod;
        }
    }
    *ret_count = count;
    return pods;
}

static bool has_recorded(const struct search *s, const pod_id *pods, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (s->marks->pods[pods[i]].recorded == s->probe)
            return true;
    }
    return false;
}

static struct victim_group make_group(struct search *s, gang_id gang, const pod_id *pods, uint32_t count)
{
    const struct state *state = s->engine->state;
    struct victim *victims = arena_alloc(&s->probing, (size_t)count * sizeof *victims);

    for (uint32_t i = 0; i < count; i++) {
        double freed = share_to_double(SHARE_GPU, pod_accepted(state, pods[i]).v[SHARE_GPU]);
        victims[i] = (struct victim){pods[i], state->pods.items[pods[i]].node, freed};
    }
    return (struct victim_group){gang, count, victims};
}

/* Takes the next batch in; false when there is none left. */
static bool grow(struct search *s)
{
    struct engine *engine = s->engine;
    int64_t most = s->action == ACTION_CONSOLIDATION ? engine->config.max_consolidation_preemptees : -1;

    if (!s->accumulation->order)
        s->accumulation->order =
            order_of_victims(engine, &s->probing, sources_take_queue, sources_take_gang, s->sources);
    while (!order_is_empty(s->accumulation->order)) {
        const struct gang_view *view = order_pop(s->accumulation->order);
        uint32_t count;
        bool has_more;
        /* KAI's limit on consolidation counts one too late. */
        if (!view->is_part && most >= 0 && s->accumulation->candidate_gangs++ > most)
            return false;
        const pod_id *pods = view_eviction(engine, &s->probing, view, &count, &has_more);
        if (has_recorded(s, pods, count)) {
            uint32_t past_count;
            const pod_id *past = recorded_pods(s, view->gang, &past_count);
            const struct gang_view *rest = view_rest(engine, &s->probing, view, past, past_count);
            if (rest->active_count > 0)
                order_push(s->accumulation->order, rest);
            continue;
        }
        if (has_more)
            order_push(s->accumulation->order, view_rest(engine, &s->probing, view, pods, count));
        struct victim_group group = make_group(s, view->gang, pods, count);
        add_group(s, &group, false);
        s->accumulation->grown++;
        return true;
    }
    return false;
}

bool accumulate_next(struct search *s)
{
    if (!s->accumulation->has_offered) {
        s->accumulation->has_offered = true;
        if (prefilters_pass(s))
            return s->accumulation->has_passed = true;
    }
    while (grow(s)) {
        if (prefilters_pass(s))
            return s->accumulation->has_passed = true;
        if (s->accumulation->grown % ASK_EVERY == 0 && search_must_stop(s))
            return false;
    }
    s->accumulation->is_exhausted = true;
    return false;
}
