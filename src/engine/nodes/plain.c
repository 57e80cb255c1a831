/* SPDX-License-Identifier: Apache-2.0 */

/* Filters, scores and orders of GPUs are asked one after the other: what is plain is theirs to say. */
#include "engine/nodes/plain.h"

#include "engine/context.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/gpu_order.h"
#include "engine/nodes/score.h"

static bool settings_are_plain(const struct engine *engine, const struct plain_rule *rule, bool is_on)
{
    return !rule->is_rehearsed || (is_on && (!rule->settings || rule->settings(engine)));
}

bool rows_are_plain(const struct engine *engine)
{
    for (uint32_t i = 0; i < engine->filters.count; i++) {
        const struct filter *filter = &engine->filters.rows[i];
        if (!settings_are_plain(engine, &filter->rehearsal, engine_has(engine, filter->plugin)))
            return false;
    }
    for (uint32_t i = 0; i < engine->scores.count; i++) {
        const struct score *score = &engine->scores.rows[i];
        if (!settings_are_plain(engine, &score->rehearsal, engine_has(engine, score->plugin)))
            return false;
    }
    for (uint32_t i = 0; i < engine->gpu_orders.count; i++) {
        const struct gpu_order *order = &engine->gpu_orders.rows[i];
        /* Which GPU a pod gets is never idle. */
        if (engine_has(engine, order->plugin) != order->is_rehearsed)
            return false;
    }
    return true;
}

bool rows_node_rules(const struct engine *engine, plain_node_fn *ret_rules[PLAIN_NODE_RULES_MAX], uint32_t *ret_count)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < engine->filters.count; i++) {
        const struct filter *filter = &engine->filters.rows[i];
        plain_node_fn *rule = filter->rehearsal.node;
        uint32_t at = 0;
        if (!rule || !engine_has(engine, filter->plugin))
            continue;
        while (at < count && ret_rules[at] != rule)
            at++;
        if (at == PLAIN_NODE_RULES_MAX)
            return false;
        ret_rules[at] = rule;
        count = MAX(count, at + 1);
    }
    *ret_count = count;
    return true;
}

bool rows_class_is_plain(const struct engine *engine, const struct request *request,
                         const struct constraints *constraints)
{
    for (uint32_t i = 0; i < engine->filters.count; i++) {
        const struct filter *filter = &engine->filters.rows[i];
        const struct plain_rule *rule = &filter->rehearsal;
        if (rule->is_rehearsed || rule->node || !engine_has(engine, filter->plugin))
            continue;
        if (rule->pod ? !rule->pod(engine, request, constraints)
                      : !filter->applies || filter->applies(engine, request, constraints))
            return false;
    }
    return true;
}

bool rows_pod_is_plain(const struct engine *engine, pod_id pod)
{
    for (uint32_t i = 0; i < engine->scores.count; i++) {
        const struct score *score = &engine->scores.rows[i];
        if (!score->rehearsal.is_rehearsed && engine_has(engine, score->plugin) &&
            (!score->applies || score->applies(engine, pod)))
            return false;
    }
    return true;
}
