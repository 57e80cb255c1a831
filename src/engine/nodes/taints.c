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

bool taints_tolerated(const struct node *node, const struct constraints *constraints, enum taint_effect effect)
{
    for (uint32_t t = 0; t < node->taint_count; t++) {
        const struct taint *taint = &node->taints[t];
        bool is_tolerated = taint->effect != effect;
        for (uint32_t i = 0; i < constraints->toleration_count && !is_tolerated; i++)
            is_tolerated = tolerates(&constraints->tolerations[i], taint);
        if (!is_tolerated)
            return false;
    }
    return true;
}
