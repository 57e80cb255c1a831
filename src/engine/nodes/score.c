/* SPDX-License-Identifier: Apache-2.0 */

/*
 * KAI's points. They are so far apart that they order nodes one after the other: sharing, then availability, then the type
 * of node, then how full it is. Only the last needs fractions, and only of a tier's smallest step.
 */
#include "engine/nodes/score.h"

#include "base/macros.h"
#include "engine/context.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/fit.h"
#include "engine/nodes/place.h"
#include "engine/nodes/stranding.h"
#include "engine/nodes/taints_internal.h"
#include "engine/nodes/volumes_internal.h"

static bool may_share(const struct engine *engine, pod_id pod)
{
    const struct request *request = state_request(engine->state, pod);

    /*
     * Pods without GPUs need no memory of one, and so count as able to join: KAI's way, kept since it decides cases. With
     * leaststranded they go by free GPUs alone.
     */
    return request_is_shared(request) ||
           (request->is_cpu_only && engine->config.cpu_placement != PLACEMENT_LEAST_STRANDED);
}

static double sharing_order(struct engine *engine, pod_id pod, node_id node)
{
    return fits_some_shared_gpu(engine, pod, node) ? 10000 : 0;
}

static double availability(struct engine *engine, pod_id pod, node_id node)
{
    return fits_idle(engine, pod, node) ? 1000 : 0;
}

static bool needs_no_gpu(const struct engine *engine, pod_id pod)
{
    return state_request(engine->state, pod)->is_cpu_only;
}

static double resource_type(struct engine *engine, pod_id pod, node_id node)
{
    (void)pod;
    return engine->state->nodes.items[node].is_cpu_only ? 10 : 0;
}

static bool is_nominated(const struct engine *engine, pod_id pod)
{
    return engine->state->pods.items[pod].nominated_node != NO_ID;
}

static double nominated(struct engine *engine, pod_id pod, node_id node)
{
    return engine->state->pods.items[pod].nominated_node == node ? 10000000 : 0;
}

static bool has_affine_pods(const struct engine *engine, pod_id pod)
{
    return engine->state->affine_pods > 0 || state_constraints(engine->state, pod)->preferred_pod_count > 0;
}

static double pod_affinity(struct engine *engine, pod_id pod, node_id node)
{
    return 1000000 * (double)affinity_score(engine, pod, node);
}

static bool has_numa(const struct engine *engine, pod_id pod)
{
    (void)pod;
    return engine->state->has_numa;
}

static bool prefers_nodes(const struct engine *engine, pod_id pod)
{
    return state_constraints(engine->state, pod)->preferred_node_count > 0;
}

/* Up to 100 points, below availability: a preference never makes a pod wait. */
static double preferred_nodes(struct engine *engine, pod_id pod, node_id node)
{
    const struct state *state = engine->state;
    const struct constraints *c = state_constraints(state, pod);
    const struct node *n = &state->nodes.items[node];
    int64_t all = 0;
    int64_t met = 0;

    for (uint32_t i = 0; i < c->preferred_node_count; i++) {
        const struct preferred_node_term *term = &c->preferred_nodes[i];
        all += term->weight;
        if (selector_matches(state, term->selector, state_labels(state, n->labels), n->name))
            met += term->weight;
    }
    return all > 0 ? 100 * (double)met / (double)all : 0;
}

static double soft_taints(struct engine *engine, pod_id pod, node_id node)
{
    const struct node *n = &engine->state->nodes.items[node];

    return taints_tolerated(n, state_constraints(engine->state, pod), TAINT_PREFER_NO_SCHEDULE) ? 50 : 0;
}

static bool awaits_failed_volumes(const struct engine *engine, pod_id pod)
{
    return volumes_have_failed(engine->state, pod, NO_ID);
}

/* Below availability: where no other node has room, it is tried again. */
static double unfailed_volumes(struct engine *engine, pod_id pod, node_id node)
{
    return volumes_have_failed(engine->state, pod, node) ? 0 : 500;
}

static double placement(struct engine *engine, pod_id pod, node_id node)
{
    return score_placement_order(engine, pod, node);
}

static bool packs_gpus(const struct engine *engine)
{
    return engine->config.gpu_placement == PLACEMENT_BINPACK;
}

static const struct score rows[] = {
    {
        .name = "nominatednode",
        .plugin = PLUGIN_NOMINATED_NODE,
        .kind = SCORE_EXTRA,
        .applies = is_nominated,
        .value = nominated,
    },
    {
        .name = "podaffinity",
        .plugin = PLUGIN_POD_AFFINITY,
        .kind = SCORE_EXTRA,
        .applies = has_affine_pods,
        .value = pod_affinity,
    },
    {
        .name = "gpusharingorder",
        .plugin = PLUGIN_GPU_SHARING_ORDER,
        .kind = SCORE_TIER,
        .applies = may_share,
        .value = sharing_order,
        .rehearsal = {.is_rehearsed = true},
    },
    {
        .name = "nodeavailability",
        .plugin = PLUGIN_NODE_AVAILABILITY,
        .kind = SCORE_TIER,
        .value = availability,
        .rehearsal = {.is_rehearsed = true},
    },
    {
        .name = "numa",
        .plugin = PLUGIN_NUMA,
        .kind = SCORE_EXTRA,
        .applies = has_numa,
        .value = numa_score,
    },
    {
        .name = "preferrednodeaffinity",
        .plugin = PLUGIN_PREFERRED_NODES,
        .kind = SCORE_EXTRA,
        .applies = prefers_nodes,
        .value = preferred_nodes,
    },
    {
        .name = "softtaints",
        .plugin = PLUGIN_SOFT_TAINTS,
        .kind = SCORE_EXTRA,
        .value = soft_taints,
    },
    {
        .name = "failedvolumes",
        .plugin = PLUGIN_PREDICATES,
        .kind = SCORE_EXTRA,
        .applies = awaits_failed_volumes,
        .value = unfailed_volumes,
    },
    {
        .name = "resourcetype",
        .plugin = PLUGIN_RESOURCE_TYPE,
        .kind = SCORE_TIER,
        .applies = needs_no_gpu,
        .value = resource_type,
    },
    {
        .name = "nodeplacement",
        .plugin = PLUGIN_NODE_PLACEMENT,
        .kind = SCORE_ORDER,
        .value = placement,
        .rehearsal = {.is_rehearsed = true, .settings = packs_gpus},
    },
};
const struct node_score_table standard_scores = {rows, ARRAY_LEN(rows)};

