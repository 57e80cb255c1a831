/* SPDX-License-Identifier: Apache-2.0 */
/* Moving blocks between the GPU and a file in the host's memory. Only the thread that parks comes here, while the program
 * makes no calls: nothing changes meanwhile. */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpu/tenant/memory/copier.h"
#include "gpu/tenant/memory/movable_internal.h"

struct away {
    struct entry block;
    uint64_t at;     // in the file
    bool is_mapped;  // it has memory on the GPU
};

struct gone {
    uint8_t *host;  // the file; NULL: nothing is away
    uint64_t host_bytes;
    struct away *list;
    size_t count, room;
    size_t mapped;  // bytes of the array
};

static struct gone gone;
static _Atomic uint64_t away_bytes;

uint64_t movable_away(void)
{
    return atomic_load(&away_bytes);
}

/* Forgotten before it is unmapped: a child that is forked meanwhile must not unmap what another thread has mapped there. */
static void release_host(void)
{
    struct gone past = gone;
    memset(&gone, 0, sizeof gone);
    atomic_store(&away_bytes, 0);
    if (past.host)
        (void)munmap(past.host, past.host_bytes);
    if (past.list)
        (void)munmap(past.list, past.mapped);
}

/* The child has the parent's mappings, but none of the memory behind its addresses. */
void movable_forget_away(void)
{
    release_host();
    copier_forget();
}

/* Adds the time since `*since`, which is now afterwards. */
static void add_time(uint32_t *us, struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *us += (uint32_t)((now.tv_sec - since->tv_sec) * 1000000 + (now.tv_nsec - since->tv_nsec) / 1000);
    *since = now;
}

static struct timespec begin_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now;
}

static uint64_t first_context(void)
{
    return gone.count > 0 ? gone.list[0].block.owner : 0;
}

static void note_block(const struct entry *block, void *context)
{
    uint64_t *at = context;
    if (movable_is_fixed(block) || gone.count == gone.room || block->bytes > gone.host_bytes - *at)
        return;
    gone.list[gone.count++] = (struct away){.block = *block, .at = *at, .is_mapped = true};
    *at += block->bytes;
}

/* Lists what is to go, with a place in the file for each. */
static bool prepare(int file, uint64_t bytes)
{
    uint64_t at = 0;
    size_t count = table_count(movable_blocks());
    void *host = bytes > 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    (void)close(file);
    if (host == MAP_FAILED)
        return false;
    gone.host = host;
    gone.host_bytes = bytes;
    gone.mapped = (count + 1) * sizeof *gone.list;
    void *list = mmap(NULL, gone.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (list == MAP_FAILED)
        return false;
    gone.list = list;
    gone.room = count;
    table_each(movable_blocks(), note_block, &at);
    return gone.count > 0 && copier_open(first_context(), at);
}

static struct copier_span span_of(size_t number)
{
    const struct away *one = &gone.list[number];
    return (struct copier_span){one->block.owner, one->block.key, gone.host + one->at, one->block.bytes};
}

static cu_result wait_for_fills(void)
{
    sync_stream_fn *synchronize = (sync_stream_fn *)driver_real(HOOK_cuStreamSynchronize);
    return synchronize ? synchronize(CU_STREAM_PER_THREAD) : CU_NOT_SUPPORTED;
}

/* Nobody who gets this memory next finds anything in it. */
static cu_result clear(struct away *one)
{
    set1_4_fn *fill = (set1_4_fn *)driver_real(HOOK_cuMemsetD8Async);
    void *stream = CU_STREAM_PER_THREAD;
    if (!one->is_mapped)
        return CU_SUCCESS;
    return fill ? fill(one->block.key, 0, one->block.bytes, (uint64_t)(uintptr_t)stream) : CU_NOT_SUPPORTED;
}

/* Calls `act` with the context of each block current, and waits for what it has begun. */
static cu_result for_each(cu_result (*act)(struct away *one))
{
    const struct driver_calls *driver = driver_calls();
    cu_result result = CU_SUCCESS;
    for (size_t i = 0; i < gone.count && result == CU_SUCCESS;) {
        uint64_t ctx = gone.list[i].block.owner;
        void *popped;
        result = driver->ctx_push((void *)(uintptr_t)ctx);
        if (result != CU_SUCCESS)
            return result;
        for (; i < gone.count && gone.list[i].block.owner == ctx && result == CU_SUCCESS; i++)
            result = act(&gone.list[i]);
        cu_result waited = wait_for_fills();
        result = result == CU_SUCCESS ? waited : result;
        (void)driver->ctx_pop(&popped);
    }
    return result;
}

static cu_result map(struct away *one)
{
    cu_device device;
    if (one->is_mapped)
        return CU_SUCCESS;
    cu_result result = driver_calls()->ctx_get_device(&device);
    if (result == CU_SUCCESS)
        result = movable_map(&one->block, device);
    one->is_mapped = result == CU_SUCCESS;
    return result;
}

/* Takes the memory of all blocks off the GPU that the driver lets go of. */
static void unmap_all(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < gone.count; i++) {
        struct away *one = &gone.list[i];
        if (one->is_mapped && movable_unmap(&one->block) == CU_SUCCESS) {
            one->is_mapped = false;
            ledger_release(one->block.slot, LEDGER_PLAIN, one->block.bytes);
        }
        sum += one->is_mapped ? 0 : one->block.bytes;
    }
    atomic_store(&away_bytes, sum);
}

