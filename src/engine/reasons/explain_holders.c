/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who holds something on the nodes that the pod could use, and why they are not made to leave. The rules are those of the
 * search for victims, asked gang by gang: of the same queue what has lower priority, of other queues what is beyond
 * their share, and nothing that started too short a time ago.
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/queues/share.h"
#include "engine/reasons/explain_internal.h"
#include "engine/victims/sources.h"

struct holder_list VEC_OF(struct explained_holder);

static void add_held(struct engine *engine, struct map64 *index, struct holder_list *holders, const struct held *held)
{
    const struct state *state = engine->state;
    gang_id gang = state->pods.items[held->pod].gang;
    struct amounts amounts = pod_accepted(state, held->pod);
    uint64_t at;

    if (!map64_get(index, gang, &at)) {
        at = holders->len;
        map64_put(index, gang, at);
        vec_push(holders, (struct explained_holder){
                              .gang = gang,
                              .queue = gang == NO_ID ? NO_ID : state->gangs.items[gang].queue,
                              .level = NO_ID,
                          });
    }
    BUG_ON(at >= holders->len);
    struct explained_holder *holder = &holders->items[at];
    holder->pods++;
    for (int r = 0; r < SHARE_COUNT; r++)
        holder->held[r] += share_to_double(r, amounts.v[r]);
}

static void collect(struct engine *engine, const struct explanation *e, struct holder_list *holders)
{
    const struct state *state = engine->state;
    struct map64 index;

    map64_init(&index);
    for (uint32_t i = 0; i < e->node_count; i++) {
        if (!e->nodes[i].is_allowed)
            continue;
        const struct node *node = &state->nodes.items[e->nodes[i].node];
        for (uint32_t h = node->first_held; h != NO_ID; h = state_held(state, h)->next) {
            const struct pod *pod = &state->pods.items[state_held(state, h)->pod];

            /* The GPU of a reservation pod is held by the pods that share it, which are listed themselves. */
            if (pod->gang != e->gang && !pod->is_reservation)
                add_held(engine, &index, holders, state_held(state, h));
        }
    }
    map64_done(&index);
}

static bool action_runs(const struct engine *engine, enum action action)
{
    for (uint32_t i = 0; i < engine->config.action_count; i++) {
        if (engine->config.actions[i] == action)
            return true;
    }
    return false;
}

static void judge_age(const struct engine *engine, struct sources *s, struct explained_holder *holder)
{
    const struct gang *gang = &engine->state->gangs.items[holder->gang];

    if (gang->queue == NO_ID || !gang_is_protected(s, holder->gang))
        return;
    holder->protected_until = gang->last_start + leaf_case(s, gang->queue)->min_runtime;
    /* An elastic gang may lose what it has beyond its minimum. */
    if (holder->refusal != REFUSAL_NONE || gang_is_elastic(gang))
        return;
    holder->refusal = REFUSAL_MIN_RUNTIME;
    holder->until = holder->protected_until;
}

/* Of the same queue: lower priority, and not too young. */
static void judge_neighbour(const struct engine *engine, const struct gang *own, struct explained_holder *holder)
{
    const struct gang *gang = &engine->state->gangs.items[holder->gang];

    if (!action_runs(engine, ACTION_PREEMPT))
        holder->refusal = REFUSAL_ACTION;
    else if (gang->priority >= own->priority)
        holder->refusal = REFUSAL_PRIORITY;
}

/* Of another queue: both shares decide. */
static void judge_other(const struct engine *engine, struct sources *s, queue_id own, bool is_due,
                        struct explained_holder *holder)
{
    const struct gang *gang = &engine->state->gangs.items[holder->gang];

    if (!action_runs(engine, ACTION_RECLAIM)) {
        holder->refusal = REFUSAL_ACTION;
    } else if (!is_due) {
        holder->refusal = REFUSAL_OWN_SHARE;
        holder->level = own;
    } else if (gang->queue != NO_ID && leaf_case(s, gang->queue)->surplus <= 0) {
        holder->refusal = REFUSAL_IN_QUOTA;
        holder->level = leaf_case(s, gang->queue)->theirs;
    }
}

static void judge_all(struct engine *engine, const struct gang_view *view, struct explanation *e,
                      struct holder_list *holders)
{
    const struct gang *own = &engine->state->gangs.items[e->gang];
    bool is_due = reclaim_is_due(engine, view);
    struct sources *preempt = sources_new(engine, ACTION_PREEMPT);
    struct sources *reclaim = sources_new(engine, ACTION_RECLAIM);

    sources_begin(preempt, view);
    sources_begin(reclaim, view);
    vec_foreach (holders, holder) {
        bool is_neighbour = holder->queue == own->queue;

        if (holder->gang == NO_ID) {
            holder->refusal = REFUSAL_FOREIGN;
            continue;
        }
        if (!engine->state->gangs.items[holder->gang].is_preemptible) {
            holder->refusal = REFUSAL_FIXED;
        } else if (e->delay_until != 0) {
            holder->refusal = REFUSAL_DELAY;
            holder->until = e->delay_until;
        } else if (is_neighbour) {
            judge_neighbour(engine, own, holder);
        } else {
            judge_other(engine, reclaim, own->queue, is_due, holder);
        }
        judge_age(engine, is_neighbour ? preempt : reclaim, holder);
    }
    sources_free(preempt);
    sources_free(reclaim);
}

/* Most GPUs first, then most CPU, then in the order in which nodes hold them. */
static int compare_holders(const void *a, const void *b)
{
    const struct explained_holder *l = a;
    const struct explained_holder *r = b;

    if (l->held[SHARE_GPU] != r->held[SHARE_GPU])
        return l->held[SHARE_GPU] > r->held[SHARE_GPU] ? -1 : 1;
    if (l->held[SHARE_CPU] != r->held[SHARE_CPU])
        return l->held[SHARE_CPU] > r->held[SHARE_CPU] ? -1 : 1;
    return l->gang < r->gang ? -1 : 1;
}

void explain_holders(struct engine *engine, const struct gang_view *view, struct explanation *e)
{
    struct holder_list holders = {0};

    collect(engine, e, &holders);
    judge_all(engine, view, e, &holders);
    if (holders.len > 0)
        qsort(holders.items, holders.len, sizeof *holders.items, compare_holders);
    struct explained_holder *kept = arena_alloc(&e->arena, (size_t)holders.len * sizeof *kept);
    for (uint32_t i = 0; i < holders.len; i++)
        kept[i] = holders.items[i];
    e->holders = kept;
    e->holder_count = holders.len;
    vec_done(&holders);
}
