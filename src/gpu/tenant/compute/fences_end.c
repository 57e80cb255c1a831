/* SPDX-License-Identifier: Apache-2.0 */

/* Endings: a stream was awaited, a context goes, the process forks. */
#include "gpu/tenant/compute/fences.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "gpu/tenant/compute/fences_internal.h"
#include "gpu/tenant/lock.h"
#include "gpu/tenant/tenant.h"

/* Takes a stream, or all of a context (NULL: of any), off the list, and waits until nobody is about to record there. */
static void take_off(struct fences *fences, bool by_stream, const void *stream, const void *ctx)
{
    for (bool is_in_use = true; is_in_use;) {
        is_in_use = false;
        lock_take(&fences->lock);
        for (int i = 0; i < STREAMS; i++) {
            struct dirty *dirty = &fences->dirty[i];
            if (by_stream ? dirty->stream != stream : ctx && dirty->ctx != ctx)
                continue;
            dirty->is_there = false;
            is_in_use |= dirty->is_in_use;
        }
        lock_give(&fences->lock);
        if (is_in_use)
            sched_yield();
    }
}

void fences_finish_stream(void *stream)
{
    for (int slot = 0; slot < GPU_MAX; slot++) {
        struct fences *fences = &fences_all[slot];
        struct dirty work, *from;
        while (fences_take_dirty(fences, stream, false, &work, &from) && fences_finish_work(slot, &work, from))
            ;
        take_off(fences, true, stream, NULL);
    }
}

/* Lets go of the events of a context, which have died with it unless they `are_alive`. */
static void let_go(struct fences *fences, const void *ctx, bool are_alive)
{
    const struct driver_calls *driver = driver_calls();
    if (fences->begin.event && (!ctx || fences->begin.ctx == ctx)) {
        if (are_alive)
            (void)driver->event_destroy(fences->begin.event);
        fences->begin = (struct mark){0};
    }
    for (int i = 0; i < RING; i++) {
        struct fence *fence = &fences->ring[i];
        lock_take(&fences->lock);
        bool is_mine = atomic_load(&fence->state) != FENCE_TAKEN && fence->event && (!ctx || fence->ctx == ctx);
        void *event = is_mine ? fence->event : NULL;
        if (is_mine) {
            fence->event = NULL;
            if (atomic_load(&fence->state) == FENCE_RECORDED && !fence->is_doubted)
                fences->fenced_ns -= fence->known_ns < fences->fenced_ns ? fence->known_ns : fences->fenced_ns;
            atomic_store(&fence->state, FENCE_FREE);
        }
        lock_give(&fences->lock);
        if (is_mine && are_alive)
            (void)driver->event_destroy(event);
    }
}

void fences_drop(int slot, void *ctx)
{
    struct fences *fences = &fences_all[slot];
    take_off(fences, false, NULL, ctx);
    fences_take_turn(fences);
    let_go(fences, ctx, true);
    fences_give_turn(fences);
}

void fences_hold(int slot)
{
    struct fences *fences = &fences_all[slot];
    bool is_in_use = true;
    fences_take_turn(fences);
    lock_take(&fences->lock);
    fences->is_held = true;
    lock_give(&fences->lock);
    while (is_in_use) {
        is_in_use = false;
        lock_take(&fences->lock);
        for (int i = 0; i < STREAMS; i++)
            is_in_use |= fences->dirty[i].is_in_use;
        lock_give(&fences->lock);
        if (is_in_use)
            sched_yield();
    }
}

void fences_go_on(int slot, const void *gone_ctx)
{
    struct fences *fences = &fences_all[slot];
    if (gone_ctx) {
        take_off(fences, false, NULL, gone_ctx);
        let_go(fences, gone_ctx, false);
    }
    lock_take(&fences->lock);
    fences->is_held = false;
    lock_give(&fences->lock);
    fences_give_turn(fences);
}

void fences_forget(void)
{
    memset(fences_all, 0, sizeof fences_all);
}
