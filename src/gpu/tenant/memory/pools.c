/* SPDX-License-Identifier: Apache-2.0 */
/* Memory from pools, in the order of a stream. What counts is what a pool has reserved from the device, not what was
 * asked of it: freed memory stays in the pool, and asking may or may not make it grow. So the growth is guessed and
 * taken from the account before, and put right by what the driver says after. Where it grew beyond the limit the
 * allocation is undone. */
#include "gpu/tenant/compute/graphs.h"
#include "gpu/tenant/memory/movable.h"
#include "gpu/tenant/tenant.h"

#include <stdatomic.h>
#include <string.h>

/* A pool whose handle is gone while allocations from it live on. */
enum { IS_DESTROYED = 1u << 31 };

/* Guards the charges in `pools` and `live`. */
static struct lock lock;
static struct table pools;  // handle: bytes as charged, extra counts live allocations
static atomic_int is_dirty;

void pools_forget(void)
{
    memset(&lock, 0, sizeof lock);
    table_forget(&pools);
    atomic_store(&is_dirty, 0);
}

static bool read_pool(void *pool, int attribute, uint64_t *ret_bytes)
{
    const struct driver_calls *driver = driver_calls();
    return driver->pool_get && driver->pool_get(pool, attribute, ret_bytes) == CU_SUCCESS;
}

static void remember(void *pool, int slot)
{
    struct entry entry;
    lock_take(&lock);
    if (!table_get(&pools, (uint64_t)(uintptr_t)pool, &entry)) {
        entry = (struct entry){.key = (uint64_t)(uintptr_t)pool, .slot = slot};
        (void)table_put(&pools, &entry);
    }
    lock_give(&lock);
}

/* Sets what is charged for a pool; returns by how much more that is than before. */
static int64_t set_charge(void *pool, uint64_t reserved)
{
    struct entry entry;
    int64_t difference = 0;
    lock_take(&lock);
    if (table_get(&pools, (uint64_t)(uintptr_t)pool, &entry)) {
        difference = (int64_t)(reserved - entry.bytes);
        entry.bytes = reserved;
        (void)table_put(&pools, &entry);
    }
    lock_give(&lock);
    return difference;
}

static void count_live(void *pool, int by)
{
    struct entry entry;
    bool is_over = false;
    lock_take(&lock);
    if (table_take(&pools, (uint64_t)(uintptr_t)pool, &entry)) {
        entry.extra += (uint32_t)by;
        is_over = entry.extra == IS_DESTROYED;
        if (!is_over)
            (void)table_put(&pools, &entry);
    }
    lock_give(&lock);
    if (is_over)
        ledger_release(entry.slot, LEDGER_PLAIN, entry.bytes);
}

static bool settle_pool(void *pool, int slot)
{
    uint64_t reserved;
    if (!read_pool(pool, CU_POOL_RESERVED_CURRENT, &reserved))
        return false;
    int64_t difference = set_charge(pool, reserved);
    if (difference > 0)
        (void)ledger_force(slot, (uint64_t)difference);
    else if (difference < 0)
        ledger_release(slot, LEDGER_PLAIN, (uint64_t)-difference);
    return difference < 0;
}

struct sweep {
    int slot;  // -1: all
    bool trims;
    bool has_gained;
};

static void sweep_pool(const struct entry *entry, void *context)
{
    struct sweep *sweep = context;
    void *pool = (void *)(uintptr_t)entry->key;
    if ((sweep->slot >= 0 && entry->slot != sweep->slot) || entry->extra & IS_DESTROYED)
        return;
    if (sweep->trims && driver_calls()->pool_trim)
        (void)driver_calls()->pool_trim(pool, 0);
    sweep->has_gained |= settle_pool(pool, entry->slot);
}

bool pools_settle(void)
{
    struct sweep sweep = {.slot = -1};
    table_each(&pools, sweep_pool, &sweep);
    return sweep.has_gained;
}

bool pools_trim(int slot)
{
    struct sweep sweep = {.slot = slot, .trims = true};
    table_each(&pools, sweep_pool, &sweep);
    return sweep.has_gained;
}

static void add_pool(const struct entry *pool, void *context)
{
    *(uint64_t *)context += pool->bytes;
}

uint64_t pools_bytes(void)
{
    uint64_t sum = 0;
    table_each(&pools, add_pool, &sum);
    return sum;
}

void pools_freed(const struct entry *entry)
{
    atomic_store_explicit(&is_dirty, 1, memory_order_relaxed);
    count_live((void *)(uintptr_t)entry->owner, -1);
}

