/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The order of remedies. All of them work; first comes what costs the least and is in the hands of whoever owns the
 * workload, then what others have to agree to, and at last what leaves little of the workload.
 */
#include <stdlib.h>

#include "base/macros.h"
#include "model/state.h"
#include "sim/why/why_internal.h"

enum { DEEP_CUT = 100, OTHERS_WORK = 10, FRACTION_OF_MANY = 200 };

static const int ranks[] = {
    [WHY_WAIT] = 0,         [WHY_NODES] = 10,   [WHY_TAINTS] = 20,      [WHY_LEVEL] = 30,
    [WHY_PREEMPTIBLE] = 40, [WHY_QUEUE] = 50,   [WHY_QUOTA] = 60,       [WHY_PODS] = 70,
    [WHY_GPUS] = 75,        [WHY_AMOUNT] = 76,  [WHY_DEVICES] = 77,     [WHY_GPU_MEMORY] = 78,
    [WHY_FRACTION] = 79,    [WHY_WITHOUT] = 80, [WHY_CLAIM_CLASS] = 45, [WHY_CLAIM_DEVICES] = 75,
};
_Static_assert(ARRAY_LEN(ranks) == _WHY_REMEDY_MAX, "every remedy has a rank");

/* Half of what was asked for is another workload. */
static bool is_deep_cut(const struct why_remedy *remedy)
{
    switch (remedy->kind) {
    case WHY_GPUS:
    case WHY_FRACTION:
    case WHY_GPU_MEMORY:
    case WHY_DEVICES:
    case WHY_AMOUNT:
    case WHY_CLAIM_DEVICES:
    case WHY_PODS:
        return remedy->step.to < remedy->step.from / 2;
    default:
        return false;
    }
}

static int rank_of(const struct why *why, const struct why_remedy *remedy)
{
    int rank = ranks[remedy->kind];

    if (is_deep_cut(remedy))
        rank += DEEP_CUT;
    if (remedy->kind == WHY_FRACTION && remedy->step.from > 1)
        rank += FRACTION_OF_MANY;
    if (remedy->kind == WHY_WITHOUT && !why_is_own_queue(why, remedy->change.without))
        rank += OTHERS_WORK;
    return rank + (remedy->with ? rank_of(why, remedy->with) : 0);
}

bool why_is_own_queue(const struct why *why, gang_id gang)
{
    return why->state->gangs.items[gang].queue == why->state->gangs.items[why->gang].queue;
}

struct ranked {
    int rank;
    uint32_t found;  // equals stay in the order in which they were found
    struct why_remedy remedy;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *l = a;
    const struct ranked *r = b;

    if (l->rank != r->rank)
        return l->rank < r->rank ? -1 : 1;
    return l->found < r->found ? -1 : 1;
}

void why_rank(struct why *why)
{
    uint32_t count = why->remedies.len;
    struct ranked *ranked = arena_alloc(&why->arena, (count + 1) * sizeof *ranked);

    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){rank_of(why, &why->remedies.items[i]), i, why->remedies.items[i]};
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (uint32_t i = 0; i < count; i++)
        why->remedies.items[i] = ranked[i].remedy;
}
