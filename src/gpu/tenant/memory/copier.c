/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread has two buffers: while the device fills or empties one, the thread works on the other. All copies are put on
 * the stream that every context has, since a GPU that is full may have no memory for another one; a copy's end is told by an
 * event, or else by the end of everything on the stream. */
#include "gpu/tenant/memory/copier.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/tenant/compute/control.h"
#include "gpu/tenant/lock.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PINNED_PORTABLE = 1 };
enum { WORKERS_MAX = 16, LANES = 2 };
enum { PIECE = 2 << 20 };  // as large as the largest page that the host may have there

static struct {
    uint8_t *memory;  // NULL: none
    uint64_t bytes;
    bool is_pinned;
    unsigned workers;  // for which there are buffers
} ring;

static struct {
    struct lock lock;
    copier_span_fn *span_of;
    size_t next, count;  // spans
    uint64_t done;       // bytes of the next one that are taken
    bool is_out;
    cu_result result;  // the first error
} job;

/* A buffer, and the piece that it holds; bytes is 0 while there is none. */
struct lane {
    uint8_t *buffer;
    void *event;  // NULL: the driver had none
    struct copier_span piece;
};

struct worker {
    struct lane lanes[LANES];
    uint64_t ctx;  // which is current; 0: none
};

static unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static bool make_current(uint64_t ctx)
{
    const struct driver_calls *driver = driver_calls();
    return driver->ctx_push && driver->ctx_pop && driver->ctx_push((void *)(uintptr_t)ctx) == CU_SUCCESS;
}

static void let_go_of_current(void)
{
    void *popped;
    (void)driver_calls()->ctx_pop(&popped);
}

