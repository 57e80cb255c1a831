/* SPDX-License-Identifier: Apache-2.0 */

/*
 * topologySpreadConstraints with DoNotSchedule, which KAI does not look at. As in Kubernetes: domains are those of
 * nodes that the pod's own selectors allow and that have all its keys; pods of its namespace count, unless they are
 * leaving.
 */
#include "engine/nodes/pods/affinity.h"

#include "engine/context.h"
#include "engine/nodes/filter.h"

static bool has_all_keys(const struct constraints *own, struct labels labels)
{
    for (uint32_t i = 0; i < own->spread_count; i++) {
        if (own->spread[i].is_hard && labels_get(labels, own->spread[i].topology_key) == NO_ID)
            return false;
    }
    return true;
}

static bool counts(const struct state *state, const struct spread_term *term, const struct pod *pod,
                   const struct held *held)
{
    const struct pod *other = &state->pods.items[held->pod];

    return held->status != POD_RELEASING && held->status != POD_STUCK && other->namespace == pod->namespace &&
           selector_matches(state, term->selector, state_labels(state, other->labels), other->name);
}

static void count_node(struct affinity_memory *memory, const struct state *state, const struct pod *pod,
                       const struct constraints *own, const struct node *node)
{
    struct labels labels = state_labels(state, node->labels);

    for (uint32_t i = 0; i < own->spread_count; i++) {
        const struct spread_term *term = &own->spread[i];
        int64_t found = 0;

        for (uint32_t h = node->first_held; term->is_hard && h != NO_ID; h = state_held(state, h)->next)
            found += counts(state, term, pod, state_held(state, h));
        /* Domains without such pods count as well. */
        (void)pair_sums_add(&memory->spread.items[i].pods, labels, term->topology_key, found);
    }
}

static int64_t least_of(const struct pair_sums *pairs)
{
    int64_t least = INT64_MAX;
    uint64_t pair;
    uint64_t sum;

    for (size_t cursor = 0; map64_next(&pairs->sums, &cursor, &pair, &sum);)
        least = MIN(least, (int64_t)sum);
    return least;
}

static void work_out_spread(struct engine *engine, pod_id id, const struct constraints *own)
{
    struct affinity_memory *memory = engine->affinity;
    const struct state *state = engine->state;

    if (memory->spread.len < own->spread_count)
        vec_resize(&memory->spread, own->spread_count);
    vec_foreach (&memory->spread, term)
        pair_sums_clear(&term->pods);
    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++) {
        node_id id_of_node = state->nodes_by_rank.items[i];
        const struct node *node = &state->nodes.items[id_of_node];
        if (has_all_keys(own, state_labels(state, node->labels)) && node_matches(state, own, id_of_node))
            count_node(memory, state, &state->pods.items[id], own, node);
    }
    vec_foreach (&memory->spread, term)
        term->least = least_of(&term->pods);
}

bool spread_passes(struct engine *engine, pod_id id, node_id node)
{
    struct affinity_memory *memory = engine->affinity;
    const struct state *state = engine->state;
    const struct constraints *own = state_constraints(state, id);
    const struct pod *pod = &state->pods.items[id];
    struct labels labels = state_labels(state, state->nodes.items[node].labels);

    if (worked_out_is_old(&memory->spread_for, engine, id))
        work_out_spread(engine, id, own);
    for (uint32_t i = 0; i < own->spread_count; i++) {
        const struct spread_term *term = &own->spread[i];
        const struct spread_counts *here = &memory->spread.items[i];

        if (!term->is_hard)
            continue;
        if (labels_get(labels, term->topology_key) == NO_ID)
            return false;
        bool adds_itself = selector_matches(state, term->selector, state_labels(state, pod->labels), pod->name);
        int64_t least = here->least == INT64_MAX ? 0 : here->least;
        if (pair_sums_get(&here->pods, labels, term->topology_key) + adds_itself - least > term->max_skew)
            return false;
    }
    return true;
}
