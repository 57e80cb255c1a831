/* SPDX-License-Identifier: Apache-2.0 */

/* What makes a pod unplaceable on every node, checked once an attempt. */
#include "engine/context.h"
#include "engine/nodes/filter.h"

static bool config_maps_exist(const struct engine *engine, pod_id pod)
{
    const struct constraints *c = state_constraints(engine->state, pod);
    uint64_t namespace = engine->state->pods.items[pod].namespace;
    uint64_t value;

    for (uint32_t i = 0; i < c->config_map_count; i++) {
        if (!map64_get(&engine->state->config_maps, namespace << 32 | c->config_maps[i], &value))
            return false;
    }
    return true;
}

/* The first dimension in which the request is larger than any node, NO_ID when there is none. */
static uint32_t too_large_in(const struct engine *engine, pod_id pod)
{
    const struct request *request = state_request(engine->state, pod);

    for (uint32_t i = 0; i < request->v_count; i++) {
        if (request->v[i] > engine_largest(engine, i))
            return i;
    }
    return NO_ID;
}

enum verdict_code prefilter_unresolvable(struct engine *engine, pod_id pod)
{
    if (!engine_has(engine, PLUGIN_PREDICATES))
        return VERDICT_NONE;
    if (!volumes_exist(engine, pod))
        return VERDICT_MISSING_VOLUME;
    if (!config_maps_exist(engine, pod))
        return VERDICT_MISSING_CONFIG_MAP;
    if (too_large_in(engine, pod) != NO_ID)
        return VERDICT_TOO_LARGE;
    return VERDICT_NONE;
}

enum verdict_code prefilter(struct engine *engine, pod_id pod)
{
    enum verdict_code code = prefilter_unresolvable(engine, pod);

    if (code != VERDICT_NONE)
        return code;
    /* Looked at once a pod and cycle, whether or not it matters for this attempt: see affinity.c. */
    if (engine_has(engine, PLUGIN_PREDICATES))
        (void)affinity_is_relevant(engine, pod);
    if (engine_has(engine, PLUGIN_DYNAMIC_RESOURCES) && !claims_exist(engine, pod))
        return VERDICT_MISSING_CLAIM;
    return VERDICT_NONE;
}