/* Memory leaves a pool when the device is waited for. */
static void settle_after_sync(void)
{
    if (atomic_load_explicit(&is_dirty, memory_order_relaxed) && atomic_exchange(&is_dirty, 0))
        (void)pools_settle();
}

int on_sync_stream(sync_stream_fn *real, void *stream)
{
    cu_result result = real(stream);
    settle_after_sync();
    return result;
}

/* How much the pool would have to grow for this allocation, if what is free in it can be used. */
static uint64_t expected_growth(void *pool, uint64_t bytes)
{
    uint64_t reserved = 0, used = 0;
    if (!read_pool(pool, CU_POOL_RESERVED_CURRENT, &reserved) || !read_pool(pool, CU_POOL_USED_CURRENT, &used))
        return bytes;
    uint64_t room = reserved > used ? reserved - used : 0;
    return room >= bytes ? 0 : bytes - room;
}

/* After a successful allocation: false when the pool has grown beyond what the account allows. */
static bool pay(void *pool, int slot, uint64_t reserved_before)
{
    uint64_t reserved;
    if (!read_pool(pool, CU_POOL_RESERVED_CURRENT, &reserved))
        return true;
    int64_t difference = set_charge(pool, reserved) - (int64_t)reserved_before;
    if (difference < 0)
        ledger_release(slot, LEDGER_PLAIN, (uint64_t)-difference);
    /* What is not paid is owed until the pool has shrunk again: others may look at the pool meanwhile, and give it back. */
    return difference <= 0 || ledger_force(slot, (uint64_t)difference) == (uint64_t)difference;
}

/* The allocation itself, in either of its two forms. */
struct request {
    pool_alloc_fn *from_current;
    pool_alloc_from_fn *from_pool;
    void *pool;
    void *stream;         // as the program gave it
    void *actual_stream;  // with what a missing one stands for
};

static cu_result call(const struct request *request, cu_address *ret_address, size_t bytes)
{
    if (request->from_current)
        return request->from_current(ret_address, bytes, request->stream);
    return request->from_pool ? request->from_pool(ret_address, bytes, request->pool, request->stream) : CU_NOT_FOUND;
}

static void undo(void *pool, int slot, cu_address address, void *stream)
{
    const struct driver_calls *driver = driver_calls();
    if (driver->pool_free)
        (void)driver->pool_free(address, stream);
    if (driver->pool_trim)
        (void)driver->pool_trim(pool, 0);
    (void)settle_pool(pool, slot);
}

static cu_result allocate(const struct request *request, void *pool, int slot, cu_address *ret_address, size_t bytes)
{
    struct charge charge;
    if (!charge_begin(&charge, slot, expected_growth(pool, bytes)))
        return CU_OUT_OF_MEMORY;
    uint64_t reserved_before = charge.slot < 0 ? 0 : charge.bytes;
    cu_address address = *ret_address;
    cu_result result = call(request, &address, bytes);
    if (result != CU_SUCCESS) {
        if (reserved_before > 0)
            ledger_release(slot, LEDGER_PLAIN, reserved_before);
        (void)settle_pool(pool, slot);
        return result;
    }
    if (!pay(pool, slot, reserved_before)) {
        undo(pool, slot, address, request->actual_stream);
        return CU_OUT_OF_MEMORY;
    }
    struct entry entry = {.key = address, .bytes = bytes, .owner = (uint64_t)(uintptr_t)pool, .slot = slot};
    (void)table_put(&tenant_tables.pool_pointers, &entry);
    count_live(pool, +1);
    *ret_address = address;
    return result;
}

/* The device whose current pool serves the stream. */
static cu_device device_of(void *stream)
{
    const struct driver_calls *driver = driver_calls();
    cu_device device;
    bool is_object = stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
    if (is_object && driver->stream_device && driver->stream_device(stream, &device) == CU_SUCCESS)
        return device;
    return driver->ctx_get_device && driver->ctx_get_device(&device) == CU_SUCCESS ? device : -1;
}

int on_pool_alloc(pool_alloc_fn *real, cu_address *ret_address, size_t bytes, void *stream)
{
    const struct driver_calls *driver = driver_calls();
    struct request request = {
        .from_current = real,
        .stream = stream,
        .actual_stream = tenant_stream((void *)real, HOOK_cuMemAllocAsync_ptsz, stream),
    };
    if (!ret_address || bytes == 0)
        return real(ret_address, bytes, stream);
    if (tenant_is_capturing(request.actual_stream)) {
        graphs_note_memory();
        return real(ret_address, bytes, stream);
    }
    cu_device device = device_of(request.actual_stream);
    int slot = tenant_slot(device);
    void *pool = NULL;
    if (slot < 0 || !driver->current_pool || driver->current_pool(&pool, device) != CU_SUCCESS)
        return real(ret_address, bytes, stream);
    remember(pool, slot);
    return allocate(&request, pool, slot, ret_address, bytes);
}