bool copier_open(uint64_t ctx, uint64_t bytes)
{
    pinned_alloc_fn *pin = (pinned_alloc_fn *)driver_real(HOOK_cuMemHostAlloc);
    uint64_t pieces = (bytes + PIECE - 1) / PIECE, most = processors();
    void *memory = NULL;

    most = most > WORKERS_MAX ? WORKERS_MAX : most;
    ring.workers = (unsigned)(pieces < most ? pieces : most);
    ring.bytes = (uint64_t)ring.workers * LANES * PIECE;
    if (ring.workers == 0)
        return false;
    if (pin && make_current(ctx)) {
        ring.is_pinned = pin(&memory, ring.bytes, PINNED_PORTABLE) == CU_SUCCESS && memory;
        let_go_of_current();
    }
    if (!ring.is_pinned)
        memory = mmap(NULL, ring.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ring.memory = memory == MAP_FAILED ? NULL : memory;
    return ring.memory;
}

/* What has gone through the buffers is the program's own, but need not lie about. */
void copier_close(uint64_t ctx)
{
    pinned_end_fn *unpin = (pinned_end_fn *)driver_real(HOOK_cuMemFreeHost);
    if (!ring.memory)
        return;
    if (!ring.is_pinned) {
        (void)munmap(ring.memory, ring.bytes);
    } else if (unpin && make_current(ctx)) {
        (void)unpin(ring.memory);
        let_go_of_current();
    }
    memset(&ring, 0, sizeof ring);
}

void copier_forget(void)
{
    memset(&ring, 0, sizeof ring);
    memset(&job, 0, sizeof job);
}

static void note_result(cu_result result)
{
    lock_take(&job.lock);
    if (job.result == CU_SUCCESS)
        job.result = result;
    lock_give(&job.lock);
}

/* The next piece of the job; false when nothing is left, or something has failed. */
static bool take_piece(struct copier_span *ret_piece)
{
    lock_take(&job.lock);
    bool is_there = job.result == CU_SUCCESS && job.next < job.count;
    if (is_there) {
        struct copier_span span = job.span_of(job.next);
        uint64_t left = span.bytes - job.done, bytes = left < PIECE ? left : PIECE;
        *ret_piece = (struct copier_span){span.ctx, span.device + job.done, span.host + job.done, bytes};
        job.done += bytes;
        if (job.done == span.bytes) {
            job.next++;
            job.done = 0;
        }
    }
    lock_give(&job.lock);
    return is_there;
}

static cu_result await(const struct lane *lane)
{
    sync_stream_fn *on_event = (sync_stream_fn *)driver_real(HOOK_cuEventSynchronize);
    sync_stream_fn *on_stream = (sync_stream_fn *)driver_real(HOOK_cuStreamSynchronize);
    if (lane->event && on_event)
        return on_event(lane->event);
    return on_stream ? on_stream(CU_STREAM_LEGACY) : CU_NOT_SUPPORTED;
}

/* Starts the device's copy of the lane's piece. */
static void begin(struct lane *lane)
{
    copy4_fn *out = (copy4_fn *)driver_real(HOOK_cuMemcpyDtoHAsync_v2);
    copy4_fn *in = (copy4_fn *)driver_real(HOOK_cuMemcpyHtoDAsync_v2);
    const struct copier_span *piece = &lane->piece;
    void *shared = CU_STREAM_LEGACY;
    uint64_t buffer = (uint64_t)(uintptr_t)lane->buffer, stream = (uint64_t)(uintptr_t)shared;
    cu_result result = CU_NOT_SUPPORTED;

    if (!job.is_out)
        memcpy(lane->buffer, piece->host, piece->bytes);
    if (job.is_out && out)
        result = out(buffer, piece->device, piece->bytes, stream);
    else if (!job.is_out && in)
        result = in(piece->device, buffer, piece->bytes, stream);
    if (result == CU_SUCCESS && lane->event)
        result = driver_calls()->event_record(lane->event, CU_STREAM_LEGACY);
    if (result == CU_SUCCESS)
        return;
    /* A copy that was begun, and whose end is not told, is waited for with all others. */
    note_result(result);
    sync_stream_fn *on_stream = (sync_stream_fn *)driver_real(HOOK_cuStreamSynchronize);
    if (on_stream)
        (void)on_stream(CU_STREAM_LEGACY);
    lane->piece.bytes = 0;
}

/* Waits for the device's copy. Pages that this process has not looked at yet are mapped all at once, which is quicker than
 * one by one. */
static void finish(struct lane *lane)
{
    const struct copier_span *piece = &lane->piece;
    if (piece->bytes == 0)
        return;
    if (job.is_out)
        (void)madvise(piece->host, piece->bytes, MADV_POPULATE_WRITE);
    cu_result result = await(lane);
    if (result != CU_SUCCESS)
        note_result(result);
    else if (job.is_out)
        memcpy(piece->host, lane->buffer, piece->bytes);
    lane->piece.bytes = 0;
}

static void leave_context(struct worker *worker)
{
    const struct driver_calls *driver = driver_calls();
    for (int i = 0; i < LANES; i++) {
        finish(&worker->lanes[i]);
        if (worker->lanes[i].event && driver->event_destroy)
            (void)driver->event_destroy(worker->lanes[i].event);
        worker->lanes[i].event = NULL;
    }
    if (worker->ctx)
        let_go_of_current();
    worker->ctx = 0;
}

static bool enter_context(struct worker *worker, uint64_t ctx)
{
    const struct driver_calls *driver = driver_calls();
    if (worker->ctx == ctx)
        return true;
    leave_context(worker);
    if (!make_current(ctx)) {
        note_result(CU_INVALID_CONTEXT);
        return false;
    }
    worker->ctx = ctx;
    for (int i = 0; i < LANES; i++) {
        if (!driver->event_create || !driver->event_record ||
            driver->event_create(&worker->lanes[i].event, CU_EVENT_DISABLE_TIMING) != CU_SUCCESS)
            worker->lanes[i].event = NULL;
    }
    return true;
}

/* `arg` is the first of the worker's buffers. */
static void *work(void *arg)
{
    struct worker worker = {.ctx = 0};
    struct copier_span piece;
    /* As in every thread that calls the driver for us: what it calls in turn is not the program's. False in the thread that
     * has said so already. */
    bool is_entered = tenant_enter();

    for (int i = 0; i < LANES; i++)
        worker.lanes[i].buffer = (uint8_t *)arg + (uint64_t)i * PIECE;
    for (unsigned turn = 0; take_piece(&piece) && enter_context(&worker, piece.ctx); turn++) {
        struct lane *lane = &worker.lanes[turn % LANES];
        finish(lane);
        lane->piece = piece;
        begin(lane);
    }
    leave_context(&worker);
    if (is_entered)
        tenant_leave();
    return NULL;
}

/* This thread is one of the workers: without any other, the job is done all the same. */
cu_result copier_run(copier_span_fn *span_of, size_t count, bool is_out)
{
    pthread_t threads[WORKERS_MAX];
    unsigned started = 0;

    job.span_of = span_of;
    job.next = 0;
    job.count = count;
    job.done = 0;
    job.is_out = is_out;
    job.result = CU_SUCCESS;
    while (started + 1 < ring.workers) {
        uint8_t *buffers = ring.memory + (uint64_t)(started + 1) * LANES * PIECE;
        if (!control_spawn(work, buffers, &threads[started]))
            break;
        started++;
    }
    (void)work(ring.memory);
    for (unsigned i = 0; i < started; i++)
        control_join(threads[i]);
    return job.result;
}
