/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts cost memory that no allocation shows. The daemon knows how much from what it has seen, takes it from the
 * account beforehand, and corrects it by what NVML shows later. When a context dies, so does all that was allocated in
 * it, whether or not the program has freed it. */
#include "gpu/tenant/compute/gate.h"
#include "gpu/tenant/memory/movable.h"
#include "gpu/tenant/park/park.h"
#include "gpu/tenant/tenant.h"

struct footprint {
    int slot;
    uint64_t bytes;
};

static bool reserve(struct footprint *footprint, cu_device device)
{
    *footprint = (struct footprint){.slot = tenant_slot(device)};
    park_wait();
    return footprint->slot < 0 || ledger_reserve(footprint->slot, LEDGER_CONTEXT, 0, &footprint->bytes);
}

static void settle(const struct footprint *footprint, cu_result result, void *const *ret_ctx)
{
    if (footprint->slot < 0)
        return;
    if (result != CU_SUCCESS || !ret_ctx) {
        ledger_release(footprint->slot, LEDGER_CONTEXT, footprint->bytes);
        return;
    }
    struct entry entry = {.key = (uint64_t)(uintptr_t)*ret_ctx, .bytes = footprint->bytes, .slot = footprint->slot};
    /* Two threads may both have found that there is no primary context yet: one charge stands. */
    if (!table_add(&tenant_tables.contexts, &entry))
        ledger_release(footprint->slot, LEDGER_CONTEXT, footprint->bytes);
    gate_watch(footprint->slot);
}

static void drop_from(struct table *table, uint64_t ctx)
{
    struct entry entry;
    while (table_take_owned(table, ctx, &entry))
        charge_release(&entry);
}

void contexts_drop(uint64_t ctx)
{
    struct entry entry;
    drop_from(&tenant_tables.pointers, ctx);
    drop_from(&tenant_tables.arrays, ctx);
    movable_drop(ctx);
    if (table_take(&tenant_tables.contexts, ctx, &entry))
        ledger_release(entry.slot, LEDGER_CONTEXT, entry.bytes);
}

int on_ctx_create(ctx_create_fn *real, void **ret_ctx, unsigned flags, cu_device device)
{
    struct footprint footprint;
    if (!reserve(&footprint, device))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_ctx, flags, device);
    settle(&footprint, result, ret_ctx);
    return result;
}

int on_ctx_create_v3(ctx_create_v3_fn *real, void **ret_ctx, void *affinity, int count, unsigned flags,
                     cu_device device)
{
    struct footprint footprint;
    if (!reserve(&footprint, device))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_ctx, affinity, count, flags, device);
    settle(&footprint, result, ret_ctx);
    return result;
}

int on_ctx_create_v4(ctx_create_v4_fn *real, void **ret_ctx, void *params, unsigned flags, cu_device device)
{
    struct footprint footprint;
    if (!reserve(&footprint, device))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_ctx, params, flags, device);
    settle(&footprint, result, ret_ctx);
    return result;
}

int on_ctx_destroy(ctx_destroy_fn *real, void *ctx)
{
    gate_leave_context(ctx);
    cu_result result = real(ctx);
    if (result == CU_SUCCESS)
        contexts_drop((uint64_t)(uintptr_t)ctx);
    return result;
}

/* The oldest way to share a context: it dies with the last of those who are attached. `extra` counts them beyond the
 * first. */
int on_ctx_attach(ctx_attach_fn *real, void **ret_ctx, unsigned flags)
{
    cu_result result = real(ret_ctx, flags);
    struct entry entry;
    if (result == CU_SUCCESS && ret_ctx && table_take(&tenant_tables.contexts, (uint64_t)(uintptr_t)*ret_ctx, &entry)) {
        entry.extra++;
        (void)table_put(&tenant_tables.contexts, &entry);
    }
    return result;
}

int on_ctx_detach(ctx_detach_fn *real, void *ctx)
{
    struct entry entry = {0};
    (void)table_get(&tenant_tables.contexts, (uint64_t)(uintptr_t)ctx, &entry);
    if (entry.extra == 0)
        gate_leave_context(ctx);
    cu_result result = real(ctx);
    if (result == CU_SUCCESS && entry.extra == 0) {
        contexts_drop((uint64_t)(uintptr_t)ctx);
    } else if (result == CU_SUCCESS) {
        entry.extra--;
        (void)table_put(&tenant_tables.contexts, &entry);
    }
    return result;
}

