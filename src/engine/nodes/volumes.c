/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PersistentVolumeClaims: those of a pod must exist and be bound, or wait for it; their volumes, or those that they may
 * get, tie it to nodes.
 */
#include "engine/context.h"
#include "engine/nodes/filter.h"

static const struct volume *find_volume(const struct state *state, name_id namespace, name_id name)
{
    uint64_t index;

    if (!map64_get(&state->volume_by_name, (uint64_t)namespace << 32 | name, &index))
        return NULL;
    const struct volume *volume = &state->volumes.items[index];
    return volume->is_present ? volume : NULL;
}

bool volumes_exist(struct engine *engine, pod_id pod)
{
    const struct state *state = engine->state;
    const struct constraints *own = state_constraints(state, pod);

    for (uint32_t i = 0; i < own->volume_claim_count; i++) {
        const struct volume *volume = find_volume(state, state->pods.items[pod].namespace, own->volume_claims[i]);
        if (!volume || volume->is_lost || !(volume->is_bound || volume->waits_for_consumer))
            return false;
    }
    return true;
}

static bool volume_reaches(const struct state *state, const struct volume *volume, const struct node *node)
{
    struct labels labels = state_labels(state, node->labels);

    for (uint32_t i = 0; i < volume->node_term_count; i++) {
        if (selector_matches(state, volume->node_terms[i], labels, node->name))
            return true;
    }
    return volume->node_term_count == 0;
}

bool volumes_pass(struct engine *engine, pod_id pod, node_id node)
{
    const struct state *state = engine->state;
    const struct constraints *own = state_constraints(state, pod);

    for (uint32_t i = 0; i < own->volume_claim_count; i++) {
        const struct volume *volume = find_volume(state, state->pods.items[pod].namespace, own->volume_claims[i]);
        if (volume && !volume_reaches(state, volume, &state->nodes.items[node]))
            return false;
    }
    return true;
}
