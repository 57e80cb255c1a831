/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that comes from elsewhere: of another process, of another interface, or our own taken back. What is not our own
 * takes nothing here. */
#include <string.h>

#include "exports.h"

static const uint64_t foreign_bytes = UINT64_C(64) << 20;

FAKE_EXPORT cu_result cuMemExportToShareableHandle(void *ret_shareable, cu_handle handle, int type,
                                                   unsigned long long flags)
{
    BEGIN(cuMemExportToShareableHandle);
    (void)type, (void)flags;
    fake_lock();
    bool is_fine = ret_shareable && fake_get((void *)(uintptr_t)handle, FAKE_BLOCK);
    fake_unlock();
    if (is_fine)
        memcpy(ret_shareable, &handle, sizeof handle);
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

/* One of our own is the same handle once more; all others are foreign. */
FAKE_EXPORT cu_result cuMemImportFromShareableHandle(cu_handle *ret_handle, void *from, int type)
{
    BEGIN(cuMemImportFromShareableHandle);
    (void)type;
    if (!ret_handle || !from)
        return CU_INVALID_VALUE;
    fake_lock();
    struct fake_object *block = fake_get(from, FAKE_BLOCK);
    if (!block) {
        block = fake_new(FAKE_BLOCK, -1);
        block->bytes = foreign_bytes;
    }
    block->references++;
    *ret_handle = (cu_handle)(uintptr_t)block;
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuMemPoolImportFromShareableHandle(void **ret_pool, void *from, int type,
                                                         unsigned long long flags)
{
    BEGIN(cuMemPoolImportFromShareableHandle);
    (void)type, (void)flags;
    if (!ret_pool || !from)
        return CU_INVALID_VALUE;
    fake_lock();
    *ret_pool = fake_new(FAKE_POOL, -1);
    fake_unlock();
    return CU_SUCCESS;
}

/* A piece of memory that is counted elsewhere. */
static cu_result open_foreign(cu_address *ret_address)
{
    if (!ret_address)
        return CU_INVALID_VALUE;
    fake_lock();
    struct fake_object *block = fake_new(FAKE_BLOCK, -1);
    *ret_address = fake_add_range(fake_new_address(foreign_bytes), foreign_bytes, FAKE_MAPPED, block)->address;
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuIpcOpenMemHandle_v2(cu_address *ret_address, struct cu_ipc_handle handle, unsigned flags)
{
    BEGIN(cuIpcOpenMemHandle_v2);
    (void)handle, (void)flags;
    return open_foreign(ret_address);
}

FAKE_EXPORT cu_result cuIpcCloseMemHandle(cu_address address)
{
    BEGIN(cuIpcCloseMemHandle);
    fake_lock();
    struct fake_range *range = fake_find_range(address);
    bool is_fine = range && range->memory == FAKE_MAPPED;
    if (is_fine)
        fake_remove_range(range);
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuImportExternalMemory(void **ret_memory, const void *description)
{
    BEGIN(cuImportExternalMemory);
    if (!ret_memory || !description)
        return CU_INVALID_VALUE;
    fake_lock();
    *ret_memory = fake_new(FAKE_BLOCK, -1);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuExternalMemoryGetMappedBuffer(cu_address *ret_address, void *memory, const void *description)
{
    BEGIN(cuExternalMemoryGetMappedBuffer);
    return memory && description ? open_foreign(ret_address) : CU_INVALID_VALUE;
}
