/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/tenant/tenant.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/tenant/link/client.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { DEVICES = 64 };

/* How deep this thread is in hooked calls. */
static __thread int depth;

/* A word that reads zero in a forked child and before the first call, so that every call can look. Kernels that cannot
 * wipe memory at a fork leave `mark` NULL, and the process id is compared. */
static atomic_int *_Atomic mark;
static atomic_int known_pid;

struct tenant_tables tenant_tables;

/* Slots of CUDA devices, plus two: 0 is not known yet, 1 is none. */
static atomic_int slots[DEVICES];

static atomic_int open_captures;

static void forget(void)
{
    table_forget(&tenant_tables.pointers);
    table_forget(&tenant_tables.arrays);
    table_forget(&tenant_tables.contexts);
    table_forget(&tenant_tables.primaries);
    table_forget(&tenant_tables.pool_pointers);
    table_forget(&tenant_tables.greens);
    table_forget(&tenant_tables.pinned);
    vmm_forget();
    pools_forget();
    pinned_forget();
    graphs_forget();
    gate_forget();
    movable_forget();
    park_forget();
    ledger_forget();
    for (int i = 0; i < DEVICES; i++)
        atomic_store(&slots[i], 0);
    atomic_store(&open_captures, 0);
}

static void set_mark(void)
{
    atomic_int *page = atomic_load(&mark);
    if (!page) {
        long size = sysconf(_SC_PAGESIZE);
        void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return;
        if (madvise(memory, (size_t)size, MADV_WIPEONFORK) != 0) {
            munmap(memory, (size_t)size);
            return;
        }
        page = memory;
        atomic_store(&mark, page);
    }
    atomic_store(page, 1);
}

/* The first call of this process, or the first after a fork. A forked child begins with one thread, so whoever held our
 * locks in the parent is not here to release them; of the threads that it may have by now, one cleans up. */
static void begin(void)
{
    int saved = errno;
    int pid = getpid();
    int known = atomic_load(&known_pid);
    while (known != pid) {
        if (known != -pid && atomic_compare_exchange_strong(&known_pid, &known, -pid)) {
            if (known != 0)
                forget();
            set_mark();
            atomic_store(&known_pid, pid);
        }
        known = atomic_load(&known_pid);
    }
    if (atomic_load(&mark))
        atomic_store(atomic_load(&mark), 1);
    errno = saved;
}

static void look_for_fork(void)
{
    atomic_int *page = atomic_load_explicit(&mark, memory_order_relaxed);
    bool is_known = page ? atomic_load_explicit(page, memory_order_relaxed) != 0
                         : atomic_load_explicit(&known_pid, memory_order_relaxed) == getpid();
    if (__builtin_expect(!is_known, 0))
        begin();
}

bool tenant_enter(void)
{
    if (depth > 0)
        return false;
    look_for_fork();
    if (!ledger_is_managed())
        return false;
    depth++;
    return true;
}

void tenant_leave(void)
{
    depth--;
}

int tenant_slot(cu_device device)
{
    if (device < 0 || device >= DEVICES)
        return -1;
    int known = atomic_load_explicit(&slots[device], memory_order_relaxed);
    if (known == 0) {
        const struct driver_calls *driver = driver_calls();
        struct cu_uuid uuid;
        if (!driver->device_get_uuid || driver->device_get_uuid(&uuid, device) != CU_SUCCESS)
            return -1;
        int slot = ledger_slot_of(uuid.bytes);
        if (slot == LEDGER_UNKNOWN)
            return 0;  // where everything is refused as long as there is no daemon
        known = slot + 2;
        atomic_store_explicit(&slots[device], known, memory_order_relaxed);
    }
    return known - 2;
}

cu_device tenant_device(int slot)
{
    const struct driver_calls *driver = driver_calls();
    int count = 0;
    if (!driver->device_get_count || driver->device_get_count(&count) != CU_SUCCESS)
        return -1;
    for (cu_device device = 0; device < count; device++) {
        if (tenant_slot(device) == slot)
            return device;
    }
    return -1;
}

int tenant_current_slot(void **ret_ctx)
{
    const struct driver_calls *driver = driver_calls();
    cu_device device;
    void *ctx = NULL;
    if (!driver->ctx_get_device || driver->ctx_get_device(&device) != CU_SUCCESS)
        return -1;
    if (ret_ctx) {
        if (!driver->ctx_get_current || driver->ctx_get_current(&ctx) != CU_SUCCESS)
            return -1;
        /* One that nobody was seen to make stands for the primary one: memory outlives a green context. */
        struct entry known;
        if (!table_get(&tenant_tables.contexts, (uint64_t)(uintptr_t)ctx, &known) &&
            table_get(&tenant_tables.primaries, (uint64_t)device + 1, &known))
            ctx = (void *)(uintptr_t)known.owner;
        *ret_ctx = ctx;
    }
    return tenant_slot(device);
}

