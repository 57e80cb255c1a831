/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/tenant/park/park.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu/tenant/compute/control.h"
#include "gpu/tenant/link/client.h"
#include "gpu/tenant/memory/movable.h"
#include "gpu/tenant/tenant.h"

enum { PAUSE_NS = 200000 };

/* The gate. */
static atomic_int is_possible;
static atomic_uint is_closed;
static atomic_int inside;         // calls that have passed the gate
static __thread bool is_counted;  // this thread is one of them
static _Atomic uint64_t held;     // threads that wait at the gate

/* Where this process stands. STOPPED and AWAY differ in what RESUME has to do. */
enum phase { OPEN, STOPPING, STOPPED, MOVING_OUT, AWAY, MOVING_IN };

static struct lock lock;  // guards all below, and changes of the gate
static enum phase phase;
static atomic_uint orders;  // counts them; the mover waits on it
static bool is_mover_started;
static uint32_t park_sequence;  // of the last PARK
static int pool_file = -1;      // of MOVE
static uint64_t pool_bytes;
static uint64_t back_bytes;  // of RESUME

bool park_is_possible(void)
{
    return atomic_load_explicit(&is_possible, memory_order_relaxed);
}

/* The daemon brings a group back when one of its calls waits. After a reconnection the page is another one, which is told at
 * the next turn of the loop. */
static void tell_held(uint64_t count)
{
    struct gpu_tenant_line *line = client_line(0);
    if (line)
        atomic_store(&line->held, count);
}

static void wait_while_closed(void)
{
    /* A process without a context has nobody yet who would hear that it may go on. */
    control_start();
    tell_held(atomic_fetch_add(&held, 1) + 1);
    futex_wait(&is_closed, 1, 1000000000);
    tell_held(atomic_fetch_sub(&held, 1) - 1);
}

bool park_enter(void)
{
    if (!park_is_possible())
        return false;
    for (;;) {
        atomic_fetch_add(&inside, 1);
        if (!atomic_load(&is_closed)) {
            is_counted = true;
            return true;
        }
        atomic_fetch_sub(&inside, 1);
        wait_while_closed();
    }
}

void park_leave(void)
{
    is_counted = false;
    atomic_fetch_sub(&inside, 1);
}

void park_wait(void)
{
    while (!is_counted && atomic_load(&is_closed))
        wait_while_closed();
}

/* With the times of a move; NULL where nothing has been moved. */
static void tell_move(enum gpu_message_type type, uint64_t bytes, const struct movable_times *times)
{
    struct gpu_message message = {.type = type, .park = {.bytes = bytes}};
    if (times) {
        message.park.host_us = times->host_us;
        message.park.copy_us = times->copy_us;
        message.park.clear_us = times->clear_us;
        message.park.map_us = times->map_us;
    }
    client_tell_event(&message);
}

static void tell(enum gpu_message_type type, uint64_t bytes)
{
    tell_move(type, bytes, NULL);
}

static void open_gate(void)
{
    atomic_store(&is_closed, 0);
    futex_wake(&is_closed);
}

static bool is_phase(enum phase wanted)
{
    lock_take(&lock);
    bool is_it = phase == wanted;
    lock_give(&lock);
    return is_it;
}

/* Closes the gate, unless the order was taken back. */
static bool close_gate(void)
{
    lock_take(&lock);
    bool is_wanted = phase == STOPPING;
    if (is_wanted)
        atomic_store(&is_closed, 1);
    lock_give(&lock);
    return is_wanted;
}

/* The other way around, when it was closed too early. */
static void reopen_gate(void)
{
    lock_take(&lock);
    if (phase == STOPPING)
        open_gate();
    lock_give(&lock);
}

static void pause_shortly(void)
{
    struct timespec pause = {0, PAUSE_NS};
    nanosleep(&pause, NULL);
}

/* Waits until no call is under way and no stream captures, and lets none begin. A capture that has begun has to end first:
 * its calls must not wait at the gate, and nobody may wait for the device meanwhile. False: the order was taken back. */
static bool stop_calls(void)
{
    for (;;) {
        while (tenant_may_capture()) {
            if (!is_phase(STOPPING))
                return false;
            pause_shortly();
        }
        if (!close_gate())
            return false;
        while (atomic_load(&inside) > 0) {
            if (!is_phase(STOPPING))
                return false;
            pause_shortly();
        }
        if (!tenant_may_capture())
            return true;
        reopen_gate();
    }
}

static void wait_for_context(const struct entry *ctx, void *unused)
{
    const struct driver_calls *driver = driver_calls();
    sync_stream_fn *synchronize = (sync_stream_fn *)driver_real(HOOK_cuCtxSynchronize);
    void *popped;
    (void)unused;
    if (!synchronize || !driver->ctx_push || driver->ctx_push((void *)(uintptr_t)ctx->key) != CU_SUCCESS)
        return;
    (void)synchronize(NULL);
    (void)driver->ctx_pop(&popped);
}

static void add_bytes(const struct entry *entry, void *sum)
{
    *(uint64_t *)sum += entry->bytes;
}

static struct gpu_message description(void)
{
    struct movable_sums sums = movable_sum();
    struct gpu_message message = {.type = GPU_STOPPED};
    lock_take(&lock);
    message.sequence = park_sequence;
    lock_give(&lock);
    message.park.bytes = sums.movable;
    message.park.exported_bytes = sums.exported;
    message.park.pool_bytes = pools_bytes();
    message.park.mapped_bytes = vmm_bytes();
    table_each(&tenant_tables.pointers, add_bytes, &message.park.driver_bytes);
    table_each(&tenant_tables.arrays, add_bytes, &message.park.array_bytes);
    return message;
}

