/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Explaining a gang: it is tried once more, without evicting anyone, to learn which pod fails; then the pods before that
 * one are placed, so that nodes are looked at as the attempt saw them. All of it is a statement that is discarded, and
 * the verdict is put back.
 */
#include "engine/reasons/explain.h"

#include <string.h>

#include "base/macros.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/statement.h"
#include "engine/queues/share.h"
#include "engine/reasons/explain_internal.h"
#include "engine/topology/topology.h"

const char *explained_refusal_name(enum explained_refusal refusal)
{
    static const char *const names[] = {
        [REFUSAL_NONE] = "none",
        [REFUSAL_FIXED] = "not_preemptible",
        [REFUSAL_PRIORITY] = "priority",
        [REFUSAL_OWN_SHARE] = "own_fair_share",
        [REFUSAL_IN_QUOTA] = "in_quota",
        [REFUSAL_MIN_RUNTIME] = "min_runtime",
        [REFUSAL_DELAY] = "preemption_delay",
        [REFUSAL_ACTION] = "no_action",
        [REFUSAL_FOREIGN] = "foreign",
    };
    _Static_assert(ARRAY_LEN(names) == _EXPLAINED_REFUSAL_MAX, "every refusal has a name");

    return names[refusal];
}

static void explain_queues(const struct engine *engine, const struct gang_view *view, struct explanation *e)
{
    const struct state *state = engine->state;
    queue_id leaf = state->gangs.items[e->gang].queue;
    uint32_t count = 0;

    for (queue_id q = leaf; q != NO_ID; q = state->queues.items[q].parent)
        count++;
    struct explained_queue *queues = arena_calloc(&e->arena, count, sizeof *queues);
    for (queue_id q = leaf; q != NO_ID; q = state->queues.items[q].parent) {
        const struct queue *queue = &state->queues.items[q];
        struct explained_queue *to = &queues[e->queue_count++];
        struct queue_share share = engine_share(engine, q);

        to->queue = q;
        share_allocated(engine, q, to->allocated);
        share_allocated_fixed(engine, q, to->fixed);
        for (int r = 0; r < SHARE_COUNT; r++) {
            to->quota[r] = queue->deserved[r];
            to->limit[r] = queue->limit[r];
            to->fair[r] = share.fair[r];
            to->asked[r] = view ? view->asked_most[r] : 0;
        }
    }
    e->queues = queues;
}

/* Where a queue stands in the way of the whole gang, no pod was tried. */
static void clear_pod_of_queue(struct verdict *verdict)
{
    if (verdict->code == VERDICT_OVER_LIMIT || verdict->code == VERDICT_OVER_QUOTA)
        verdict->pod = NO_ID;
}

/* What an attempt runs into; everything is taken back. */
static bool try_now(struct engine *engine, gang_id gang, struct verdict *ret)
{
    struct verdict *slot = engine_verdict_slot(engine, gang);
    struct verdict before = *slot;
    uint64_t placements = engine->placements;
    bool is_placed;

    *slot = (struct verdict){.action = ACTION_ALLOCATE, .pod = NO_ID, .queue = NO_ID};
    statement_begin(engine);
    is_placed = place_gang(engine, view_of(engine, gang), node_set_all(engine), false);
    statement_discard(engine);
    *ret = *slot;
    clear_pod_of_queue(ret);
    *slot = before;
    engine->placements = placements;
    arena_clear(&engine->scratch);
    return is_placed;
}

static void place_those_before(struct engine *engine, const pod_id *pods, uint32_t count, struct node_set nodes,
                               struct explanation *e)
{
    struct verdict *slot = engine_verdict_slot(engine, e->gang);
    struct verdict before = *slot;
    uint64_t placements = engine->placements;

    if (count > 0)
        (void)place_gang(engine, view_probe(engine, &e->arena, e->gang, pods, count), nodes, false);
    *slot = before;
    engine->placements = placements;
}

pod_id *explain_pods_below(const struct state *state, struct arena *arena, const struct gang *gang, uint32_t group,
                           const struct gang_view *view, uint32_t *ret_count)
{
    pod_id *below = arena_alloc(arena, (size_t)view->chunk_count * sizeof *below);

    *ret_count = 0;
    for (uint32_t i = 0; i < view->chunk_count; i++) {
        uint32_t at = state->pods.items[view->chunk[i]].pod_set;
        while (at != NO_ID && at != group)
            at = gang->groups[at].parent;
        if (at == group)
            below[(*ret_count)++] = view->chunk[i];
    }
    return below;
}

