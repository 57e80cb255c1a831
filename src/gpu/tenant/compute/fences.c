/* SPDX-License-Identifier: Apache-2.0 */

/* Recording: a launch is noted, and fences go behind launches so that the device tells when they are over. */
#include "gpu/tenant/compute/fences.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "gpu/tenant/compute/costs.h"
#include "gpu/tenant/compute/fences_internal.h"
#include "gpu/tenant/lock.h"
#include "gpu/tenant/tenant.h"

struct fences fences_all[GPU_MAX];

int64_t fences_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pause_briefly(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    nanosleep(&pause, NULL);
}

/* Calls that a capture elsewhere in the process would forbid are allowed between these two. */
int fences_relax(void)
{
    int mode = 2;
    if (!tenant_may_capture() || !driver_calls()->capture_mode)
        return -1;
    return driver_calls()->capture_mode(&mode) == CU_SUCCESS ? mode : -1;
}

void fences_restore(int mode)
{
    if (mode >= 0)
        (void)driver_calls()->capture_mode(&mode);
}

/* A free place at the end of the ring; NULL when it is full. */
static struct fence *take_place(struct fences *fences)
{
    struct fence *fence = NULL;
    lock_take(&fences->lock);
    if (fences->tail - fences->head < RING) {
        fence = &fences->ring[fences->tail++ % RING];
        atomic_store(&fence->state, FENCE_TAKEN);
    }
    lock_give(&fences->lock);
    return fence;
}

/* Makes sure that there is an event of this context. */
static bool have_event(void **event, void **event_ctx, void *ctx)
{
    const struct driver_calls *driver = driver_calls();
    if (*event && *event_ctx != ctx) {
        (void)driver->event_destroy(*event);
        *event = NULL;
    }
    if (!*event && driver->event_create(event, CU_EVENT_DEFAULT) != CU_SUCCESS)
        *event = NULL;
    *event_ctx = ctx;
    return *event != NULL;
}

/* Records a fence in the context of the stream, which is current unless `pushes`. */
static void record(struct fences *fences, struct fence *fence, const struct dirty *work, bool pushes)
{
    const struct driver_calls *driver = driver_calls();
    void *popped;
    int mode = fences_relax();
    if (pushes && (!driver->ctx_push || driver->ctx_push(work->ctx) != CU_SUCCESS))
        pushes = false;
    bool has_event = have_event(&fence->event, &fence->ctx, work->ctx);
    fence->stream = work->stream;
    fence->unknown = work->unknown;
    fence->last = work->last;
    fence->last_ns = work->last_ns;
    fence->known_ns = work->known_ns;
    fence->begin_ns = work->begin_ns;
    fence->is_doubted = false;
    /* A fence that could not be recorded counts as passed. */
    bool is_recorded = has_event && driver->event_record(fence->event, work->stream) == CU_SUCCESS;
    if (pushes)
        (void)driver->ctx_pop(&popped);
    fences_restore(mode);
    lock_take(&fences->lock);
    if (is_recorded)
        fences->fenced_ns += fence->known_ns;
    else
        fence->known_ns = 0;
    atomic_store(&fence->state, is_recorded ? FENCE_RECORDED : FENCE_FREE);
    lock_give(&fences->lock);
}

/* Events are destroyed and looked at by one thread at a time. */
void fences_take_turn(struct fences *fences)
{
    while (atomic_exchange(&fences->is_looked_at, 1))
        sched_yield();
}

void fences_give_turn(struct fences *fences)
{
    atomic_store(&fences->is_looked_at, 0);
}

static struct dirty *find(struct fences *fences, void *stream, void *ctx)
{
    struct dirty *room = NULL;
    for (int i = 0; i < STREAMS; i++) {
        struct dirty *dirty = &fences->dirty[i];
        if (dirty->is_there && dirty->stream == stream && dirty->ctx == ctx)
            return dirty;
        if (!dirty->is_there && !dirty->is_in_use && !room)
            room = dirty;
    }
    if (room)
        *room = (struct dirty){.stream = stream, .ctx = ctx};
    return room;
}

