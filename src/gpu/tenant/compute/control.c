/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/tenant/compute/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpu/tenant/compute/fences.h"
#include "gpu/tenant/compute/gate_internal.h"
#include "gpu/tenant/link/client.h"
#include "gpu/tenant/link/descriptor.h"
#include "gpu/tenant/memory/frameworks.h"
#include "gpu/tenant/park/park.h"
#include "gpu/tenant/tenant.h"

enum {
    WATCH_NS = 150000,    // how often a lease in use is looked at
    DRAIN_NS = 30000,     // and one that is being given back,
    NEAR_NS = 150000,     // except near its expected end, which others wait for: there all the time,
    HURRY_NS = 3000000,   // if it ends soon at all
    AWAY_NS = 200000000,  // how often a missing daemon is looked for
    KERNEL_SIGNALS = 8,   // bytes of the kernel's signal set
};

static atomic_int is_started;
static struct lock pipe_lock;
static struct descriptor wake_reader = DESCRIPTOR_NONE;
static struct descriptor wake_writer = DESCRIPTOR_NONE;

/* What the daemon is told of a lease that has ended: how long it was in use, by the device's clock, or by ours from its first
 * launch to the end of the last. */
static struct gpu_message report_of(int slot, enum gpu_message_type type, uint32_t word)
{
    struct gate *gate = &gates[slot];
    struct gpu_message message = {.type = type};
    message.lease.gpu = (uint32_t)slot;
    message.lease.word = word;
    message.lease.launches = atomic_load(&gate->launches);
    if (message.lease.launches > 0) {
        int64_t busy = fences_busy(slot), first = atomic_load(&gate->first_ns), end = fences_last_end(slot);
        message.lease.busy_ns = (uint64_t)(busy > 0 ? busy : (end > first ? end : gate_now_ns()) - first);
    }
    message.lease.flags = type == GPU_DRAINED && atomic_load(&gate->waiting) > 0 ? GPU_DRAINED_HAS_MORE : 0;
    return message;
}

/* Launches stop; what has passed the gate goes on to its end. */
static void begin_drain(int slot, uint32_t word, bool is_for_daemon)
{
    struct gate *gate = &gates[slot];
    atomic_store(&gate->yielded_word, word);
    atomic_store(&gate->allowed, GPU_GATE_NEVER);
    atomic_store(&gate->drain_word, word);
    atomic_store(&gate->drains_for_daemon, is_for_daemon);
    if (atomic_load(&gate->drain_ns) == 0)
        atomic_store(&gate->drain_ns, gate_now_ns());
}

static bool is_draining(int slot)
{
    return atomic_load(&gates[slot].drain_ns) != 0;
}

/* The lease is over here before the daemon is told: as soon as it knows it may open the gate, and the next lease begins in
 * another thread. One that has begun already, because somebody asked while this was being given back, takes its place. */
static void look_at_drain(int slot)
{
    struct gate *gate = &gates[slot];
    uint32_t word = atomic_load(&gate->drain_word);
    bool is_replaced = atomic_load(&gate->active_word) != word;
    if (!is_replaced && (atomic_load(&gate->inside) > 0 || !fences_are_passed(slot)))
        return;
    bool is_for_daemon = atomic_load(&gate->drains_for_daemon);
    struct gpu_message report = report_of(slot, is_for_daemon ? GPU_DRAINED : GPU_YIELD, word);
    struct gpu_tenant_line *own = client_line(slot);
    atomic_store(&gate->drain_ns, 0);
    if (!atomic_compare_exchange_strong(&gate->active_word, &word, 0))
        return;
    if (own)
        atomic_fetch_add_explicit(&own->busy_ns, report.lease.busy_ns, memory_order_relaxed);
    client_tell_event(&report);
}

/* A lease with nothing left to run goes back before its time: when nothing was launched for as long as the daemon says,
 * counted from the end of what ran last. */
static void look_at_lease(int slot)
{
    struct gate *gate = &gates[slot];
    const struct gpu_control_line *line = client_control(slot);
    uint32_t word = atomic_load(&gate->active_word);
    int64_t idle_ns = line ? (int64_t)atomic_load_explicit(&line->idle_ns, memory_order_relaxed) : 0;
    int64_t now = gate_now_ns();
    int64_t quiet_since = atomic_load_explicit(&gate->last_ns, memory_order_relaxed);
    (void)fences_look(slot);
    if (idle_ns <= 0 || now - quiet_since < idle_ns || atomic_load(&gate->inside) > 0 || !fences_are_passed(slot))
        return;
    int64_t end = fences_last_end(slot);
    if (now - end >= idle_ns)
        begin_drain(slot, word, false);
}

/* How long to sleep before the next look at what drains. */
static int64_t pause_in_drain(int slot)
{
    int64_t now = gate_now_ns(), left = fences_next_end(slot) - now;
    bool is_near = left < NEAR_NS && left > -NEAR_NS;
    return is_near && now - atomic_load(&gates[slot].drain_ns) < HURRY_NS ? 0 : DRAIN_NS;
}

