/* SPDX-License-Identifier: Apache-2.0 */
/* Memory by pointer: plain, pitched and managed, in both versions of the interface. A pointer is forgotten before the
 * driver frees it, because the driver may hand the same address to another thread at once. */
#include "gpu/tenant/memory/movable.h"
#include "gpu/tenant/tenant.h"

int on_mem_alloc(mem_alloc_fn *real, cu_address *ret_address, size_t bytes)
{
    struct charge charge;
    cu_result result;
    if (!charge_begin_current(&charge, ret_address ? bytes : 0))
        return CU_OUT_OF_MEMORY;
    if (movable_serve(&charge, ret_address, &result))
        return result;
    result = real(ret_address, bytes);
    charge_settle(&charge, result, &tenant_tables.pointers, result == CU_SUCCESS && ret_address ? *ret_address : 0);
    return result;
}

int on_mem_alloc_v1(mem_alloc_v1_fn *real, unsigned *ret_address, unsigned bytes)
{
    struct charge charge;
    if (!charge_begin_current(&charge, ret_address ? bytes : 0))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_address, bytes);
    charge_settle(&charge, result, &tenant_tables.pointers, result == CU_SUCCESS && ret_address ? *ret_address : 0);
    return result;
}

int on_mem_alloc_managed(mem_alloc_managed_fn *real, cu_address *ret_address, size_t bytes, unsigned flags)
{
    struct charge charge;
    if (!charge_begin_managed(&charge, ret_address ? bytes : 0))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_address, bytes, flags);
    charge_settle(&charge, result, &tenant_tables.pointers, result == CU_SUCCESS && ret_address ? *ret_address : 0);
    return result;
}

/* The driver chooses the length of a row; on every known device it is a multiple of this. */
static uint64_t row_bytes(uint64_t width)
{
    const uint64_t row = 512;
    return width > UINT64_MAX - row ? UINT64_MAX : (width + row - 1) / row * row;
}

static uint64_t pitched_bytes(uint64_t width, uint64_t height)
{
    uint64_t bytes;
    if (row_bytes(width) == UINT64_MAX || __builtin_mul_overflow(row_bytes(width), height, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* After the driver has chosen a longer row than was thought: the difference is charged as well. */
static bool charge_pitch(struct charge *charge, uint64_t pitch, uint64_t height)
{
    uint64_t bytes = charge_rounded(pitch * height);
    if (charge->slot < 0 || bytes <= charge->bytes)
        return true;
    if (!ledger_reserve(charge->slot, LEDGER_PLAIN, bytes - charge->bytes, NULL))
        return false;
    charge->bytes = bytes;
    return true;
}

int on_mem_alloc_pitch(mem_alloc_pitch_fn *real, cu_address *ret_address, size_t *ret_pitch, size_t width,
                       size_t height, unsigned element)
{
    struct charge charge;
    if (!ret_address || !ret_pitch)
        return real(ret_address, ret_pitch, width, height, element);
    if (!charge_begin_current(&charge, pitched_bytes(width, height)))
        return CU_OUT_OF_MEMORY;
    cu_result result;
    if (movable_serve(&charge, ret_address, &result)) {
        *ret_pitch = result == CU_SUCCESS ? row_bytes(width) : *ret_pitch;
        return result;
    }
    cu_address address = *ret_address;
    size_t pitch = *ret_pitch;
    result = real(&address, &pitch, width, height, element);
    if (result == CU_SUCCESS && !charge_pitch(&charge, pitch, height)) {
        mem_free_fn *give_back = (mem_free_fn *)driver_real(HOOK_cuMemFree_v2);
        if (give_back)
            (void)give_back(address);
        result = CU_OUT_OF_MEMORY;
    }
    charge_settle(&charge, result, &tenant_tables.pointers, address);
    if (result == CU_SUCCESS) {
        *ret_address = address;
        *ret_pitch = pitch;
    }
    return result;
}

int on_mem_alloc_pitch_v1(mem_alloc_pitch_v1_fn *real, unsigned *ret_address, unsigned *ret_pitch, unsigned width,
                          unsigned height, unsigned element)
{
    struct charge charge;
    if (!charge_begin_current(&charge, ret_address && ret_pitch ? pitched_bytes(width, height) : 0))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_address, ret_pitch, width, height, element);
    charge_settle(&charge, result, &tenant_tables.pointers, result == CU_SUCCESS && ret_address ? *ret_address : 0);
    return result;
}

/* What we do not know was never charged: imported, mapped, from before us. The driver decides about it. */
int on_mem_free(mem_free_fn *real, cu_address address)
{
    struct entry entry;
    cu_result freed;
    if (movable_free(address, &freed))
        return freed;
    bool is_plain = table_take(&tenant_tables.pointers, address, &entry);
    bool is_pooled = !is_plain && table_take(&tenant_tables.pool_pointers, address, &entry);
    cu_result result = real(address);
    if (result != CU_SUCCESS && is_plain)
        (void)table_put(&tenant_tables.pointers, &entry);
    else if (result != CU_SUCCESS && is_pooled)
        (void)table_put(&tenant_tables.pool_pointers, &entry);
    else if (is_plain)
        charge_release(&entry);
    else if (is_pooled)
        pools_freed(&entry);
    return result;
}

int on_mem_free_v1(mem_free_v1_fn *real, unsigned address)
{
    struct entry entry;
    bool is_ours = table_take(&tenant_tables.pointers, address, &entry);
    cu_result result = real(address);
    if (is_ours && result == CU_SUCCESS)
        charge_release(&entry);
    else if (is_ours)
        (void)table_put(&tenant_tables.pointers, &entry);
    return result;
}
