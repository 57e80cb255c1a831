/* SPDX-License-Identifier: Apache-2.0 */
/* A slot has a ring of fences in the order in which they were recorded, and a short list of streams with launches behind
 * their last fence. The lock guards both and is never held while the driver is called: who records a fence takes its
 * place in the ring first, and whoever looks at the oldest fences is alone with them. */
#include "gpu/tenant/compute/fences.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "gpu/protocol/message.h"
#include "gpu/tenant/compute/costs.h"
#include "gpu/tenant/lock.h"
#include "gpu/tenant/tenant.h"

enum {
    RING = 64,
    STREAMS = 32,
    FENCE_NS = 500000,     // work between two fences, where little may be queued
    FENCES = 3,            // and where much may be, so many of them
    UNKNOWN_NS = 1000000,  // what a function is thought to take before it was seen
    FULL_NS = 1000000000,  // how long a launch waits for a place in a full ring
    PAUSE_NS = 20000,      // between two looks at it
};

enum fence_state { FENCE_FREE, FENCE_TAKEN, FENCE_RECORDED };

struct fence {
    void *event;
    void *ctx;
    void *stream;
    const void *unknown;  // the function whose cost this fence shows, if there is one
    const void *last;
    uint64_t last_ns;   // what it was thought to take when it was launched
    uint64_t known_ns;  // what the launches behind the previous fence were thought to take
    int64_t begin_ns;   // the first of them
    bool is_doubted;    // they wait for more than the device, and count no longer
    atomic_int state;
};

struct dirty {
    void *stream;
    void *ctx;
    const void *unknown;
    const void *last;
    uint64_t last_ns;
    uint64_t known_ns;
    int64_t begin_ns;
    bool is_in_use;  // somebody records its fence
    bool is_there;
};

/* An event in front of the first launch of a lease. */
struct mark {
    void *event;
    void *ctx;
    unsigned tail;  // the first fence behind it
    bool is_recorded;
};

static struct fences {
    struct mark begin;
    int64_t last_end_ns;
    _Atomic uint64_t fenced_ns;  // thought to be unfinished, behind recorded fences; changed with the lock
    struct dirty dirty[STREAMS];
    struct fence ring[RING];
    struct lock lock;
    unsigned head, tail;  // the oldest in the ring, and where the next goes
    bool is_held;         // nothing is recorded on the streams in the list
    atomic_int is_looked_at;
} all[GPU_MAX];

static int64_t now_ns(void)
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
static int relax(void)
{
    int mode = 2;
    if (!tenant_may_capture() || !driver_calls()->capture_mode)
        return -1;
    return driver_calls()->capture_mode(&mode) == CU_SUCCESS ? mode : -1;
}

static void restore(int mode)
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
    int mode = relax();
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
    restore(mode);
    lock_take(&fences->lock);
    if (is_recorded)
        fences->fenced_ns += fence->known_ns;
    else
        fence->known_ns = 0;
    atomic_store(&fence->state, is_recorded ? FENCE_RECORDED : FENCE_FREE);
    lock_give(&fences->lock);
}

/* Events are destroyed and looked at by one thread at a time. */
static void take_turn(struct fences *fences)
{
    while (atomic_exchange(&fences->is_looked_at, 1))
        sched_yield();
}

static void give_turn(struct fences *fences)
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
    uint64_t due_ns = limit_ns / FENCES > FENCE_NS ? limit_ns / FENCES : FENCE_NS;
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
    struct fences *fences = &all[slot];
    struct fence *fence = take_place(fences);
    for (int64_t end = fence ? 0 : now_ns() + FULL_NS; !fence && now_ns() < end;) {
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
    struct fences *fences = &all[slot];
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
    struct fences *fences = &all[slot];
    struct mark *begin = &fences->begin;
    const struct driver_calls *driver = driver_calls();
    void *ctx = NULL;
    if (!driver->ctx_get_current || driver->ctx_get_current(&ctx) != CU_SUCCESS)
        return;
    take_turn(fences);
    int mode = relax();
    begin->is_recorded =
        have_event(&begin->event, &begin->ctx, ctx) && driver->event_record(begin->event, stream) == CU_SUCCESS;
    restore(mode);
    lock_take(&fences->lock);
    begin->tail = fences->tail;
    lock_give(&fences->lock);
    give_turn(fences);
}

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
    int mode = relax();
    bool pushes = driver->ctx_push && driver->ctx_push(fence->ctx) == CU_SUCCESS;
    cu_result result = driver->event_query(fence->event);
    if (pushes)
        (void)driver->ctx_pop(&popped);
    restore(mode);
    return result != CU_NOT_READY;
}

