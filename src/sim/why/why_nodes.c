/* SPDX-License-Identifier: Apache-2.0 */

/* What the workload asks of nodes, and what nodes ask of it: selectors and taints, for words and patches. */
#include <string.h>

#include "model/state.h"
#include "sim/why/why_internal.h"

const struct constraints *why_constraints(const struct why *why)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];

    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            const struct constraints *c = state_constraints(why->state, gang->groups[g].pods.items[i]);

            if (constraints_limit_nodes(c))
                return c;
        }
    }
    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].pods.len > 0)
            return state_constraints(why->state, gang->groups[g].pods.items[0]);
    }
    return NULL;
}

static bool is_tolerated(const struct taint *taint, const struct constraints *c)
{
    for (uint32_t i = 0; i < c->toleration_count; i++) {
        const struct toleration *toleration = &c->tolerations[i];

        if (!toleration->any_effect && toleration->effect != taint->effect)
            continue;
        if (toleration->key == 0
                ? toleration->exists
                : toleration->key == taint->key && (toleration->exists || toleration->value == taint->value))
            return true;
    }
    return false;
}

static bool is_listed(const struct why_taint *taints, uint32_t count, const struct why_taint *taint)
{
    for (uint32_t i = 0; i < count && i < WHY_TAINTS_MAX; i++) {
        if (strcmp(taints[i].key, taint->key) == 0 && strcmp(taints[i].value, taint->value) == 0 &&
            strcmp(taints[i].effect, taint->effect) == 0)
            return true;
    }
    return false;
}

uint32_t why_taints(const struct why *why, struct why_taint taints[static WHY_TAINTS_MAX])
{
    const struct state *state = why->state;
    const struct constraints *c = why_constraints(why);
    uint32_t count = 0;

    for (uint32_t i = 0; c && i < state->nodes_by_rank.len; i++) {
        const struct node *node = &state->nodes.items[state->nodes_by_rank.items[i]];

        for (uint32_t t = 0; t < node->taint_count; t++) {
            const struct taint *taint = &node->taints[t];
            struct why_taint named = {state_name(state, taint->key), state_name(state, taint->value),
                                      taint->effect == TAINT_NO_EXECUTE ? "NoExecute" : "NoSchedule"};

            if (taint->effect == TAINT_PREFER_NO_SCHEDULE || is_tolerated(taint, c) || is_listed(taints, count, &named))
                continue;
            if (count < WHY_TAINTS_MAX)
                taints[count] = named;
            count++;
        }
    }
    return count;
}
