/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/protocol/message.h"

/*
 * The pages that the daemon and its tenants share, so that what happens at every launch and at most allocations costs no
 * message. Each word is written by one side or changed by compare-and-swap; no lock is shared, so that a process may die
 * anywhere. The machine is little-endian, as every one with such GPUs is.
 *
 * The control page: one for each group, written by the daemon alone. Tenants can map it for reading only (it is sealed),
 * and may wait on its words: FUTEX_WAIT without the private flag.
 */
#define GPU_CONTROL_MAGIC UINT32_C(0x4754534d)  // "MSTG"

/*
 * The gate. Its word is (generation << 2 | state); every change makes a new generation.
 *
 * A tenant keeps a word of its own for each GPU, `allowed`: the word of the control page under which it may launch. The
 * hook of a launch compares the two (gpu_gate_passes()) and goes on when they are equal. Otherwise it takes the slow way:
 *
 *   1. load the word; when it is open, and is not one that this process has yielded: store it in `active_word` of the
 *      tenant's page, load the word of the gate again, and if it has not changed set `allowed` to it and launch; both
 *      the store and the load are sequentially consistent, so that the daemon sees a tenant that saw an open gate;
 *   2. otherwise send ASK with that word, once for each word, count up `waiting`, FUTEX_WAIT until the word changes, and
 *      begin again. One that is woken up while the word is still the same is next: it stays awake for a moment.
 *
 * DRAIN with a word, or a tenant's own wish to yield, means: set `allowed` to GPU_GATE_NEVER, wait until every launch
 * that had passed the gate has reached the driver and the last one has ended, and then send DRAINED or YIELD.
 *
 * While `backlog_ns` is not zero a tenant keeps no more than about so much unfinished work in the driver's queues (and at
 * least one launch), since that work delays the next holder; it is more while there is none. While `idle_ns` is not zero a tenant that has had nothing to
 * run for so long yields.
 *
 * A tenant that has lost its daemon points its gate at a line of its own whose state is free.
 */
enum gpu_gate_state {
    GPU_GATE_CLOSED = 0,
    GPU_GATE_OPEN = 1,
    GPU_GATE_FREE = 2,  // nothing is shaped here: launches pass, nobody asks, yields or drains
};

enum { GPU_GATE_STATE_MASK = 3, GPU_GATE_GENERATION = 4 };  // the least change of generation

/* No word is ever this. */
#define GPU_GATE_NEVER UINT32_C(3)

enum gpu_mode { GPU_MODE_TIME, GPU_MODE_FAIR, GPU_MODE_STRICT, GPU_MODE_COUNT_ };

struct gpu_control_line {
    _Atomic uint32_t word;
    _Atomic uint32_t mode;  // enum gpu_mode
    _Atomic uint64_t backlog_ns;
    _Atomic uint64_t idle_ns;
    _Atomic uint64_t request_bytes;
    _Atomic uint64_t limit_bytes;  // what the tenants see as the whole memory
    _Atomic uint64_t credit_max_bytes;
    _Atomic uint64_t trim_bytes;  // not zero: the group holds so much that others need, give back what is cached
    uint8_t uuid[16];             // as cuDeviceGetUuid() gives it
    _Atomic uint32_t is_shared;   // others run at the same time: what launches take now says little about them
    uint8_t reserved[52];
};

enum { GPU_PROCESSES_MAX = 512 };  // of one group

struct gpu_control_page {
    uint32_t magic;
    uint32_t version;
    uint32_t gpu_count;
    uint32_t reserved;
    uint64_t daemon_start_ns;
    uint8_t padding[104];
    struct gpu_control_line gpus[GPU_MAX];
    _Atomic uint64_t processes[GPU_PROCESSES_MAX];  // of the group: gpu_process_pids(); 0: none
};

/* A process as the node knows it, and as it knows itself in its own namespace. */
static inline uint64_t gpu_process_pids(uint32_t node_pid, uint32_t own_pid)
{
    return (uint64_t)node_pid << 32 | own_pid;
}

/* The tenant's page: one for each process, written by it; the daemon believes nothing in it but what can only hurt the
 * tenant itself. */
struct gpu_tenant_line {
    _Atomic uint64_t credit_bytes;  // granted and unused; both sides, by compare-and-swap
    _Atomic uint32_t active_word;   // the last word under which this process has launched
    _Atomic uint32_t waiting;       // threads at the gate
    _Atomic uint64_t launches;
    _Atomic uint64_t busy_ns;        // what the launches have taken, as far as it is known
    _Atomic uint64_t wait_ns;        // spent at the gate
    _Atomic uint64_t traffic_bytes;  // that copies and fills have moved
    _Atomic uint64_t pinned_bytes;   // of the host's memory
    _Atomic uint64_t work_ns;        // what the launches so far take when nobody else runs, as far as it is known
    _Atomic uint64_t held;           // threads that wait because the process is parked
    _Atomic uint64_t reserved[7];
};

struct gpu_tenant_page {
    struct gpu_tenant_line gpus[GPU_MAX];
};

_Static_assert(sizeof(struct gpu_control_line) == 128, "two cache lines");
_Static_assert(sizeof(struct gpu_control_page) == 128 * (GPU_MAX + 1) + 8 * GPU_PROCESSES_MAX,
               "a header, the lines and the processes");
_Static_assert(sizeof(struct gpu_tenant_line) == 128, "two cache lines");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "words are shared between processes");

/* At every launch: whether it may go on at once. */
static inline bool gpu_gate_passes(const struct gpu_control_line *line, const _Atomic uint32_t *allowed)
{
    return atomic_load_explicit(&line->word, memory_order_acquire) ==
           atomic_load_explicit(allowed, memory_order_relaxed);
}

static inline enum gpu_gate_state gpu_gate_state(uint32_t word)
{
    return (enum gpu_gate_state)(word & GPU_GATE_STATE_MASK);
}

/* Takes `bytes` of credit; false when there is not so much. */
static inline bool gpu_credit_take(struct gpu_tenant_line *line, uint64_t bytes)
{
    uint64_t credit = atomic_load(&line->credit_bytes);

    do {
        if (credit < bytes)
            return false;
    } while (!atomic_compare_exchange_weak(&line->credit_bytes, &credit, credit - bytes));
    return true;
}

static inline void gpu_credit_give(struct gpu_tenant_line *line, uint64_t bytes)
{
    atomic_fetch_add(&line->credit_bytes, bytes);
}