/* The last node set that an attempt at the pod's set goes through: all nodes, or a domain, or a domain in a domain. */
static struct node_set nodes_tried(struct engine *engine, const struct gang_view *view, uint32_t set,
                                   struct explanation *e)
{
    const struct gang *gang = &engine->state->gangs.items[e->gang];
    struct node_set nodes = node_set_all(engine);
    uint32_t path[TOPOLOGY_LEVELS_MAX * 4];
    uint32_t depth = 0;

    for (uint32_t g = set; g != NO_ID && depth < ARRAY_LEN(path); g = gang->groups[g].parent)
        path[depth++] = g;
    while (depth > 0) {
        uint32_t group = path[--depth];
        uint32_t pod_count;
        uint32_t count;

        if (gang->groups[group].topology.topology == 0 || !engine_has(engine, PLUGIN_TOPOLOGY))
            continue;
        pod_id *pods = explain_pods_below(engine->state, &e->arena, gang, group, view, &pod_count);
        struct node_set *sets =
            topology_node_sets(engine, &e->arena, view, group, pods, pod_count, nodes, true, &count);
        if (count == 0)
            break;
        nodes = sets[count - 1];
    }
    return nodes;
}

static uint32_t place_in_chunk(const struct gang_view *view, pod_id pod)
{
    for (uint32_t i = 0; i < view->chunk_count; i++) {
        if (view->chunk[i] == pod)
            return i;
    }
    return 0;
}

static void explain_attempt(struct engine *engine, const struct gang_view *view, bool wants_causes,
                            struct explanation *e)
{
    const struct state *state = engine->state;
    uint32_t group = 0;

    if (!e->would_be_placed)
        e->pod = e->tried.pod != NO_ID ? e->tried.pod : view->chunk[0];
    if (e->pod == NO_ID)
        return;
    group = e->tried.pod == NO_ID ? e->tried.group : state->pods.items[e->pod].pod_set;
    explain_domains(engine, view, group, e);

    uint32_t before = e->tried.pod == NO_ID ? 0 : place_in_chunk(view, e->pod);
    pod_id *pods = arena_alloc(&e->arena, (size_t)before * sizeof *pods);
    if (before > 0)
        memcpy(pods, view->chunk, before * sizeof *pods);
    struct node_set nodes = nodes_tried(engine, view, state->pods.items[e->pod].pod_set, e);
    statement_begin(engine);
    place_those_before(engine, pods, before, nodes, e);
    explain_nodes(engine, nodes, e);
    if (wants_causes)
        explain_causes(engine, e);
    statement_discard(engine);
    arena_clear(&engine->scratch);
    e->placed_before = before;
}

static nsec_t delay_end(const struct engine *engine, const struct gang *gang)
{
    nsec_t end = MAX(gang->created, gang->last_eviction) + gang->preemption_delay;

    return gang->preemption_delay > 0 && engine->now < end ? end : 0;
}

static void explain_gang(struct engine *engine, gang_id gang, bool wants_causes, struct explanation *ret)
{
    const struct gang *g = &engine->state->gangs.items[gang];
    const struct gang_view *view = NULL;

    BUG_ON(!engine->is_open || engine->operations.len > 0);
    *ret = (struct explanation){.gang = gang,
                                .pod = NO_ID,
                                .tried = {.pod = NO_ID, .queue = NO_ID},
                                .over_queue = {.pod = NO_ID, .queue = NO_ID}};
    arena_init(&ret->arena);
    ret->verdict = engine_verdict(engine, gang);
    clear_pod_of_queue(&ret->verdict);
    ret->delay_until = delay_end(engine, g);
    /* A gang without a queue, or in one that has queues below it, is never tried. */
    bool is_tried = g->is_present && g->queue != NO_ID && !engine->state->queues.items[g->queue].is_orphan;
    if (is_tried)
        view = view_of(engine, gang);
    explain_queues(engine, view, ret);
    if (!view || view->chunk_count == 0)
        return;
    memcpy(ret->asked, view->asked_most, sizeof ret->asked);
    ret->chunk_count = view->chunk_count;
    ret->would_be_placed = try_now(engine, gang, &ret->tried);
    view = view_of(engine, gang);
    if (wants_causes && engine_has(engine, PLUGIN_PROPORTION))
        (void)capacity_allows(engine, g, view->asked_most, &ret->over_queue);
    explain_attempt(engine, view, wants_causes, ret);
    view = view_of(engine, gang);
    explain_holders(engine, view, ret);
}

void explain(struct engine *engine, gang_id gang, struct explanation *ret)
{
    explain_gang(engine, gang, false, ret);
}

void explain_all(struct engine *engine, gang_id gang, struct explanation *ret)
{
    explain_gang(engine, gang, true, ret);
}

void explanation_done(struct explanation *explanation)
{
    arena_done(&explanation->arena);
}
