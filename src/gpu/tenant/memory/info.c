/* SPDX-License-Identifier: Apache-2.0 */
/* What a tenant is told about memory: its limit is the whole, and free is what it would really get. CUDA and NVML say
 * the same, since frameworks size themselves by either. */
#include "gpu/tenant/tenant.h"

#include <limits.h>

static bool look_current(struct ledger_view *ret_view)
{
    int slot = tenant_current_slot(NULL);
    if (slot < 0)
        return false;
    (void)pools_settle();
    return ledger_look(slot, ret_view);
}

/* The driver is asked first, for its errors: no context, a dead one, missing arguments. */
int on_mem_info(mem_info_fn *real, size_t *ret_free, size_t *ret_total)
{
    size_t free_bytes = 0, total = 0;
    if (!ret_free && !ret_total)
        return real(ret_free, ret_total);
    cu_result result = real(&free_bytes, &total);
    if (result != CU_SUCCESS)
        return result;
    struct ledger_view view;
    if (look_current(&view)) {
        total = view.total < total ? view.total : total;
        free_bytes = view.free < free_bytes ? view.free : free_bytes;
    }
    if (ret_free)
        *ret_free = free_bytes;
    if (ret_total)
        *ret_total = total;
    return result;
}

static unsigned clipped(uint64_t bytes)
{
    return bytes > UINT_MAX ? UINT_MAX : (unsigned)bytes;
}

int on_mem_info_v1(mem_info_v1_fn *real, unsigned *ret_free, unsigned *ret_total)
{
    unsigned free_bytes = 0, total = 0;
    if (!ret_free && !ret_total)
        return real(ret_free, ret_total);
    cu_result result = real(&free_bytes, &total);
    if (result != CU_SUCCESS)
        return result;
    struct ledger_view view;
    if (look_current(&view)) {
        total = view.total < total ? clipped(view.total) : total;
        free_bytes = view.free < free_bytes ? clipped(view.free) : free_bytes;
    }
    if (ret_free)
        *ret_free = free_bytes;
    if (ret_total)
        *ret_total = total;
    return result;
}

int on_total_mem(total_mem_fn *real, size_t *ret_bytes, cu_device device)
{
    cu_result result = real(ret_bytes, device);
    struct ledger_view view;
    int slot = result == CU_SUCCESS && ret_bytes ? tenant_slot(device) : -1;
    if (slot >= 0 && ledger_look(slot, &view) && view.total < *ret_bytes)
        *ret_bytes = view.total;
    return result;
}

int on_total_mem_v1(total_mem_v1_fn *real, unsigned *ret_bytes, cu_device device)
{
    cu_result result = real(ret_bytes, device);
    struct ledger_view view;
    int slot = result == CU_SUCCESS && ret_bytes ? tenant_slot(device) : -1;
    if (slot >= 0 && ledger_look(slot, &view) && view.total < *ret_bytes)
        *ret_bytes = clipped(view.total);
    return result;
}

/* Freezing and thawing other processes is the node's business. */
int on_checkpoint(checkpoint_fn *real, int pid, void *args)
{
    (void)real;
    (void)pid;
    (void)args;
    return CU_NOT_PERMITTED;
}
