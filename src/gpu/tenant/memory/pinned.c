/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that is pinned for the GPU: nobody is refused any, it is shown in the daemon's figures. */
#include "gpu/tenant/link/client.h"
#include "gpu/tenant/tenant.h"

static _Atomic uint64_t held[GPU_MAX];

void pinned_forget(void)
{
    for (int slot = 0; slot < GPU_MAX; slot++)
        atomic_store(&held[slot], 0);
}

/* The page says how much it is, not by how much it has changed: a new daemon's page knows nothing of the past. Whoever was
 * overtaken by another thread writes once more. */
static void note(int slot, uint64_t bytes)
{
    struct gpu_tenant_line *line = client_line(slot);
    uint64_t sum = atomic_fetch_add(&held[slot], bytes) + bytes;
    for (bool is_over = !line; !is_over;) {
        atomic_store(&line->pinned_bytes, sum);
        uint64_t now = atomic_load(&held[slot]);
        is_over = now == sum;
        sum = now;
    }
}

static void begin(cu_result result, void *memory, uint64_t bytes)
{
    struct entry entry = {.key = (uint64_t)(uintptr_t)memory, .bytes = bytes};
    if (result != CU_SUCCESS || !memory)
        return;
    int slot = tenant_current_slot(NULL);
    entry.slot = slot < 0 ? 0 : slot;
    if (table_put(&tenant_tables.pinned, &entry))
        note(entry.slot, bytes);
}

int on_pinned_alloc(pinned_alloc_fn *real, PARAMS_pinned_alloc)
{
    cu_result result = real(ARGS_pinned_alloc);
    begin(result, ret_memory ? *ret_memory : NULL, bytes);
    return result;
}

int on_pinned_alloc_v2(pinned_alloc_v2_fn *real, PARAMS_pinned_alloc_v2)
{
    cu_result result = real(ARGS_pinned_alloc_v2);
    begin(result, ret_memory ? *ret_memory : NULL, bytes);
    return result;
}

int on_pinned_alloc_v1(pinned_alloc_v1_fn *real, PARAMS_pinned_alloc_v1)
{
    cu_result result = real(ARGS_pinned_alloc_v1);
    begin(result, ret_memory ? *ret_memory : NULL, bytes);
    return result;
}

int on_pinned_register(pinned_register_fn *real, PARAMS_pinned_register)
{
    cu_result result = real(ARGS_pinned_register);
    begin(result, memory, bytes);
    return result;
}

int on_pinned_register_v1(pinned_register_v1_fn *real, PARAMS_pinned_register_v1)
{
    cu_result result = real(ARGS_pinned_register_v1);
    begin(result, memory, bytes);
    return result;
}

/* Forgotten before the driver can give the same address to another thread. */
int on_pinned_end(pinned_end_fn *real, void *memory)
{
    struct entry entry;
    bool is_known = table_take(&tenant_tables.pinned, (uint64_t)(uintptr_t)memory, &entry);
    cu_result result = real(memory);
    if (is_known && result == CU_SUCCESS)
        note(entry.slot, -entry.bytes);
    else if (is_known)
        (void)table_put(&tenant_tables.pinned, &entry);
    return result;
}