/* Until everything lies in the file and on the GPU nothing has happened. Where clearing fails it is all brought back. */
uint64_t movable_move_out(int file, uint64_t bytes, struct movable_times *ret_times)
{
    struct timespec since = begin_time();
    bool is_out = prepare(file, bytes);
    add_time(&ret_times->host_us, &since);
    is_out = is_out && copier_run(span_of, gone.count, true) == CU_SUCCESS;
    add_time(&ret_times->copy_us, &since);
    if (is_out && for_each(clear) != CU_SUCCESS)
        is_out = copier_run(span_of, gone.count, false) != CU_SUCCESS;
    add_time(&ret_times->clear_us, &since);
    if (!is_out) {
        copier_close(first_context());
        release_host();
        return 0;
    }
    unmap_all();
    add_time(&ret_times->map_us, &since);
    return movable_away();
}

/* What has come back in part goes again. The copies in the file are whole. */
static void undo_move_in(int slot)
{
    (void)for_each(clear);
    /* What was taken over for blocks that have got no memory. */
    for (size_t i = 0; i < gone.count; i++) {
        if (!gone.list[i].is_mapped)
            ledger_release(slot, LEDGER_PLAIN, gone.list[i].block.bytes);
    }
    unmap_all();
}

/* All or nothing: a try that fails leaves everything in the file, where it still is. */
uint64_t movable_move_in(uint64_t bytes, struct movable_times *ret_times)
{
    struct timespec since = begin_time();
    int slot = gone.count > 0 ? gone.list[0].block.slot : 0;
    uint64_t away = movable_away();
    ledger_take_over(slot, bytes);
    if (bytes > away)
        ledger_release(slot, LEDGER_PLAIN, bytes - away);
    if (!gone.host)
        return 0;
    if (bytes < away) {
        ledger_release(slot, LEDGER_PLAIN, bytes);
        return away;
    }
    bool is_in = for_each(map) == CU_SUCCESS;
    add_time(&ret_times->map_us, &since);
    is_in = is_in && copier_run(span_of, gone.count, false) == CU_SUCCESS;
    add_time(&ret_times->copy_us, &since);
    if (!is_in) {
        undo_move_in(slot);
        add_time(&ret_times->clear_us, &since);
        return movable_away() > 0 ? movable_away() : gone.host_bytes;
    }
    copier_close(first_context());
    add_time(&ret_times->host_us, &since);
    return 0;
}

void movable_release_host(struct movable_times *ret_times)
{
    struct timespec since = begin_time();
    release_host();
    add_time(&ret_times->host_us, &since);
}
