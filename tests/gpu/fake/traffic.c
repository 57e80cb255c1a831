/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills: only mapped memory has contents (content.c), for all other a context is enough. And pinned memory of the
 * host, which is the host's. */
#include <stdlib.h>

#include "exports.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static cu_result move(const char *name, const uint64_t *words)
{
    fake_lock();
    cu_result result = fake_current() ? fake_move(name, words) : CU_INVALID_CONTEXT;
    fake_unlock();
    return result;
}

#define X(name, handler)                           \
    FAKE_EXPORT cu_result name(PARAMS_##handler)   \
    {                                              \
        BEGIN(name);                               \
        const uint64_t words[] = {ARGS_##handler}; \
        return move(#name, words);                 \
    }
TRAFFIC_HOOKS(X)
#undef X

static cu_result pin(void **ret_memory, size_t bytes)
{
    void *memory = ret_memory && bytes > 0 ? malloc(bytes) : NULL;
    if (!memory)
        return CU_INVALID_VALUE;
    *ret_memory = memory;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuMemHostAlloc(PARAMS_pinned_alloc)
{
    BEGIN(cuMemHostAlloc);
    return pin(ret_memory, bytes);
}

FAKE_EXPORT cu_result cuMemAllocHost_v2(PARAMS_pinned_alloc_v2)
{
    BEGIN(cuMemAllocHost_v2);
    return pin(ret_memory, bytes);
}

FAKE_EXPORT cu_result cuMemAllocHost(PARAMS_pinned_alloc_v1)
{
    BEGIN(cuMemAllocHost);
    return pin(ret_memory, bytes);
}

FAKE_EXPORT cu_result cuMemFreeHost(void *memory)
{
    BEGIN(cuMemFreeHost);
    free(memory);
    return memory ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemHostRegister(PARAMS_pinned_register_v1)
{
    BEGIN(cuMemHostRegister);
    return memory && bytes > 0 ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemHostRegister_v2(PARAMS_pinned_register)
{
    BEGIN(cuMemHostRegister_v2);
    return memory && bytes > 0 ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemHostUnregister(void *memory)
{
    BEGIN(cuMemHostUnregister);
    return memory ? CU_SUCCESS : CU_INVALID_VALUE;
}
