/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Placing a gang: group by group down its tree, each within the node sets that its topology allows, pod by pod on the best
 * node that takes it. All or nothing: what was placed before a failure is taken back.
 */
#include "engine/nodes/place.h"

#include <string.h>

#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/candidates.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/fit.h"
#include "engine/nodes/statement.h"
#include "engine/queues/share.h"
#include "engine/topology/topology.h"

struct attempt {
    struct engine *engine;
    const struct gang_view *view;
    const struct gang *gang;
    bool is_simulation;
};

static bool place_on(struct engine *engine, pod_id pod, node_id node, bool is_simulation)
{
    const struct numa_placement *numa =
        engine->state->has_numa && engine_has(engine, PLUGIN_NUMA) ? numa_place(engine, pod, node) : NULL;
    struct group_list groups = {0};
    bool is_promise = is_simulation || volumes_wait(engine, pod, node);

    engine->placements++;
    if (request_is_shared(state_request(engine->state, pod))) {
        bool waits;
        bool only_numbered;
        if (!gpu_pick(engine, pod, node, is_simulation, &groups, &waits, &only_numbered))
            return false;
        if (waits || is_promise)
            return statement_pipeline(engine, pod, node, false, groups, numa);
        statement_allocate(engine, pod, node, groups, numa);
        return true;
    }
    if (is_promise || !fits_idle(engine, pod, node))
        return statement_pipeline(engine, pod, node, !is_simulation, groups, numa);
    statement_allocate(engine, pod, node, groups, numa);
    return true;
}

static void note_failure(const struct attempt *attempt, pod_id pod, uint32_t placed, enum verdict_code code)
{
    if (attempt->is_simulation)
        return;
    struct verdict *verdict = engine_verdict_slot(attempt->engine, attempt->view->gang);
    *verdict = (struct verdict){
        .code = code,
        .pod = pod,
        .placed = placed,
        .group = attempt->engine->state->pods.items[pod].pod_set,
        .queue = NO_ID,
    };
}

static bool place_pod(const struct attempt *attempt, uint32_t group, pod_id pod, struct node_set nodes, uint32_t placed)
{
    struct engine *engine = attempt->engine;
    enum verdict_code code = prefilter(engine, pod);

    if (code != VERDICT_NONE) {
        note_failure(attempt, pod, placed, code);
        return false;
    }
    struct candidate_walk walk;
    node_id node;
    candidates_walk(&walk, engine, pod, nodes, topology_scores(engine, attempt->view, group));
    while (candidates_next(&walk, &node)) {
        if (filters_pass(engine, pod, node, FILTER_CLUSTER) && place_on(engine, pod, node, attempt->is_simulation))
            return true;
    }
    if (!attempt->is_simulation)
        note_failure(attempt, pod, placed,
                     candidates_any_allowed(engine, pod) ? VERDICT_NO_ROOM : VERDICT_NO_NODE_ALLOWED);
    return false;
}

/* The part of the chunk that lies below the group, in the chunk's order. */
static const pod_id *pods_below(const struct attempt *attempt, uint32_t group, const pod_id *pods, uint32_t count,
                                uint32_t *ret_count)
{
    const struct state *state = attempt->engine->state;
    const struct group *groups = attempt->gang->groups;

    if (groups[group].parent == NO_ID) {
        *ret_count = count;
        return pods;
    }
    pod_id *below = arena_alloc(&attempt->engine->placing, count * sizeof *below);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = state->pods.items[pods[i]].pod_set;
        while (at != NO_ID && at != group)
            at = groups[at].parent;
        if (at == group)
            below[found++] = pods[i];
    }
    *ret_count = found;
    return below;
}

static bool place_group(const struct attempt *attempt, uint32_t group, const pod_id *pods, uint32_t count,
                        struct node_set nodes);

static bool place_children(const struct attempt *attempt, uint32_t group, const pod_id *pods, uint32_t count,
                           struct node_set nodes)
{
    uint32_t child_count = attempt->gang->groups[group].child_count;
    uint32_t *children = arena_alloc(&attempt->engine->placing, (size_t)child_count * sizeof *children);

    view_children(attempt->engine, attempt->view, group, false, children);
    for (uint32_t i = 0; i < child_count; i++) {
        uint32_t below_count = count;
        const pod_id *below = child_count == 1 ? pods : pods_below(attempt, children[i], pods, count, &below_count);
        if (!place_group(attempt, children[i], below, below_count, nodes))
            return false;
    }
    return true;
}

static bool place_within(const struct attempt *attempt, uint32_t group, const pod_id *pods, uint32_t count,
                         struct node_set nodes)
{
    if (!attempt->gang->groups[group].is_pod_set)
        return place_children(attempt, group, pods, count, nodes);
    for (uint32_t i = 0; i < count; i++) {
        if (!place_pod(attempt, group, pods[i], nodes, i))
            return false;
    }
    return true;
}

static bool place_group(const struct attempt *attempt, uint32_t group, const pod_id *pods, uint32_t count,
                        struct node_set nodes)
{
    struct engine *engine = attempt->engine;
    uint32_t checkpoint = statement_checkpoint(engine);

    if (count == 0)
        return true;
    if (attempt->gang->groups[group].topology.topology == 0 || !engine_has(engine, PLUGIN_TOPOLOGY)) {
        if (place_within(attempt, group, pods, count, nodes))
            return true;
        statement_rollback(engine, checkpoint);
        return false;
    }
    uint32_t set_count;
    struct node_set *sets = topology_node_sets(engine, &engine->placing, attempt->view, group, pods, count, nodes,
                                               attempt->is_simulation, &set_count);
    for (uint32_t i = 0; i < set_count; i++) {
        if (place_within(attempt, group, pods, count, sets[i]))
            return true;
        statement_rollback(engine, checkpoint);
    }
    return false;
}

bool place_gang(struct engine *engine, const struct gang_view *view, struct node_set nodes, bool is_simulation)
{
    const struct gang *gang = &engine->state->gangs.items[view->gang];
    struct attempt attempt = {engine, view, gang, is_simulation};
    struct verdict over = {.pod = NO_ID};

    arena_clear(&engine->placing);
    topology_begin(engine);
    if (view->chunk_count == 0)
        return false;
    if (engine_has(engine, PLUGIN_PROPORTION) && !capacity_allows(engine, gang, view->asked_most, &over)) {
        if (!is_simulation)
            *engine_verdict_slot(engine, view->gang) = over;
        return false;
    }
    /* The view may be made anew while its pods change status; the attempt keeps the list as it was. */
    const pod_id *pods = view->chunk;
    if (view->chunk_count > 1) {
        pod_id *copy = arena_alloc(&engine->placing, (size_t)view->chunk_count * sizeof *copy);
        memcpy(copy, view->chunk, (size_t)view->chunk_count * sizeof *copy);
        pods = copy;
    }
    return place_group(&attempt, 0, pods, view->chunk_count, nodes);
}
