/* SPDX-License-Identifier: Apache-2.0 */
/* Code on the device, and limits of kernels: both take memory that no call tells. Nothing of it comes back before the
 * process ends, as where a driver keeps what it has once mapped. */
#include "exports.h"

static cu_result grow(void)
{
    fake_lock();
    struct fake_object *ctx = fake_current();
    bool is_fine = ctx && fake_take(ctx->gpu, fake_state()->module_bytes);
    fake_unlock();
    return is_fine ? CU_SUCCESS : ctx ? CU_OUT_OF_MEMORY : CU_INVALID_CONTEXT;
}

static cu_result load(void **ret_module, const void *image)
{
    static int module;
    if (!ret_module || !image)
        return CU_INVALID_VALUE;
    cu_result result = grow();
    if (result == CU_SUCCESS)
        *ret_module = &module;
    return result;
}

#define LOAD(name)                                                   \
    FAKE_EXPORT cu_result name(void **ret_module, const void *image) \
    {                                                                \
        BEGIN(name);                                                 \
        return load(ret_module, image);                              \
    }

LOAD(cuModuleLoad)
LOAD(cuModuleLoadData)
LOAD(cuModuleLoadFatBinary)

FAKE_EXPORT cu_result cuModuleLoadDataEx(PARAMS_module_load_ex)
{
    BEGIN(cuModuleLoadDataEx);
    (void)count, (void)options, (void)values;
    return load(ret_module, image);
}

FAKE_EXPORT cu_result cuLibraryLoadData(PARAMS_library_load)
{
    BEGIN(cuLibraryLoadData);
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return load(ret_library, code);
}

FAKE_EXPORT cu_result cuLibraryLoadFromFile(PARAMS_library_load)
{
    BEGIN(cuLibraryLoadFromFile);
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return load(ret_library, code);
}

FAKE_EXPORT cu_result cuLinkComplete(void *state, void **ret_code, size_t *ret_size)
{
    BEGIN(cuLinkComplete);
    static char code;
    if (!state || !ret_code || !ret_size)
        return CU_INVALID_VALUE;
    *ret_code = &code;
    *ret_size = sizeof code;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuFuncLoad(void *function)
{
    BEGIN(cuFuncLoad);
    fake_lock();
    bool is_known = fake_get(function, FAKE_FUNCTION) != NULL;
    fake_unlock();
    return is_known ? grow() : CU_INVALID_HANDLE;
}

FAKE_EXPORT cu_result cuCtxSetLimit(int limit, size_t value)
{
    BEGIN(cuCtxSetLimit);
    return limit < 0 || value == 0 ? CU_INVALID_VALUE : grow();
}
