/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make a process larger on the GPU without saying by how much: code, stacks, heaps of kernels. Only the
 * daemon can see it, by NVML; it is told to look. What is loaded at the first launch of a function it finds at its next
 * look of its own. */
#include "gpu/tenant/tenant.h"

static void grown(cu_result result)
{
    int slot = result == CU_SUCCESS ? tenant_current_slot(NULL) : -1;
    if (slot >= 0)
        ledger_note_growth(slot);
}

#define GROWS(handler)                                     \
    int on_##handler(handler##_fn *real, PARAMS_##handler) \
    {                                                      \
        cu_result result = real(ARGS_##handler);           \
        grown(result);                                     \
        return result;                                     \
    }

GROWS(set_limit)
GROWS(module_load)
GROWS(module_load_ex)
GROWS(library_load)
GROWS(link_complete)
GROWS(function_load)