/* A pool that the program did not make itself: a device's default one, or one that another process shares with us, which
 * is charged over there. */
static int slot_of_foreign(void *pool)
{
    const struct driver_calls *driver = driver_calls();
    int count = 0;
    if (!driver->default_pool || !driver->device_get_count || driver->device_get_count(&count) != CU_SUCCESS)
        return -1;
    for (cu_device device = 0; device < count; device++) {
        void *its_pool = NULL;
        struct cu_location place = {.type = CU_LOCATION_DEVICE, .id = device};
        if (driver->default_pool(&its_pool, device) == CU_SUCCESS && its_pool == pool)
            return tenant_slot(device);
        if (driver->default_pool_at &&
            driver->default_pool_at(&its_pool, &place, CU_ALLOCATION_MANAGED) == CU_SUCCESS && its_pool == pool)
            return tenant_slot(device);
    }
    void *anywhere = NULL;
    struct cu_location no_place = {.type = CU_LOCATION_NONE};
    if (driver->default_pool_at && driver->default_pool_at(&anywhere, &no_place, CU_ALLOCATION_MANAGED) == CU_SUCCESS &&
        anywhere == pool)
        return tenant_current_slot(NULL);
    return -1;
}

int on_pool_alloc_from(pool_alloc_from_fn *real, cu_address *ret_address, size_t bytes, void *pool, void *stream)
{
    struct request request = {
        .from_pool = real,
        .pool = pool,
        .stream = stream,
        .actual_stream = tenant_stream((void *)real, HOOK_cuMemAllocFromPoolAsync_ptsz, stream),
    };
    if (!ret_address || !pool || bytes == 0)
        return real(ret_address, bytes, pool, stream);
    if (tenant_is_capturing(request.actual_stream)) {
        graphs_note_memory();
        return real(ret_address, bytes, pool, stream);
    }
    struct entry known;
    if (!table_get(&pools, (uint64_t)(uintptr_t)pool, &known)) {
        known.slot = slot_of_foreign(pool);
        if (known.slot < 0)
            return real(ret_address, bytes, pool, stream);
        remember(pool, known.slot);
    }
    return allocate(&request, pool, known.slot, ret_address, bytes);
}

int on_pool_free(pool_free_fn *real, cu_address address, void *stream)
{
    struct entry entry;
    cu_result freed;
    if (!tenant_may_capture() && movable_free(address, &freed))
        return freed;
    bool is_pooled = table_take(&tenant_tables.pool_pointers, address, &entry);
    bool is_plain = !is_pooled && table_take(&tenant_tables.pointers, address, &entry);
    cu_result result = real(address, stream);
    if (result != CU_SUCCESS && is_pooled)
        (void)table_put(&tenant_tables.pool_pointers, &entry);
    else if (result != CU_SUCCESS && is_plain)
        (void)table_put(&tenant_tables.pointers, &entry);
    else if (is_pooled)
        pools_freed(&entry);
    else if (is_plain)
        charge_release(&entry);
    return result;
}

/* The driver could be told to make no pool larger than the limit, but not to let it grow when the limit is raised. */
int on_pool_create(pool_create_fn *real, void **ret_pool, const struct cu_pool_props *props)
{
    int slot = ret_pool && props ? tenant_location_slot(&props->location, props->allocation_type) : -1;
    cu_result result = real(ret_pool, props);
    if (result == CU_SUCCESS && slot >= 0)
        remember(*ret_pool, slot);
    return result;
}

/* Memory that is in use outlives its pool; what was charged for it goes when the last allocation does. */
int on_pool_destroy(pool_destroy_fn *real, void *pool)
{
    struct entry entry;
    if (table_get(&pools, (uint64_t)(uintptr_t)pool, &entry))
        (void)settle_pool(pool, entry.slot);
    cu_result result = real(pool);
    if (result == CU_SUCCESS)
        count_live(pool, (int)IS_DESTROYED);
    return result;
}

int on_pool_trim(pool_trim_fn *real, void *pool, size_t keep)
{
    struct entry entry;
    cu_result result = real(pool, keep);
    if (result == CU_SUCCESS && table_get(&pools, (uint64_t)(uintptr_t)pool, &entry))
        (void)settle_pool(pool, entry.slot);
    return result;
}
