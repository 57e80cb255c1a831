/* SPDX-License-Identifier: Apache-2.0 */

/* Sums are kept, not counted again: each change is added to the process, its group and the GPU in one place. */
#include "gpu/daemon/ledger.h"

#include <string.h>

#include "base/macros.h"

void ledger_init(struct ledger *l)
{
    memset(l, 0, sizeof *l);
}

bool ledger_set_group(struct ledger *l, uint32_t group, const uint64_t request[static LEDGER_GPUS_MAX],
                      const uint64_t limit[static LEDGER_GPUS_MAX], uint32_t *ret_gpu)
{
    struct ledger_group *g = &l->groups[group];

    BUG_ON(group >= LEDGER_GROUPS_MAX);
    for (uint32_t i = 0; i < LEDGER_GPUS_MAX; i++) {
        uint64_t others = l->requested[i] - (g->is_used ? g->request[i] : 0);

        if (request[i] > 0 && (others > l->capacity[i] || request[i] > l->capacity[i] - others)) {
            *ret_gpu = i;
            return false;
        }
    }
    for (uint32_t i = 0; i < LEDGER_GPUS_MAX; i++) {
        l->requested[i] = l->requested[i] - (g->is_used ? g->request[i] : 0) + request[i];
        g->request[i] = request[i];
        g->limit[i] = limit[i];
    }
    g->is_used = true;
    return true;
}

void ledger_remove_group(struct ledger *l, uint32_t group)
{
    struct ledger_group *g = &l->groups[group];

    for (uint32_t i = 0; i < LEDGER_GPUS_MAX; i++) {
        BUG_ON(g->taken[i] != 0);
        l->requested[i] -= g->request[i];
    }
    *g = (struct ledger_group){0};
}

static uint64_t *part_of(struct ledger_holding *holding, enum gpu_memory_kind kind)
{
    return kind == GPU_KIND_CONTEXT ? &holding->context : &holding->plain;
}

void ledger_force(struct ledger *l, uint32_t group, struct ledger_holding *holding, uint32_t gpu,
                  enum gpu_memory_kind kind, uint64_t bytes)
{
    BUG_ON(gpu >= LEDGER_GPUS_MAX || bytes > GPU_BYTES_MAX);
    *part_of(holding, kind) += bytes;
    l->groups[group].taken[gpu] += bytes;
    l->taken[gpu] += bytes;
}

/* What is left below a bound; 0 beyond it. */
static uint64_t left(uint64_t bound, uint64_t taken)
{
    return bound > taken ? bound - taken : 0;
}

enum ledger_answer ledger_reserve(struct ledger *l, uint32_t group, struct ledger_holding *holding, uint32_t gpu,
                                  enum gpu_memory_kind kind, uint64_t bytes)
{
    const struct ledger_group *g = &l->groups[group];

    BUG_ON(gpu >= LEDGER_GPUS_MAX || !g->is_used);
    if (bytes > left(g->limit[gpu], g->taken[gpu]))
        return LEDGER_OVER_LIMIT;
    if (bytes > left(l->capacity[gpu], l->taken[gpu]))
        return bytes <= left(g->request[gpu], g->taken[gpu]) ? LEDGER_OWED : LEDGER_EXHAUSTED;
    ledger_force(l, group, holding, gpu, kind, bytes);
    return LEDGER_GRANTED;
}

uint64_t ledger_release(struct ledger *l, uint32_t group, struct ledger_holding *holding, uint32_t gpu,
                        enum gpu_memory_kind kind, uint64_t bytes)
{
    uint64_t *part = part_of(holding, kind);
    struct ledger_group *g = &l->groups[group];

    BUG_ON(gpu >= LEDGER_GPUS_MAX);
    bytes = MIN(bytes, *part);
    BUG_ON(bytes > g->taken[gpu] || bytes > l->taken[gpu]);
    *part -= bytes;
    g->taken[gpu] -= bytes;
    l->taken[gpu] -= bytes;
    return bytes;
}

uint64_t ledger_credit(const struct ledger *l, uint32_t group, uint32_t gpu, uint64_t chunk)
{
    const struct ledger_group *g = &l->groups[group];
    uint64_t room = MIN(left(g->request[gpu], g->taken[gpu]), left(l->capacity[gpu], l->taken[gpu]));

    return MIN(chunk, room / 8);
}

uint64_t ledger_free(const struct ledger *l, uint32_t group, uint32_t gpu, uint64_t own_credit, uint64_t all_credit)
{
    const struct ledger_group *g = &l->groups[group];
    uint64_t used = left(g->taken[gpu], own_credit);
    uint64_t unused = left(l->capacity[gpu], left(l->taken[gpu], all_credit));

    return MIN(left(g->limit[gpu], used), MAX(left(g->request[gpu], used), unused));
}

uint64_t ledger_borrowed(const struct ledger *l, uint32_t group, uint32_t gpu)
{
    return left(l->groups[group].taken[gpu], l->groups[group].request[gpu]);
}
