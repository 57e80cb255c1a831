/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that programs call, one for each row of the table. */
#include "gpu/tenant/hooks.h"
#include "gpu/tenant/tenant.h"

#define EXPORT(missing, name, handler)                                 \
    __attribute__((visibility("default"))) int name(PARAMS_##handler); \
    int name(PARAMS_##handler)                                         \
    {                                                                  \
        handler##_fn *real = (handler##_fn *)driver_real(HOOK_##name); \
        if (__builtin_expect(!real, 0))                                \
            return missing;                                            \
        if (!tenant_enter())                                           \
            return real(ARGS_##handler);                               \
        int result = on_##handler(real, ARGS_##handler);               \
        tenant_leave();                                                \
        return result;                                                 \
    }

#define X(name, handler) EXPORT(CU_NOT_SUPPORTED, name, handler)
CUDA_HOOKS(X)
#undef X

#define X(name, handler) EXPORT(NVML_FUNCTION_NOT_FOUND, name, handler)
NVML_HOOKS(X)
#undef X
