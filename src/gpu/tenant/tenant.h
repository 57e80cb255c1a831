/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What all handlers share: whether we act at all, which GPU a call is about, and how memory is charged. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/tenant/driver.h"
#include "gpu/tenant/memory/ledger.h"
#include "gpu/tenant/table.h"

/* At the beginning of each hooked call: false when it has to go straight to the driver, because the driver itself calls
 * us from inside another call, or because there is nobody to account to. Notices a fork. Pairs with tenant_leave(). */
bool tenant_enter(void);
void tenant_leave(void);

/* The slot of a CUDA device, or of the current context's; -1 when it is none of the group's. */
int tenant_slot(cu_device device);
int tenant_current_slot(void **ret_ctx);

/* The slot of a place for memory; -1 when that is not on a GPU of the group. Managed memory without a place may come to
 * any of them: it counts where the current context is. */
int tenant_location_slot(const struct cu_location *location, int allocation_type);

/* The first CUDA device of a slot, or -1. */
cu_device tenant_device(int slot);

/* The stream that a call really means: a missing one is each thread's own in the variants for that, here named by the
 * row of such a variant. */
void *tenant_stream(void *real, enum hook per_thread, void *stream);

/* Before a capture begins, after one has ended, and whether any may be open in the process: most of the time none is, and then
 * no launch has to be asked about. One whose end was not seen stays open, which costs that question and nothing else. */
void tenant_begin_capture(void);
void tenant_end_capture(void);
bool tenant_may_capture(void);

/* Whether what is put on the stream now goes into a graph instead of running. */
bool tenant_is_capturing(void *stream);

/* Memory that a call is about to take. */
struct charge {
    int slot;         // -1: nothing is charged, the driver alone decides
    uint32_t others;  // a bit for each further slot
    uint64_t bytes;
    uint64_t owner;
};

/* As much as the driver really takes for an allocation of so many bytes. */
uint64_t charge_rounded(uint64_t bytes);

/* Takes `bytes` on the slot, or on the current context's GPU. False means: answer CU_OUT_OF_MEMORY and touch nothing.
 * When the account is short, memory that only lies in caches of this process is given back first. With 0 bytes, and on
 * GPUs that are none of ours, nothing is charged and the call goes on. */
bool charge_begin(struct charge *charge, int slot, uint64_t bytes);
bool charge_begin_current(struct charge *charge, uint64_t bytes);

/* The same for managed memory, whose pages may come to any GPU that this process can use: it is taken on all of them. */
bool charge_begin_managed(struct charge *charge, uint64_t bytes);

/* After the driver's answer: remembers the charge under `key`, or gives it back. */
void charge_settle(const struct charge *charge, cu_result result, struct table *table, uint64_t key);

/* Gives back what was remembered. */
void charge_release(const struct entry *entry);

/* Everything that this process holds, by kind. */
struct tenant_tables {
    struct table pointers;  // device pointer: plain, pitched, managed
    struct table arrays;
    struct table contexts;
    struct table primaries;      // device plus one: owner is its primary context
    struct table pool_pointers;  // device pointer: owner is the pool
    struct table pinned;         // memory of the host
    struct table greens;         // green context: owner is its device
};
extern struct tenant_tables tenant_tables;

/* After a pointer into a pool was given back. */
void pools_freed(const struct entry *entry);

/* A context is gone with all that was allocated in it. */
void contexts_drop(uint64_t ctx);

/* What is charged for pools, and for memory that the program has made by itself: what cannot be moved for it. */
uint64_t pools_bytes(void);
uint64_t vmm_bytes(void);

/* Each module forgets what the parent held, in a forked child. */
void vmm_forget(void);
void pools_forget(void);
void pinned_forget(void);
void graphs_forget(void);
void gate_forget(void);
void movable_forget(void);
void park_forget(void);

/* Brings the account up to what pools and graph memory really hold. True when something was given back. */
bool pools_settle(void);
bool graphs_settle(void);
/* The same after letting go of all that only lies in caches. */
bool pools_trim(int slot);
bool graphs_trim(int slot);