int tenant_location_slot(const struct cu_location *location, int allocation_type)
{
    switch (location->type) {
    case CU_LOCATION_DEVICE:
        return tenant_slot(location->id);
    case CU_LOCATION_DEVICE_DOMAIN:
        return tenant_slot((cu_device)((unsigned)location->id & 0xff));
    case CU_LOCATION_NONE:
        return allocation_type == CU_ALLOCATION_MANAGED ? tenant_current_slot(NULL) : -1;
    default:
        return -1;
    }
}

void *tenant_stream(void *real, enum hook per_thread, void *stream)
{
    return !stream && real == driver_real(per_thread) ? CU_STREAM_PER_THREAD : stream;
}

void tenant_begin_capture(void)
{
    atomic_fetch_add(&open_captures, 1);
}

void tenant_end_capture(void)
{
    atomic_fetch_sub(&open_captures, 1);
}

bool tenant_may_capture(void)
{
    return atomic_load_explicit(&open_captures, memory_order_relaxed) > 0;
}

/* A capture elsewhere in the process may forbid to look; then this stream is left alone as well. */
bool tenant_is_capturing(void *stream)
{
    const struct driver_calls *driver = driver_calls();
    int status = CU_CAPTURE_NONE;
    if (!tenant_may_capture())
        return false;
    return driver->is_capturing && (driver->is_capturing(stream, &status) != CU_SUCCESS || status != CU_CAPTURE_NONE);
}

/* The driver packs small allocations into pages of 2 MiB and gives large ones pages of their own. */
uint64_t charge_rounded(uint64_t bytes)
{
    const uint64_t page = UINT64_C(2) << 20;
    uint64_t unit = bytes >= page / 2 ? page : 512;
    return bytes > UINT64_MAX - unit ? UINT64_MAX : (bytes + unit - 1) / unit * unit;
}

bool charge_begin(struct charge *charge, int slot, uint64_t bytes)
{
    *charge = (struct charge){.slot = bytes > 0 ? slot : -1, .bytes = charge_rounded(bytes)};
    if (charge->slot < 0 || ledger_reserve(slot, LEDGER_PLAIN, charge->bytes, NULL))
        return true;
    bool has_gained = pools_settle();
    has_gained |= graphs_settle();
    if (has_gained && ledger_reserve(slot, LEDGER_PLAIN, charge->bytes, NULL))
        return true;
    has_gained = pools_trim(slot);
    has_gained |= graphs_trim(slot);
    return has_gained && ledger_reserve(slot, LEDGER_PLAIN, charge->bytes, NULL);
}

bool charge_begin_current(struct charge *charge, uint64_t bytes)
{
    void *ctx = NULL;
    bool may_go_on = charge_begin(charge, bytes > 0 ? tenant_current_slot(&ctx) : -1, bytes);
    charge->owner = (uint64_t)(uintptr_t)ctx;
    return may_go_on;
}

static void release_all(int slot, uint32_t others, uint64_t bytes)
{
    ledger_release(slot, LEDGER_PLAIN, bytes);
    for (int other = 0; other < GPU_MAX; other++) {
        if (others & UINT32_C(1) << other)
            ledger_release(other, LEDGER_PLAIN, bytes);
    }
}

bool charge_begin_managed(struct charge *charge, uint64_t bytes)
{
    if (!charge_begin_current(charge, bytes))
        return false;
    for (int slot = 0; charge->slot >= 0 && slot < client_gpu_count(); slot++) {
        struct charge other;
        if (slot == charge->slot || tenant_device(slot) < 0)
            continue;
        if (!charge_begin(&other, slot, bytes)) {
            release_all(charge->slot, charge->others, charge->bytes);
            return false;
        }
        charge->others |= UINT32_C(1) << slot;
    }
    return true;
}

void charge_release(const struct entry *entry)
{
    release_all(entry->slot, entry->extra, entry->bytes);
}

void charge_settle(const struct charge *charge, cu_result result, struct table *table, uint64_t key)
{
    if (charge->slot < 0)
        return;
    if (result != CU_SUCCESS) {
        release_all(charge->slot, charge->others, charge->bytes);
        return;
    }
    struct entry entry = {
        .key = key, .bytes = charge->bytes, .owner = charge->owner, .slot = charge->slot, .extra = charge->others};
    /* What cannot be remembered stays charged until the process ends. */
    (void)table_put(table, &entry);
}
