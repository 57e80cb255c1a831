/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that pass as they are; the gate in front of them is all that they need. */
#include "gpu/tenant/memory/movable.h"
#include "gpu/tenant/tenant.h"

#define PASSES(handler)                                    \
    int on_##handler(handler##_fn *real, PARAMS_##handler) \
    {                                                      \
        return real(ARGS_##handler);                       \
    }

PASSES(held3)
PASSES(held4)

/* Whoever has such a handle uses the memory without asking anybody. */
int on_export_range(export_range_fn *real, PARAMS_export_range)
{
    cu_result result = real(ARGS_export_range);
    if (result == CU_SUCCESS)
        (void)movable_contains(b, true);
    return result;
}
