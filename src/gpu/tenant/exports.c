/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that programs call, one for each row of the table. */
#include "gpu/tenant/hooks.h"
#include "gpu/tenant/park/park.h"
#include "gpu/tenant/tenant.h"

/* What a parked process may call as well: it touches no memory of the device and begins no work. Known when it is
 * compiled. */
static inline bool may_wait(const void *handler)
{
    return handler != (const void *)on_get_proc && handler != (const void *)on_get_proc_v2 &&
           handler != (const void *)on_sync_stream && handler != (const void *)on_mem_info &&
           handler != (const void *)on_mem_info_v1 && handler != (const void *)on_total_mem &&
           handler != (const void *)on_total_mem_v1 && handler != (const void *)on_checkpoint;
}

#define EXPORT(missing, name, handler, may_be_held)                    \
    __attribute__((visibility("default"))) int name(PARAMS_##handler); \
    int name(PARAMS_##handler)                                         \
    {                                                                  \
        handler##_fn *real = (handler##_fn *)driver_real(HOOK_##name); \
        if (__builtin_expect(!real, 0))                                \
            return missing;                                            \
        if (!tenant_enter())                                           \
            return real(ARGS_##handler);                               \
        bool is_held = (may_be_held) && park_enter();                  \
        int result = on_##handler(real, ARGS_##handler);               \
        if (is_held)                                                   \
            park_leave();                                              \
        tenant_leave();                                                \
        return result;                                                 \
    }

#define X(name, handler) EXPORT(CU_NOT_SUPPORTED, name, handler, may_wait((const void *)on_##handler))
CUDA_HOOKS(X)
#undef X

#define X(name, handler) EXPORT(NVML_FUNCTION_NOT_FOUND, name, handler, false)
NVML_HOOKS(X)
#undef X
