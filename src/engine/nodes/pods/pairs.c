/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/nodes/pods/affinity.h"

#include "engine/context.h"
#include "engine/topology/topology.h"

static uint64_t pair_of(name_id key, name_id value)
{
    return (uint64_t)key << 32 | value;
}

void pair_sums_clear(struct pair_sums *pairs)
{
    vec_clear(&pairs->keys);
    map64_clear(&pairs->sums);
}

void pair_sums_done(struct pair_sums *pairs)
{
    vec_done(&pairs->keys);
    map64_done(&pairs->sums);
}

size_t pair_sums_bytes(const struct pair_sums *pairs)
{
    return vec_bytes(&pairs->keys) + map64_bytes(&pairs->sums);
}

static void add_key(struct pair_sums *pairs, name_id key)
{
    vec_foreach (&pairs->keys, at) {
        if (*at == key)
            return;
    }
    vec_push(&pairs->keys, key);
}

bool pair_sums_add(struct pair_sums *pairs, struct labels labels, name_id key, int64_t amount)
{
    name_id value = labels_get(labels, key);
    uint64_t sum = 0;

    if (value == NO_ID)
        return false;
    if (!map64_get(&pairs->sums, pair_of(key, value), &sum))
        add_key(pairs, key);
    map64_put(&pairs->sums, pair_of(key, value), sum + (uint64_t)amount);
    return true;
}

int64_t pair_sums_get(const struct pair_sums *pairs, struct labels labels, name_id key)
{
    name_id value = labels_get(labels, key);
    uint64_t sum = 0;

    if (value != NO_ID)
        (void)map64_get(&pairs->sums, pair_of(key, value), &sum);
    return (int64_t)sum;
}

int64_t pair_sums_all(const struct pair_sums *pairs, struct labels labels)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < pairs->keys.len; i++)
        sum += pair_sums_get(pairs, labels, pairs->keys.items[i]);
    return sum;
}

bool worked_out_is_old(struct worked_out *what, const struct engine *engine, pod_id pod)
{
    uint64_t touches = topology_touches(engine);

    if (what->is_valid && what->pod == pod && what->touches == touches)
        return false;
    *what = (struct worked_out){.is_valid = true, .pod = pod, .touches = touches};
    return true;
}