/* Looks at every GPU with a lease; returns how long the thread may sleep, or -1 for until something happens. */
static int64_t look_at_all(void)
{
    int64_t sleep_ns = -1;
    for (int slot = 0; slot < client_gpu_count(); slot++) {
        if (atomic_load(&gates[slot].active_word) == 0)
            continue;
        if (!is_draining(slot))
            look_at_lease(slot);
        if (is_draining(slot))
            look_at_drain(slot);
        int64_t wish = is_draining(slot) ? pause_in_drain(slot) : WATCH_NS;
        if (atomic_load(&gates[slot].active_word) != 0 && (sleep_ns < 0 || wish < sleep_ns))
            sleep_ns = wish;
    }
    return sleep_ns;
}

/* A lease that has been given back already, or was never used. */
static void report_unused(int slot, uint32_t word)
{
    struct gpu_message message = {.type = GPU_DRAINED};
    message.lease.gpu = (uint32_t)slot;
    message.lease.word = word;
    message.lease.flags = atomic_load(&gates[slot].waiting) > 0 ? GPU_DRAINED_HAS_MORE : 0;
    client_tell_event(&message);
}

/* A launch that has seen the gate open and has not yet said so here does so at once, unless its thread was stopped there. */
static void await_beginner(const struct gate *gate, uint32_t word)
{
    enum { BEGIN_NS = 1000000 };
    int64_t end = gate_now_ns() + BEGIN_NS;
    while (atomic_load(&gate->active_word) != word && atomic_load(&gate->inside) > 0 && gate_now_ns() < end)
        sched_yield();
}

static void drain(int slot, uint32_t word)
{
    await_beginner(&gates[slot], word);
    if (atomic_load(&gates[slot].active_word) == word) {
        begin_drain(slot, word, true);
        return;
    }
    report_unused(slot, word);
}

/* `file` came with the message, or is -1. */
static void hear(const struct gpu_message *message, int file)
{
    switch (message->type) {
    case GPU_DRAIN:
        drain((int)message->lease.gpu, message->lease.word);
        break;
    case GPU_TRIM:
        (void)pools_trim((int)message->memory.gpu);
        (void)graphs_trim((int)message->memory.gpu);
        frameworks_trim();
        break;
    case GPU_PARK:
    case GPU_MOVE:
    case GPU_RESUME:
        park_hear(message, file);
        return;
    default:
        break;
    }
    if (file >= 0)
        (void)close(file);
}

static bool open_pipe(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    lock_take(&pipe_lock);
    descriptor_drop(&wake_reader);
    descriptor_drop(&wake_writer);
    descriptor_put(&wake_reader, ends[0]);
    descriptor_put(&wake_writer, ends[1]);
    lock_give(&pipe_lock);
    return true;
}

/* Empties the pipe. One that the program has closed is made anew: the number of a closed descriptor would keep this thread
 * awake, and one that the program uses for something else as well. */
static void take_wakes(void)
{
    char bytes[64];
    lock_take(&pipe_lock);
    bool is_open = descriptor_is_ours(&wake_reader) && descriptor_is_ours(&wake_writer);
    while (is_open && read(wake_reader.fd, bytes, sizeof bytes) > 0)
        ;
    lock_give(&pipe_lock);
    if (!is_open)
        (void)open_pipe();
}

static void *control(void *unused)
{
    (void)unused;
    /* Of this thread alone: the end of a lease is not to be noticed late because timers are rounded. */
    (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    for (unsigned epoch = client_epoch();;) {
        int64_t sleep_ns = look_at_all();
        int fd = client_events();
        struct pollfd waits[2] = {{.fd = wake_reader.fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        if (fd < 0 && (sleep_ns < 0 || sleep_ns > AWAY_NS))
            sleep_ns = AWAY_NS;
        struct timespec timeout = {sleep_ns / 1000000000, sleep_ns % 1000000000};
        (void)ppoll(waits, 2, sleep_ns < 0 ? NULL : &timeout, NULL);
        take_wakes();
        struct gpu_message message;
        int file;
        while (client_read_event(&message, &file) > 0)
            hear(&message, file);
        if (fd < 0)
            (void)client_is_ready();
        if (client_epoch() != epoch) {
            epoch = client_epoch();
            park_report();
        }
    }
    return NULL;
}

void control_wake(void)
{
    int saved = errno;
    lock_take(&pipe_lock);
    if (descriptor_is_ours(&wake_writer))
        (void)!write(wake_writer.fd, "", 1);
    lock_give(&pipe_lock);
    errno = saved;
}

/* The program's signals are not for our thread to handle. */
bool control_spawn(void *(*run)(void *), void *arg, pthread_t *ret_thread)
{
    typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create_fn *create = (create_fn *)driver_find_common("pthread_create");
    uint64_t every = UINT64_MAX, before = 0;
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every, &before, KERNEL_SIGNALS);
    bool is_started_now = create && create(ret_thread, NULL, run, arg) == 0;
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGNALS);
    return is_started_now;
}

void control_join(pthread_t thread)
{
    typedef int join_fn(pthread_t, void **);
    join_fn *join = (join_fn *)driver_find_common("pthread_join");
    if (join)
        (void)join(thread, NULL);
}

void control_start(void)
{
    int saved = errno;
    pthread_t thread;
    /* What a process is short of now it may have when its next context comes. */
    if (!atomic_exchange(&is_started, 1) && !(open_pipe() && control_spawn(control, NULL, &thread)))
        atomic_store(&is_started, 0);
    errno = saved;
}

void control_forget(void)
{
    memset(&pipe_lock, 0, sizeof pipe_lock);
    descriptor_drop(&wake_reader);
    descriptor_drop(&wake_writer);
    atomic_store(&is_started, 0);
}
