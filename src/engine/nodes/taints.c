/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/nodes/taints_internal.h"

#include "model/node.h"

static bool tolerates(const struct toleration *toleration, const struct taint *taint)
{
    if (!toleration->any_effect && toleration->effect != taint->effect)
        return false;
    if (toleration->key == 0)
        return toleration->exists;
    if (toleration->key != taint->key)
        return false;
    return toleration->exists || toleration->value == taint->value;
}

static bool is_tolerated(const struct taint *taint, const struct constraints *constraints)
{
    for (uint32_t i = 0; i < constraints->toleration_count; i++) {
        if (tolerates(&constraints->tolerations[i], taint))
            return true;
    }
    return false;
}

const struct taint *taints_first_untolerated(const struct node *node, const struct constraints *constraints)
{
    for (uint32_t t = 0; t < node->taint_count; t++) {
        const struct taint *taint = &node->taints[t];

        if ((taint->effect == TAINT_NO_SCHEDULE || taint->effect == TAINT_NO_EXECUTE) &&
            !is_tolerated(taint, constraints))
            return taint;
    }
    return NULL;
}

bool taints_tolerated(const struct node *node, const struct constraints *constraints, enum taint_effect effect)
{
    for (uint32_t t = 0; t < node->taint_count; t++) {
        if (node->taints[t].effect == effect && !is_tolerated(&node->taints[t], constraints))
            return false;
    }
    return true;
}
