/* SPDX-License-Identifier: Apache-2.0 */
/* `allowed` is the word under which this process may launch; `inside` counts the launches that have passed and not yet
 * reached the driver, so that whoever closes the gate knows when the last one has. */
#include "gpu/tenant/compute/gate.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "gpu/tenant/compute/control.h"
#include "gpu/tenant/compute/costs.h"
#include "gpu/tenant/compute/fences.h"
#include "gpu/tenant/compute/gate_internal.h"
#include "gpu/tenant/link/client.h"
#include "gpu/tenant/tenant.h"

struct gate gates[GPU_MAX];

/* The only GPU there is, plus one; 0 when there are several and each launch has to be looked at. */
static atomic_int only_slot;

int64_t gate_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void gate_watch(int slot)
{
    int count = 0;
    const struct driver_calls *driver = driver_calls();
    if (driver->device_get_count && driver->device_get_count(&count) == CU_SUCCESS && count == 1)
        atomic_store(&only_slot, slot + 1);
    control_start();
}

static void sleep_ns(int64_t ns)
{
    struct timespec pause = {ns / 1000000000, ns % 1000000000};
    nanosleep(&pause, NULL);
}

/* Waits until less than `limit_ns` of work lies in the driver's queues. Where kernels are longer than that the device has
 * nothing to do from the end of one until we launch the next, so that the end is awaited closely: asleep until shortly
 * before it is expected, then looking all the time, and asleep again when the expectation was wrong.
 *
 * Work that does not end long after it should have may wait for what this thread does next: a launch on another stream or
 * GPU, a word in memory. Then launches pass until the lease is over. */
static void wait_for_backlog(int slot, uint32_t word, uint64_t limit_ns)
{
    enum { SHORTLY_NS = 150000, LONGEST_NS = 2000000, PAUSE_NS = 20000, OVERDUE_NS = 1000000000 };
    struct gate *gate = &gates[slot];
    if (limit_ns == 0 || fences_left(slot) < limit_ns || atomic_load(&gate->unbounded_word) == word)
        return;
    int64_t begin = gate_now_ns();
    while (fences_look(slot) >= limit_ns) {
        int64_t now = gate_now_ns(), left = fences_next_end(slot) - now;
        int64_t progress = fences_last_end(slot);
        if (left < -OVERDUE_NS && now - (progress > begin ? progress : begin) > OVERDUE_NS) {
            atomic_store(&gate->unbounded_word, word);
            fences_doubt(slot);
            return;
        }
        if (left > SHORTLY_NS)
            sleep_ns(left - SHORTLY_NS < LONGEST_NS ? left - SHORTLY_NS : LONGEST_NS);
        else if (left < -2 * SHORTLY_NS)
            sleep_ns(PAUSE_NS);
        else
            sched_yield();
    }
}

/* A launch under a word that may be new, and says so if it is. False when a later lease has begun already: this thread was
 * stopped on its way through the gate. */
static bool begin_lease(struct gate *gate, uint32_t word, bool *ret_is_new)
{
    uint32_t before = atomic_load(&gate->active_word);
    do {
        if (before == word)
            return true;
        if (before != 0 && (int32_t)(before - word) > 0)
            return false;
    } while (!atomic_compare_exchange_weak(&gate->active_word, &before, word));
    atomic_store(&gate->launches, 0);
    *ret_is_new = true;
    return true;
}

/* Passes an open gate, if it is still the same; see gpu/protocol/pages.h. */
static bool pass_open(struct gate_pass *pass, int slot, const struct gpu_control_line *line, uint32_t word)
{
    struct gate *gate = &gates[slot];
    struct gpu_tenant_line *own = client_line(slot);
    atomic_fetch_add(&gate->inside, 1);
    bool is_first = atomic_load(&gate->allowed) != word;
    /* Not over the word of a later lease, which others may have begun while this thread waited. */
    if (is_first && own && atomic_load(&line->word) == word)
        atomic_store(&own->active_word, word);
    if (atomic_load(&line->word) == word && atomic_load(&gate->yielded_word) != word &&
        (!is_first || begin_lease(gate, word, &pass->begins_lease))) {
        if (is_first) {
            atomic_store(&gate->allowed, word);
            /* The gate may have been drained in between. */
            if (atomic_load(&gate->yielded_word) == word)
                atomic_store(&gate->allowed, GPU_GATE_NEVER);
        }
        return true;
    }
    uint32_t active = atomic_load(&gate->active_word);
    if (is_first && own && active != 0)
        atomic_store(&own->active_word, active);
    atomic_fetch_sub(&gate->inside, 1);
    return false;
}

/* The daemon wakes up who is next while the holder still drains: awake it is there at once when the gate opens. */
static void stay_awake(const struct gpu_control_line *line, uint32_t word)
{
    enum { AWAKE_NS = 3000000 };
    int64_t end = gate_now_ns() + AWAKE_NS;
    while (atomic_load(&line->word) == word && gate_now_ns() < end)
        sched_yield();
}

