/* SPDX-License-Identifier: Apache-2.0 */

/* Which victims of a plan that worked are recorded, and in which order: later probes start from them. */
#include "engine/victims/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/marks.h"
#include "engine/victims/search_internal.h"

struct record *record_new(void)
{
    return xcalloc(1, sizeof(struct record));
}

void record_free(struct record *record)
{
    if (!record)
        return;
    vec_done(&record->groups);
    vec_done(&record->nodes);
    vec_done(&record->outcome);
    vec_done(&record->outcome_nodes);
    free(record);
}

void record_begin(struct search *s)
{
    s->record->round = ++s->number;
    vec_clear(&s->record->groups);
    vec_clear(&s->record->nodes);
}

void record_adopt(struct search *s)
{
    struct record *record = s->record;

    record_begin(s);
    vec_foreach (&record->outcome, group)
        vec_push(&record->groups, *group);
    vec_foreach (&record->outcome_nodes, node) {
        struct node_tally *tally = &s->marks->nodes[*node];
        if (tally->recorded_in == record->round)
            continue;
        tally->recorded_in = record->round;
        vec_push(&record->nodes, *node);
    }
}

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
    uint32_t gangs = s->plan->gangs.len;
    uint32_t *room = arena_alloc(&s->simulating, (2 * (size_t)s->plan->chosen.len + 4 * (size_t)gangs) * sizeof *room);
    struct recording to = {
        .next_chosen = room,
        .next = room + s->plan->chosen.len,
        .first_chosen = room + 2 * s->plan->chosen.len,
        .first = room + 2 * s->plan->chosen.len + gangs,
        .last = room + 2 * s->plan->chosen.len + 2 * gangs,
        .order = room + 2 * s->plan->chosen.len + 3 * gangs,
    };

    for (uint32_t i = 0; i < gangs; i++) {
        s->marks->gangs[s->plan->gangs.items[i]].place = i;
        to.first_chosen[i] = to.first[i] = NO_ID;
    }
    for (uint32_t i = s->plan->chosen.len; i-- > 0;) {
        uint32_t place = s->marks->gangs[s->plan->chosen.items[i].gang].place;
        to.next_chosen[i] = to.first_chosen[place];
        to.first_chosen[place] = i;
    }
    return to;
}

/* Records the first group of the pod's gang that holds it, unless one that holds it is recorded. */
static void record_pod(struct search *s, struct recording *to, pod_id pod)
{
    uint32_t place = s->marks->gangs[s->engine->state->pods.items[pod].gang].place;
    uint32_t found = to->first_chosen[place];

    for (uint32_t i = to->first[place]; i != NO_ID; i = to->next[i]) {
        if (group_has(&s->plan->chosen.items[i], pod))
            return;
    }
    while (!group_has(&s->plan->chosen.items[found], pod))
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
    vec_push(&s->record->outcome, (struct victim_group){group->gang, group->count, victims});
}

/* Is the list of victims of the outcome the one that was simulated? */
static bool outcome_is_same_list(const struct search *s)
{
    uint32_t at = 0;

    for (uint32_t g = 0; g < s->record->outcome.len; g++) {
        const struct victim_group *group = &s->record->outcome.items[g];
        for (uint32_t i = 0; i < group->count; i++, at++) {
            if (at >= s->plan->victims.len || s->plan->victims.items[at].pod != group->victims[i].pod)
                return false;
        }
    }
    return at == s->plan->victims.len;
}

/*
 * Of each pod that was really evicted, then of each that was moved, the whole group is recorded, with members that
 * stayed where they were.
 */
void record_outcome(struct search *s)
{
    static const uint32_t kinds[] = {POD_RELEASING, POD_PIPELINED};
    const struct state *state = s->engine->state;
    struct recording to = begin_recording(s);

    vec_clear(&s->record->outcome);
    vec_clear(&s->record->outcome_nodes);
    for (uint32_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
        for (uint32_t i = 0; i < s->plan->victims.len; i++) {
            const struct victim *victim = &s->plan->victims.items[i];
            if (state->pods.items[victim->pod].status != kinds[kind])
                continue;
            record_pod(s, &to, victim->pod);
            vec_push(&s->record->outcome_nodes, victim->node);
        }
    }
    for (uint32_t i = 0; i < to.order_count; i++) {
        for (uint32_t g = to.first[to.order[i]]; g != NO_ID; g = to.next[g])
            keep_group(s, &s->plan->chosen.items[g]);
    }
    s->record->is_repeatable = outcome_is_same_list(s);
}