static void stop(void)
{
    if (!stop_calls())
        return;
    table_each(&tenant_tables.contexts, wait_for_context, NULL);
    (void)pools_settle();
    struct gpu_message message = description();
    lock_take(&lock);
    bool is_wanted = phase == STOPPING;
    if (is_wanted)
        phase = STOPPED;
    lock_give(&lock);
    if (is_wanted)
        client_tell_event(&message);
}

static void move_out(void)
{
    lock_take(&lock);
    int file = pool_file;
    pool_file = -1;
    lock_give(&lock);
    struct movable_times times = {0};
    uint64_t moved = movable_move_out(file, pool_bytes, &times);
    lock_take(&lock);
    phase = moved > 0 ? AWAY : STOPPED;
    lock_give(&lock);
    tell_move(GPU_PARKED, moved, &times);
}

/* The program goes on before the host memory is given back, and the daemon hears of it afterwards: until then it counts. */
static void move_in(void)
{
    struct movable_times times = {0};
    uint64_t left = movable_move_in(back_bytes, &times);
    lock_take(&lock);
    phase = left > 0 ? AWAY : OPEN;
    if (left == 0)
        open_gate();
    lock_give(&lock);
    if (left == 0)
        movable_release_host(&times);
    tell_move(GPU_RESUMED, left, &times);
}

static void *move(void *unused)
{
    (void)unused;
    /* What the driver calls on its own from inside our calls has nothing to do with the gate. */
    if (!tenant_enter())
        return NULL;
    for (;;) {
        unsigned seen = atomic_load(&orders);
        lock_take(&lock);
        enum phase now = phase;
        lock_give(&lock);
        if (now == STOPPING)
            stop();
        else if (now == MOVING_OUT)
            move_out();
        else if (now == MOVING_IN)
            move_in();
        else
            futex_wait(&orders, seen, -1);
    }
}

/* With the lock held. Without a thread nothing can be moved: the daemon hears nothing, and takes the order back. */
static void order(enum phase next)
{
    pthread_t mover;
    if (!is_mover_started)
        is_mover_started = control_spawn(move, NULL, &mover);
    phase = next;
    atomic_fetch_add(&orders, 1);
    futex_wake(&orders);
}

static void hear_park(uint32_t sequence)
{
    lock_take(&lock);
    park_sequence = sequence;
    enum phase before = phase;
    if (before == OPEN)
        order(STOPPING);
    lock_give(&lock);
    if (before == STOPPED) {
        struct gpu_message message = description();
        client_tell_event(&message);
    } else if (before == AWAY) {
        tell(GPU_PARKED, movable_away());
    }
}

static void hear_move(uint64_t bytes, int file)
{
    lock_take(&lock);
    bool is_expected = phase == STOPPED && file >= 0;
    if (is_expected) {
        pool_file = file;
        pool_bytes = bytes;
        order(MOVING_OUT);
    }
    lock_give(&lock);
    if (is_expected)
        return;
    if (file >= 0)
        (void)close(file);
    tell(GPU_PARKED, movable_away());
}

static void hear_resume(uint64_t bytes)
{
    bool is_open = false;
    lock_take(&lock);
    switch (phase) {
    case AWAY:
        back_bytes = bytes;
        order(MOVING_IN);
        break;
    case MOVING_OUT:
    case MOVING_IN:
        break;  // the daemon hears how that ends, and decides then
    default:
        phase = OPEN;
        open_gate();
        is_open = true;
        break;
    }
    lock_give(&lock);
    if (!is_open)
        return;
    /* What was reserved for memory that is not away. */
    ledger_take_over(0, bytes);
    ledger_release(0, LEDGER_PLAIN, bytes);
    tell(GPU_RESUMED, 0);
}

void park_hear(const struct gpu_message *message, int file)
{
    if (message->type == GPU_PARK)
        hear_park(message->sequence);
    else if (message->type == GPU_RESUME)
        hear_resume(message->park.bytes);
    if (message->type == GPU_MOVE)
        hear_move(message->park.bytes, file);
    else if (file >= 0)
        (void)close(file);
}

/* In the middle of a move the mover tells it at the end. One that is through may have told it to nobody. */
void park_report(void)
{
    lock_take(&lock);
    enum phase now = phase;
    lock_give(&lock);
    if (now == STOPPED || now == AWAY)
        tell(GPU_PARKED, now == AWAY ? movable_away() : 0);
    else if (now == OPEN && park_is_possible())
        tell(GPU_RESUMED, 0);
}

void park_welcomed(uint32_t flags, bool is_new)
{
    if (flags & GPU_WELCOME_PARKABLE)
        atomic_store(&is_possible, 1);
    if (!is_new || !(flags & GPU_WELCOME_PARKED))
        return;
    lock_take(&lock);
    if (phase == OPEN) {
        phase = STOPPED;
        atomic_store(&is_closed, 1);
    }
    lock_give(&lock);
}

void park_forget(void)
{
    memset(&lock, 0, sizeof lock);
    phase = OPEN;
    is_mover_started = false;
    if (pool_file >= 0)
        (void)close(pool_file);
    pool_file = -1;
    atomic_store(&inside, 0);
    atomic_store(&is_closed, 0);
    atomic_store(&is_possible, 0);
    atomic_store(&held, 0);
    is_counted = false;
}