static bool primary_is_active(cu_device device)
{
    const struct driver_calls *driver = driver_calls();
    unsigned flags;
    int is_active = 0;
    return driver->primary_get_state && driver->primary_get_state(device, &flags, &is_active) == CU_SUCCESS &&
           is_active;
}

/* The primary context of a device stands now, made by a call that had this reserved for it. */
static void settle_primary(const struct footprint *footprint, cu_device device, void *ctx)
{
    if (footprint->slot < 0)
        return;
    settle(footprint, CU_SUCCESS, &ctx);
    struct entry primary = {.key = (uint64_t)device + 1, .owner = (uint64_t)(uintptr_t)ctx};
    (void)table_put(&tenant_tables.primaries, &primary);
}

/* Only the first of the holders makes the primary context. */
int on_primary_retain(primary_retain_fn *real, void **ret_ctx, cu_device device)
{
    struct footprint footprint;
    if (primary_is_active(device))
        return real(ret_ctx, device);
    if (!reserve(&footprint, device))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_ctx, device);
    if (result == CU_SUCCESS && ret_ctx)
        settle_primary(&footprint, device, *ret_ctx);
    else
        settle(&footprint, result, NULL);
    return result;
}

/* After one holder of the primary context has let go: it may have been the last. Returns the context that is gone. */
static void *drop_primary(cu_device device)
{
    struct entry primary;
    if (!driver_calls()->primary_get_state || primary_is_active(device) ||
        !table_take(&tenant_tables.primaries, (uint64_t)device + 1, &primary))
        return NULL;
    contexts_drop(primary.owner);
    return (void *)(uintptr_t)primary.owner;
}

int on_primary_release(primary_release_fn *real, cu_device device)
{
    int slot = tenant_slot(device);
    gate_hold(slot);
    cu_result result = real(device);
    gate_go_on(slot, result == CU_SUCCESS ? drop_primary(device) : NULL);
    return result;
}

int on_primary_reset(primary_reset_fn *real, cu_device device)
{
    return on_primary_release(real, device);
}

/* A green context is a part of the device's multiprocessors for a device's primary context, which it holds. What is
 * allocated in it belongs to the primary one. */
int on_green_create(green_create_fn *real, void **ret_green, void *resources, cu_device device, unsigned flags)
{
    primary_retain_fn *retain = (primary_retain_fn *)driver_real(HOOK_cuDevicePrimaryCtxRetain);
    void *release = driver_real(HOOK_cuDevicePrimaryCtxRelease_v2);
    struct footprint footprint = {.slot = -1};
    void *ctx = NULL;
    bool makes_primary = !primary_is_active(device);
    if (makes_primary && !reserve(&footprint, device))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_green, resources, device, flags);
    /* Held and let go of at once, for its name. */
    bool is_known = result == CU_SUCCESS && makes_primary && retain && release && retain(&ctx, device) == CU_SUCCESS;
    if (is_known) {
        settle_primary(&footprint, device, ctx);
        (void)((primary_release_fn *)release)(device);
    } else {
        settle(&footprint, result, NULL);
    }
    if (result == CU_SUCCESS && ret_green) {
        struct entry green = {.key = (uint64_t)(uintptr_t)*ret_green, .owner = (uint64_t)device};
        (void)table_put(&tenant_tables.greens, &green);
        ledger_note_growth(tenant_slot(device));
    }
    return result;
}

int on_green_destroy(green_destroy_fn *real, void *green)
{
    const struct driver_calls *driver = driver_calls();
    struct entry entry;
    void *ctx = NULL;
    bool is_known = table_take(&tenant_tables.greens, (uint64_t)(uintptr_t)green, &entry);
    if (is_known && driver->ctx_of_green && driver->ctx_of_green(&ctx, green) == CU_SUCCESS)
        gate_leave_context(ctx);
    int slot = is_known ? tenant_slot((cu_device)entry.owner) : -1;
    gate_hold(slot);
    cu_result result = real(green);
    gate_go_on(slot, is_known && result == CU_SUCCESS ? drop_primary((cu_device)entry.owner) : NULL);
    if (is_known && result != CU_SUCCESS)
        (void)table_put(&tenant_tables.greens, &entry);
    return result;
}
