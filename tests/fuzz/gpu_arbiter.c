/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any order of events, in time: no GPU ever has two holders unless they are there together, nobody holds a part of what it needs, shares of a group that
 * was never opened are never charged, and the next deadline is never in the past.
 */
#include "gpu/daemon/arbiter/arbiter.h"

#include "base/macros.h"
#include "base/mem.h"
#include "fuzz.h"

static void check(const struct arbiter *a, nsec_t now)
{
    uint16_t held = 0, shared = 0;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        if (!g->is_used || !arbiter_is_holding(g))
            continue;
        BUG_ON(g->charged < 0 || g->charged > now);
        BUG_ON(held & g->gpus);
        if (g->is_together) {
            shared |= g->gpus;
            continue;
        }
        BUG_ON(shared & g->gpus);
        held |= g->gpus;
        for (uint32_t gpu = 0; gpu < ARBITER_GPUS_MAX; gpu++)
            BUG_ON((g->gpus & (1u << gpu)) && a->holder[gpu] != (int)i);
    }
    for (uint32_t gpu = 0; gpu < ARBITER_GPUS_MAX; gpu++)
        BUG_ON(a->holder[gpu] >= 0 && !(held & (1u << gpu)));
}

static void step(struct arbiter *a, uint8_t verb, uint8_t what, nsec_t now)
{
    uint32_t group = what % 16;
    bool is_there = group < a->group_end && a->groups[group].is_used;

    switch (verb % 10) {
    case 0:
        if (!is_there)
            (void)arbiter_add(a, what & 64 ? 1 : (uint16_t)(what % 15 + 1), what * 3900u + 1,
                              what % 3 ? ARBITER_WHOLE : what * 3900u + 1, now);
        break;
    case 1:
        if (is_there && what > 200)
            arbiter_remove(a, group, now);
        break;
    case 2:
    case 3:
        if (is_there)
            arbiter_ask(a, group, now);
        break;
    case 4:
        if (is_there)
            arbiter_yield(a, group, what * NSEC_PER_MSEC, now);
        break;
    case 5:
        if (is_there)
            arbiter_drained(a, group, what * NSEC_PER_MSEC, what & 1, now);
        break;
    case 6:
        if (is_there)
            arbiter_close(a, group, now);
        break;
    case 7:
        if (is_there && what > 240)
            arbiter_set_urgent(a, group, what & 1, now);
        break;
    case 8:
        for (uint32_t i = 0; i < a->group_end; i++) {
            if (a->groups[i].is_used)
                arbiter_note_work(a, i, a->groups[i].work + what * (i + 1) * NSEC_PER_MSEC / 4,
                                  a->groups[i].launches + what);
        }
        break;
    default:
        if (is_there)
            arbiter_set(a, group, what * 3000u + 1, ARBITER_WHOLE, now);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) struct arbiter *a = xmalloc(sizeof *a);
    nsec_t now = 0;

    arbiter_init(a, NULL);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        now += data[i + 2] * (200 * NSEC_PER_USEC);
        step(a, data[i], data[i + 1], now);
        arbiter_tick(a, now);
        while (arbiter_next_action(a).verb != ARBITER_NOTHING)
            ;
        BUG_ON(arbiter_deadline(a) <= now);
        check(a, now);
    }
    return 0;
}
