/* SPDX-License-Identifier: Apache-2.0 */

/* Looking: which fences have been passed, what their launches took, and how long the device was busy under a lease. */
#include "gpu/tenant/compute/fences.h"

#include <stdatomic.h>
#include <string.h>

#include "gpu/tenant/compute/costs.h"
#include "gpu/tenant/compute/fences_internal.h"
#include "gpu/tenant/lock.h"
#include "gpu/tenant/tenant.h"

/* How long the launches of a fence took: since the first of them, or since what was before them has ended. It is seen
 * late by as much as nobody has looked, which makes fences come a little too often. */
static uint64_t measured(const struct fences *fences, const struct fence *fence, int64_t now)
{
    int64_t begin = fence->begin_ns > fences->last_end_ns ? fence->begin_ns : fences->last_end_ns;
    return now > begin ? (uint64_t)(now - begin) : 0;
}

static void learn_from(const struct fence *fence, uint64_t took)
{
    if (fence->unknown) {
        uint64_t others = fence->known_ns > UNKNOWN_NS ? fence->known_ns - UNKNOWN_NS : 0;
        cost_learn(fence->unknown, took > others ? took - others : COST_LEAST_NS);
    } else if (fence->known_ns > 0 && fence->last_ns > 0) {
        /* The same function takes longer with more data: what was thought of the last one is moved towards the truth.
         * That is what was thought when it was launched: it may have been corrected since, and would be once more for
         * each fence that was under way. */
        uint64_t share = (uint64_t)((double)fence->last_ns * (double)took / (double)fence->known_ns);
        cost_learn(fence->last, share > fence->last_ns * 4 ? fence->last_ns * 4 : share);
    }
}

static bool is_passed(struct fence *fence)
{
    const struct driver_calls *driver = driver_calls();
    void *popped;
    int mode = fences_relax();
    bool pushes = driver->ctx_push && driver->ctx_push(fence->ctx) == CU_SUCCESS;
    cu_result result = driver->event_query(fence->event);
    if (pushes)
        (void)driver->ctx_pop(&popped);
    fences_restore(mode);
    return result != CU_NOT_READY;
}

uint64_t fences_left(int slot)
{
    return atomic_load_explicit(&fences_all[slot].fenced_ns, memory_order_relaxed);
}

/* How many fences the ring holds. */
static unsigned count_fences(struct fences *fences)
{
    lock_take(&fences->lock);
    unsigned count = fences->tail - fences->head;
    lock_give(&fences->lock);
    return count;
}

/* The fence at a place behind the oldest, which is below count_fences(). Only the thread that has the turn moves the
 * head, and only that thread calls this: the head needs no lock here, and a fence that was counted stays counted. */
static struct fence *fence_at(struct fences *fences, unsigned place)
{
    return &fences->ring[(fences->head + place) % RING];
}

/* How many of the oldest have been passed, and what their launches were thought to take. */
static unsigned count_passed(struct fences *fences, uint64_t *ret_known_ns)
{
    unsigned count = 0;
    *ret_known_ns = 0;
    while (count < count_fences(fences)) {
        struct fence *fence = fence_at(fences, count);
        int state = atomic_load(&fence->state);
        if (state == FENCE_TAKEN || (state == FENCE_RECORDED && !is_passed(fence)))
            break;
        *ret_known_ns += state == FENCE_RECORDED ? fence->known_ns : 0;
        count++;
    }
    return count;
}

/* Of several that are found passed at once it is only known how long they took together. */
static void pass(struct fences *fences, unsigned count, uint64_t known_ns)
{
    int64_t now = fences_now();
    uint64_t took = measured(fences, fence_at(fences, 0), now);
    uint64_t counted_ns = 0;
    bool is_shared = atomic_load_explicit(&fences->is_shared, memory_order_relaxed);
    for (unsigned i = 0; i < count; i++) {
        const struct fence *fence = fence_at(fences, i);
        lock_take(&fences->lock);
        bool is_recorded = atomic_load(&fence->state) == FENCE_RECORDED, is_doubted = fence->is_doubted;
        lock_give(&fences->lock);
        counted_ns += is_recorded && !is_doubted ? fence->known_ns : 0;
        if (is_recorded && known_ns > 0 && (!(is_doubted || is_shared) || fence->unknown))
            learn_from(fence, (uint64_t)((double)took * (double)fence->known_ns / (double)known_ns));
    }
    lock_take(&fences->lock);
    fences->fenced_ns -= counted_ns < fences->fenced_ns ? counted_ns : fences->fenced_ns;
    if (known_ns > 0)
        fences->last_end_ns = now;
    fences->head += count;
    lock_give(&fences->lock);
}