static void wait_for_turn(int slot, const struct gpu_control_line *line, uint32_t word)
{
    struct gate *gate = &gates[slot];
    struct gpu_tenant_line *own = client_line(slot);
    struct gpu_message answer, ping = {.type = GPU_PING};
    int64_t begin = gate_now_ns();

    atomic_fetch_add(&gate->waiting, 1);
    if (own)
        atomic_fetch_add(&own->waiting, 1);
    if (atomic_exchange(&gate->asked_word, word) != word) {
        struct gpu_message ask = {.type = GPU_ASK};
        ask.lease.gpu = (uint32_t)slot;
        ask.lease.word = word;
        client_tell_event(&ask);
    }
    futex_wait((const atomic_uint *)&line->word, word, 1000000000);
    if (gate_now_ns() - begin < 900000000)
        stay_awake(line, word);
    /* A daemon that does not answer any more is taken for gone, which frees the gate. */
    if (atomic_load(&line->word) == word && gate_now_ns() - begin > 900000000) {
        atomic_store(&gate->asked_word, GPU_GATE_NEVER);
        (void)client_ask(&ping, &answer);
    }
    atomic_fetch_sub(&gate->waiting, 1);
    if (own) {
        atomic_fetch_sub(&own->waiting, 1);
        atomic_fetch_add_explicit(&own->wait_ns, (uint64_t)(gate_now_ns() - begin), memory_order_relaxed);
    }
}

/* After a new connection: what was said to the daemon before is forgotten. */
static void look_for_new_daemon(struct gate *gate)
{
    uint32_t now = client_epoch();
    if (atomic_load(&gate->epoch) == now || atomic_exchange(&gate->epoch, now) == now)
        return;
    atomic_store(&gate->allowed, GPU_GATE_NEVER);
    atomic_store(&gate->asked_word, GPU_GATE_NEVER);
    atomic_store(&gate->yielded_word, GPU_GATE_NEVER);
    atomic_store(&gate->unbounded_word, GPU_GATE_NEVER);
    atomic_store(&gate->active_word, 0);
    atomic_store(&gate->drain_ns, 0);
}

static void enter_slowly(struct gate_pass *pass, int slot)
{
    if (tenant_is_capturing(pass->stream))
        return;
    for (;;) {
        /* The line changes when the daemon goes away or comes back. */
        const struct gpu_control_line *line = client_control(slot);
        if (!line)
            return;
        look_for_new_daemon(&gates[slot]);
        uint32_t word = atomic_load(&line->word);
        switch (gpu_gate_state(word)) {
        case GPU_GATE_FREE:
            atomic_store(&gates[slot].allowed, word);
            return;
        case GPU_GATE_OPEN:
            if (atomic_load(&gates[slot].yielded_word) == word)
                break;
            fences_share(slot, atomic_load_explicit(&line->is_shared, memory_order_relaxed) != 0);
            pass->limit_ns = atomic_load_explicit(&line->backlog_ns, memory_order_relaxed);
            wait_for_backlog(slot, word, pass->limit_ns);
            if (!pass_open(pass, slot, line, word))
                continue;
            pass->slot = slot;
            if (pass->begins_lease)
                fences_begin(slot, pass->stream);
            return;
        default:
            break;
        }
        wait_for_turn(slot, line, word);
    }
}

void gate_enter(struct gate_pass *pass, const void *what, void *stream)
{
    int slot = atomic_load_explicit(&only_slot, memory_order_relaxed) - 1;
    *pass = (struct gate_pass){.slot = -1, .stream = stream, .what = what};
    if (slot < 0 && (slot = tenant_current_slot(NULL)) < 0)
        return;
    const struct gpu_control_line *line = client_control(slot);
    if (!line)
        return;
    struct gpu_tenant_line *own = client_line(slot);
    if (own)
        atomic_store_explicit(&own->launches, atomic_load_explicit(&own->launches, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    uint32_t word = atomic_load_explicit(&line->word, memory_order_acquire);
    if (gpu_gate_state(word) == GPU_GATE_FREE &&
        word == atomic_load_explicit(&gates[slot].allowed, memory_order_relaxed))
        return;
    enter_slowly(pass, slot);
}

/* Counts what was launched in the time that it takes alone. What was never seen counts little: there may be much of it. */
static void count_work(int slot, const void *what)
{
    struct gpu_tenant_line *own = client_line(slot);
    uint64_t cost = cost_of(what);
    if (own)
        atomic_fetch_add_explicit(&own->work_ns, cost ? cost : COST_LEAST_NS, memory_order_relaxed);
}

void gate_leave(struct gate_pass *pass, cu_result result)
{
    if (pass->slot < 0)
        return;
    struct gate *gate = &gates[pass->slot];
    if (result == CU_SUCCESS) {
        int64_t now = gate_now_ns();
        /* The device has its first work now: what the driver needed to give it to a device at rest is not busy time. */
        if (atomic_fetch_add_explicit(&gate->launches, 1, memory_order_relaxed) == 0)
            atomic_store(&gate->first_ns, now);
        atomic_store_explicit(&gate->last_ns, now, memory_order_relaxed);
        count_work(pass->slot, pass->what);
        fences_note(pass->slot, pass->stream, pass->what, pass->limit_ns, now);
    }
    atomic_fetch_sub(&gate->inside, 1);
    /* Not before the launch: the device waits for that. */
    if (pass->begins_lease)
        control_wake();
}

void gate_begin_capture(void *stream)
{
    fences_await_looks();
    fences_finish_stream(stream);
}

void gate_leave_stream(void *stream)
{
    fences_finish_stream(stream);
}

void gate_leave_context(void *ctx)
{
    for (int slot = 0; slot < client_gpu_count(); slot++)
        fences_drop(slot, ctx);
}

void gate_hold(int slot)
{
    if (slot >= 0)
        fences_hold(slot);
}

void gate_go_on(int slot, const void *gone_ctx)
{
    if (slot >= 0)
        fences_go_on(slot, gone_ctx);
}

void gate_forget(void)
{
    memset(gates, 0, sizeof gates);
    fences_forget();
    control_forget();
    atomic_store(&only_slot, 0);
}