uint64_t fences_left(int slot)
{
    return atomic_load_explicit(&all[slot].fenced_ns, memory_order_relaxed);
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
    int64_t now = now_ns();
    uint64_t took = measured(fences, fence_at(fences, 0), now);
    uint64_t counted_ns = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct fence *fence = fence_at(fences, i);
        lock_take(&fences->lock);
        bool is_recorded = atomic_load(&fence->state) == FENCE_RECORDED, is_doubted = fence->is_doubted;
        lock_give(&fences->lock);
        counted_ns += is_recorded && !is_doubted ? fence->known_ns : 0;
        if (is_recorded && known_ns > 0 && (!is_doubted || fence->unknown))
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
    struct fences *fences = &all[slot];
    if (!atomic_exchange(&fences->is_looked_at, 1)) {
        uint64_t known_ns;
        unsigned count = count_passed(fences, &known_ns);
        if (count > 0)
            pass(fences, count, known_ns);
        give_turn(fences);
    }
    return fences_left(slot);
}

void fences_await_looks(void)
{
    for (int slot = 0; slot < GPU_MAX; slot++) {
        take_turn(&all[slot]);
        give_turn(&all[slot]);
    }
}

/* Takes a stream off the list, to record its fence; false when there is none. */
static bool take_dirty(struct fences *fences, void *stream, bool any, struct dirty *ret_work, struct dirty **ret_from)
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
static bool finish(int slot, const struct dirty *work, struct dirty *from)
{
    struct fences *fences = &all[slot];
    struct fence *fence = NULL;
    /* Nothing is put into a capture; such a stream has ended what it did before, or will be seen by its next launch. */
    int mode = relax();
    bool is_capturing = tenant_is_capturing(work->stream);
    restore(mode);
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
        from->begin_ns = now_ns();
    }
    lock_give(&fences->lock);
    return is_done;
}

bool fences_are_passed(int slot)
{
    struct fences *fences = &all[slot];
    struct dirty work, *from;
    while (take_dirty(fences, NULL, true, &work, &from) && finish(slot, &work, from))
        ;
    (void)fences_look(slot);
    lock_take(&fences->lock);
    bool is_empty = fences->head == fences->tail;
    for (int i = 0; i < STREAMS; i++)
        is_empty = is_empty && !fences->dirty[i].is_there;
    lock_give(&fences->lock);
    return is_empty;
}

void fences_doubt(int slot)
{
    struct fences *fences = &all[slot];
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
    struct fences *fences = &all[slot];
    int64_t end = now_ns();
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
    lock_take(&all[slot].lock);
    int64_t end = all[slot].last_end_ns;
    lock_give(&all[slot].lock);
    return end;
}

/* The time between two events that have been passed, by the device's own clock; 0 when it cannot be told. */
static int64_t between(const struct mark *begin, const struct fence *end)
{
    const struct driver_calls *driver = driver_calls();
    float ms = 0;
    if (!driver->event_elapsed || end->ctx != begin->ctx || !end->event)
        return 0;
    int mode = relax();
    void *popped;
    bool pushes = driver->ctx_push && driver->ctx_push(end->ctx) == CU_SUCCESS;
    cu_result result = driver->event_elapsed(&ms, begin->event, end->event);
    if (pushes)
        (void)driver->ctx_pop(&popped);
    restore(mode);
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
    struct fences *fences = &all[slot];
    const struct fence *last[STREAMS];
    int64_t longest = 0;
    take_turn(fences);
    unsigned count = fences->begin.is_recorded ? last_fences(fences, last) : 0;
    for (unsigned i = 0; i < count; i++) {
        int64_t ns = between(&fences->begin, last[i]);
        longest = ns > longest ? ns : longest;
    }
    give_turn(fences);
    return longest;
}

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
        struct fences *fences = &all[slot];
        struct dirty work, *from;
        while (take_dirty(fences, stream, false, &work, &from) && finish(slot, &work, from))
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
    struct fences *fences = &all[slot];
    take_off(fences, false, NULL, ctx);
    take_turn(fences);
    let_go(fences, ctx, true);
    give_turn(fences);
}

void fences_hold(int slot)
{
    struct fences *fences = &all[slot];
    bool is_in_use = true;
    take_turn(fences);
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
    struct fences *fences = &all[slot];
    if (gone_ctx) {
        take_off(fences, false, NULL, gone_ctx);
        let_go(fences, gone_ctx, false);
    }
    lock_take(&fences->lock);
    fences->is_held = false;
    lock_give(&fences->lock);
    give_turn(fences);
}

void fences_forget(void)
{
    memset(all, 0, sizeof all);
}