/* Adds a launch to its stream's; takes the stream off the list when it is time for a fence. */
static bool add(struct fences *fences, void *stream, void *ctx, const void *what, uint64_t limit_ns, int64_t now,
                struct dirty *ret_work)
{
    uint64_t least_ns = limit_ns > 0 && limit_ns < FENCE_NS ? limit_ns / 2 : FENCE_NS;
    uint64_t due_ns = limit_ns / FENCES > least_ns ? limit_ns / FENCES : least_ns;
    uint64_t cost = cost_of(what);
    lock_take(&fences->lock);
    struct dirty *dirty = find(fences, stream, ctx);
    struct dirty single = {.stream = stream, .ctx = ctx};
    struct dirty *work = dirty ? dirty : &single;
    if (!work->is_there)
        work->begin_ns = now;
    work->is_there = true;
    work->known_ns += cost ? cost : UNKNOWN_NS;
    work->last = what;
    work->last_ns = cost;
    if (!cost)
        work->unknown = what;
    /* No other thread can record on a stream that is this thread's alone. */
    bool is_due = !dirty || !cost || work->known_ns >= due_ns || stream == CU_STREAM_PER_THREAD;
    *ret_work = *work;
    if (is_due && dirty && !dirty->is_in_use)
        dirty->is_there = false;
    lock_give(&fences->lock);
    return is_due;
}

/* A place in the ring, if need be after waiting for one. Not for ever: the oldest work may wait for something that this very
 * thread does later. */
static struct fence *await_place(int slot)
{
    struct fences *fences = &fences_all[slot];
    struct fence *fence = take_place(fences);
    for (int64_t end = fence ? 0 : fences_now() + FULL_NS; !fence && fences_now() < end;) {
        (void)fences_look(slot);
        fence = take_place(fences);
        if (!fence)
            pause_briefly();
    }
    return fence;
}

/* Work for whose fence there is no place gets one later, if others can put it there at all. */
static void keep(struct fences *fences, const struct dirty *work)
{
    if (work->stream == CU_STREAM_PER_THREAD)
        return;
    lock_take(&fences->lock);
    struct dirty *dirty = find(fences, work->stream, work->ctx);
    if (dirty && !dirty->is_there)
        *dirty = *work;
    lock_give(&fences->lock);
}

void fences_note(int slot, void *stream, const void *what, uint64_t limit_ns, int64_t now)
{
    struct fences *fences = &fences_all[slot];
    const struct driver_calls *driver = driver_calls();
    struct dirty work;
    void *ctx = NULL;
    if (!driver->ctx_get_current || driver->ctx_get_current(&ctx) != CU_SUCCESS)
        return;
    if (!add(fences, stream, ctx, what, limit_ns, now, &work))
        return;
    struct fence *fence = await_place(slot);
    if (fence)
        record(fences, fence, &work, false);
    else
        keep(fences, &work);
}

void fences_begin(int slot, void *stream)
{
    struct fences *fences = &fences_all[slot];
    struct mark *begin = &fences->begin;
    const struct driver_calls *driver = driver_calls();
    void *ctx = NULL;
    if (!driver->ctx_get_current || driver->ctx_get_current(&ctx) != CU_SUCCESS)
        return;
    fences_take_turn(fences);
    int mode = fences_relax();
    begin->is_recorded =
        have_event(&begin->event, &begin->ctx, ctx) && driver->event_record(begin->event, stream) == CU_SUCCESS;
    fences_restore(mode);
    lock_take(&fences->lock);
    begin->tail = fences->tail;
    lock_give(&fences->lock);
    fences_give_turn(fences);
}

/* Takes a stream off the list, to record its fence; false when there is none. */
bool fences_take_dirty(struct fences *fences, void *stream, bool any, struct dirty *ret_work, struct dirty **ret_from)
{
    bool found = false;
    lock_take(&fences->lock);
    for (int i = 0; i < STREAMS && !found && !fences->is_held; i++) {
        struct dirty *dirty = &fences->dirty[i];
        found = dirty->is_there && !dirty->is_in_use && (any || dirty->stream == stream);
        if (found) {
            *ret_work = *dirty;
            *ret_from = dirty;
            dirty->is_in_use = true;
        }
    }
    lock_give(&fences->lock);
    return found;
}

/* Records the fence of what was taken off the list. False when there is no place for one now: it stays on the list. */
bool fences_finish_work(int slot, const struct dirty *work, struct dirty *from)
{
    struct fences *fences = &fences_all[slot];
    struct fence *fence = NULL;
    /* Nothing is put into a capture; such a stream has ended what it did before, or will be seen by its next launch. */
    int mode = fences_relax();
    bool is_capturing = tenant_is_capturing(work->stream);
    fences_restore(mode);
    if (!is_capturing && !(fence = take_place(fences))) {
        (void)fences_look(slot);
        fence = take_place(fences);
    }
    if (fence)
        record(fences, fence, work, true);
    bool is_done = fence || is_capturing;
    lock_take(&fences->lock);
    from->is_in_use = false;
    /* Launches that came in between are fenced by the next round. */
    if (is_done && from->known_ns == work->known_ns) {
        from->is_there = false;
    } else if (is_done) {
        from->known_ns -= work->known_ns;
        from->begin_ns = fences_now();
    }
    lock_give(&fences->lock);
    return is_done;
}