uint64_t fences_look(int slot)
{
    struct fences *fences = &fences_all[slot];
    if (!atomic_exchange(&fences->is_looked_at, 1)) {
        uint64_t known_ns;
        unsigned count = count_passed(fences, &known_ns);
        if (count > 0)
            pass(fences, count, known_ns);
        fences_give_turn(fences);
    }
    return fences_left(slot);
}

void fences_await_looks(void)
{
    for (int slot = 0; slot < GPU_MAX; slot++) {
        fences_take_turn(&fences_all[slot]);
        fences_give_turn(&fences_all[slot]);
    }
}

bool fences_are_passed(int slot)
{
    struct fences *fences = &fences_all[slot];
    struct dirty work, *from;
    while (fences_take_dirty(fences, NULL, true, &work, &from) && fences_finish_work(slot, &work, from))
        ;
    (void)fences_look(slot);
    lock_take(&fences->lock);
    bool is_empty = fences->head == fences->tail;
    for (int i = 0; i < STREAMS; i++)
        is_empty = is_empty && !fences->dirty[i].is_there;
    lock_give(&fences->lock);
    return is_empty;
}

void fences_share(int slot, bool is_shared)
{
    atomic_store_explicit(&fences_all[slot].is_shared, is_shared, memory_order_relaxed);
}

void fences_doubt(int slot)
{
    struct fences *fences = &fences_all[slot];
    lock_take(&fences->lock);
    for (unsigned i = fences->head; i != fences->tail; i++) {
        struct fence *fence = &fences->ring[i % RING];
        fence->is_doubted |= atomic_load(&fence->state) == FENCE_RECORDED;
    }
    fences->fenced_ns = 0;
    lock_give(&fences->lock);
}

int64_t fences_next_end(int slot)
{
    struct fences *fences = &fences_all[slot];
    int64_t end = fences_now();
    lock_take(&fences->lock);
    const struct fence *next = &fences->ring[fences->head % RING];
    if (fences->head != fences->tail && atomic_load(&next->state) == FENCE_RECORDED) {
        int64_t begin = next->begin_ns > fences->last_end_ns ? next->begin_ns : fences->last_end_ns;
        end = begin + (int64_t)next->known_ns;
    }
    lock_give(&fences->lock);
    return end;
}

int64_t fences_last_end(int slot)
{
    lock_take(&fences_all[slot].lock);
    int64_t end = fences_all[slot].last_end_ns;
    lock_give(&fences_all[slot].lock);
    return end;
}

/* The time between two events that have been passed, by the device's own clock; 0 when it cannot be told. */
static int64_t between(const struct mark *begin, const struct fence *end)
{
    const struct driver_calls *driver = driver_calls();
    float ms = 0;
    if (!driver->event_elapsed || end->ctx != begin->ctx || !end->event)
        return 0;
    int mode = fences_relax();
    void *popped;
    bool pushes = driver->ctx_push && driver->ctx_push(end->ctx) == CU_SUCCESS;
    cu_result result = driver->event_elapsed(&ms, begin->event, end->event);
    if (pushes)
        (void)driver->ctx_pop(&popped);
    fences_restore(mode);
    return result == CU_SUCCESS && ms > 0 ? (int64_t)((double)ms * 1e6) : 0;
}

static bool is_among(const struct fence *const *fences, unsigned count, const void *stream)
{
    for (unsigned i = 0; i < count; i++) {
        if (fences[i]->stream == stream)
            return true;
    }
    return false;
}

/* The last fence of each stream since the lease began, the latest first; how many there are. */
static unsigned last_fences(struct fences *fences, const struct fence *ret_last[STREAMS])
{
    unsigned count = 0;
    lock_take(&fences->lock);
    unsigned since = fences->tail - fences->begin.tail;
    for (unsigned i = 1; i <= since && i <= RING && count < STREAMS; i++) {
        const struct fence *fence = &fences->ring[(fences->tail - i) % RING];
        if (atomic_load(&fence->state) == FENCE_RECORDED && !is_among(ret_last, count, fence->stream))
            ret_last[count++] = fence;
    }
    lock_give(&fences->lock);
    return count;
}

int64_t fences_busy(int slot)
{
    struct fences *fences = &fences_all[slot];
    const struct fence *last[STREAMS];
    int64_t longest = 0;
    fences_take_turn(fences);
    unsigned count = fences->begin.is_recorded ? last_fences(fences, last) : 0;
    for (unsigned i = 0; i < count; i++) {
        int64_t ns = between(&fences->begin, last[i]);
        longest = ns > longest ? ns : longest;
    }
    fences_give_turn(fences);
    return longest;
}