static bool applies(const struct engine *engine, const struct score *score, pod_id pod)
{
    return engine_has(engine, score->plugin) && (!score->applies || score->applies(engine, pod));
}

bool score_needs_every_node(const struct engine *engine, pod_id pod)
{
    for (uint32_t i = 0; i < engine->scores.count; i++) {
        const struct score *score = &engine->scores.rows[i];
        if (score->kind == SCORE_EXTRA && applies(engine, score, pod))
            return true;
    }
    return false;
}

uint32_t score_tier(struct engine *engine, pod_id pod, node_id node)
{
    double sum = 0;

    for (uint32_t i = 0; i < engine->scores.count; i++) {
        const struct score *score = &engine->scores.rows[i];
        if (score->kind == SCORE_TIER && applies(engine, score, pod))
            sum += score->value(engine, pod, node);
    }
    return (uint32_t)sum;
}

/* What placement goes by: GPUs for pods that need some, else CPU. */
static int placement_resource(const struct request *request)
{
    return request->is_cpu_only ? RES_CPU : RES_GPU;
}

static enum placement_strategy placement_strategy(const struct engine *engine, const struct request *request)
{
    if (!engine_has(engine, PLUGIN_NODE_PLACEMENT))
        return PLACEMENT_NONE;
    return request->is_cpu_only ? engine->config.cpu_placement : engine->config.gpu_placement;
}

static int64_t free_of(const struct engine *engine, node_id node, int resource)
{
    struct books books = state_books(engine->state, node);

    return books.idle[resource] + books.releasing[resource];
}

/* The part of the node that is free, by the number of its devices where it is about GPUs. */
static double free_part(const struct engine *engine, node_id node, int resource)
{
    double free = (double)free_of(engine, node, resource);
    double all = resource == RES_GPU ? (double)engine->state->nodes.items[node].device_count * (double)GPU_ONE
                                     : (double)state_books(engine->state, node).allocatable[resource];

    return all != 0 ? free / all : 0;
}

double score_placement_order(const struct engine *engine, pod_id pod, node_id node)
{
    const struct request *request = state_request(engine->state, pod);
    int resource = placement_resource(request);

    switch (placement_strategy(engine, request)) {
    case PLACEMENT_BINPACK:
        return -(double)free_of(engine, node, resource);
    case PLACEMENT_SPREAD:
        return free_part(engine, node, resource);
    case PLACEMENT_LEAST_STRANDED:
        return -(double)stranding_cost(engine, pod, node);
    case PLACEMENT_NONE:
        break;
    }
    return 0;
}

struct placement_range score_placement_range(const struct engine *engine, pod_id pod, const node_id *nodes,
                                             uint32_t count)
{
    const struct request *request = state_request(engine->state, pod);
    bool by_cost = placement_strategy(engine, request) == PLACEMENT_LEAST_STRANDED;
    int resource = placement_resource(request);
    struct placement_range range = {INT64_MAX, INT64_MIN};

    for (uint32_t i = 0; i < count; i++) {
        if (state_books(engine->state, nodes[i]).allocatable[resource] == 0)
            continue;
        int64_t free = by_cost ? stranding_cost(engine, pod, nodes[i]) : free_of(engine, nodes[i], resource);
        range.low = MIN(range.low, free);
        range.high = MAX(range.high, free);
    }
    return range.low > range.high ? (struct placement_range){0, 0} : range;
}

static double points_between(int64_t value, struct placement_range range)
{
    if (range.low == range.high)
        return 9;
    return 9 * (1 - (double)(value - range.low) / (double)(range.high - range.low));
}

double score_placement_points(const struct engine *engine, pod_id pod, node_id node, struct placement_range range)
{
    const struct request *request = state_request(engine->state, pod);
    int resource = placement_resource(request);

    switch (placement_strategy(engine, request)) {
    case PLACEMENT_BINPACK:
        if (state_books(engine->state, node).allocatable[resource] == 0 || range.high == 0)
            return 0;
        return points_between(free_of(engine, node, resource), range);
    case PLACEMENT_SPREAD:
        return free_part(engine, node, resource);
    case PLACEMENT_LEAST_STRANDED:
        if (state_books(engine->state, node).allocatable[resource] == 0)
            return 0;
        return points_between(stranding_cost(engine, pod, node), range);
    case PLACEMENT_NONE:
        break;
    }
    return 0;
}
