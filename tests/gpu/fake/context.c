/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and contexts. A context costs memory that nobody asked for, and takes what was allocated in it along. */
#include <string.h>

#include "exports.h"

enum { DEPTH = 16 };

static __thread struct fake_object *stack[DEPTH];
static __thread int depth;
static struct fake_object *primaries[FAKE_GPUS];

struct fake_object *fake_current(void)
{
    struct fake_object *ctx = depth > 0 ? fake_get(stack[depth - 1], FAKE_CONTEXT) : NULL;
    return ctx && !ctx->is_dead ? ctx : NULL;
}

static bool has(cu_device device)
{
    return device >= 0 && fake_state() && device < fake_state()->gpu_count;
}

FAKE_EXPORT cu_result cuInit(unsigned flags)
{
    BEGIN(cuInit);
    return flags ? CU_INVALID_VALUE : CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDriverGetVersion(int *ret_version)
{
    if (!ret_version)
        return CU_INVALID_VALUE;
    *ret_version = 13000;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceGetCount(int *ret_count)
{
    BEGIN(cuDeviceGetCount);
    if (!ret_count)
        return CU_INVALID_VALUE;
    *ret_count = fake_state()->gpu_count;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceGet(cu_device *ret_device, int ordinal)
{
    BEGIN(cuDeviceGet);
    if (!ret_device)
        return CU_INVALID_VALUE;
    if (!has(ordinal))
        return CU_INVALID_DEVICE;
    *ret_device = ordinal;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceGetUuid(struct cu_uuid *ret_uuid, cu_device device)
{
    BEGIN(cuDeviceGetUuid);
    if (!ret_uuid || !has(device))
        return CU_INVALID_VALUE;
    fake_uuid(device, ret_uuid->bytes);
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceGetUuid_v2(struct cu_uuid *ret_uuid, cu_device device)
{
    return cuDeviceGetUuid(ret_uuid, device);
}

FAKE_EXPORT cu_result cuDeviceTotalMem_v2(size_t *ret_bytes, cu_device device)
{
    BEGIN(cuDeviceTotalMem_v2);
    if (!ret_bytes)
        return CU_INVALID_VALUE;
    if (!has(device))
        return CU_INVALID_DEVICE;
    *ret_bytes = fake_state()->bytes;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceTotalMem(unsigned *ret_bytes, cu_device device)
{
    BEGIN(cuDeviceTotalMem);
    if (!ret_bytes || !has(device))
        return CU_INVALID_VALUE;
    *ret_bytes = fake_state()->bytes > UINT32_MAX ? UINT32_MAX : (unsigned)fake_state()->bytes;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total)
{
    BEGIN(cuMemGetInfo_v2);
    fake_lock();
    struct fake_object *ctx = fake_current();
    fake_unlock();
    if (!ctx)
        return CU_INVALID_CONTEXT;
    if (ret_free)
        *ret_free = fake_state()->bytes - fake_used(ctx->gpu);
    if (ret_total)
        *ret_total = fake_state()->bytes;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuMemGetInfo(unsigned *ret_free, unsigned *ret_total)
{
    size_t free_bytes = 0, total = 0;
    BEGIN(cuMemGetInfo);
    cu_result result = cuMemGetInfo_v2(&free_bytes, &total);
    if (result == CU_SUCCESS && ret_free)
        *ret_free = free_bytes > UINT32_MAX ? UINT32_MAX : (unsigned)free_bytes;
    if (result == CU_SUCCESS && ret_total)
        *ret_total = total > UINT32_MAX ? UINT32_MAX : (unsigned)total;
    return result;
}

static struct fake_object *make(cu_device device)
{
    if (!fake_take(device, fake_state()->context_bytes))
        return NULL;
    struct fake_object *ctx = fake_new(FAKE_CONTEXT, device);
    ctx->references = 1;
    return ctx;
}

static void end(struct fake_object *ctx)
{
    struct fake_range *next_range;
    for (struct fake_range *range = fake_ranges; range; range = next_range) {
        next_range = range->next;
        bool is_green = range->of && range->of->kind == FAKE_CONTEXT && range->of->owner == ctx;
        if (range->of != ctx && !is_green)
            continue;
        fake_give(range->gpu, range->bytes);
        fake_remove_range(range);
    }
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        if (object->kind == FAKE_ARRAY && object->ctx == ctx && !object->is_dead) {
            fake_give(object->gpu, object->bytes);
            object->is_dead = true;
        }
    }
    fake_give(ctx->gpu, fake_state()->context_bytes);
    ctx->is_dead = true;
}

static cu_result create(void **ret_ctx, cu_device device)
{
    if (!ret_ctx)
        return CU_INVALID_VALUE;
    if (!has(device))
        return CU_INVALID_DEVICE;
    fake_lock();
    struct fake_object *ctx = depth < DEPTH ? make(device) : NULL;
    if (ctx)
        stack[depth++] = *ret_ctx = ctx;
    fake_unlock();
    return ctx ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

FAKE_EXPORT cu_result cuCtxCreate(void **ret_ctx, unsigned flags, cu_device device)
{
    BEGIN(cuCtxCreate);
    (void)flags;
    return create(ret_ctx, device);
}

FAKE_EXPORT cu_result cuCtxCreate_v2(void **ret_ctx, unsigned flags, cu_device device)
{
    BEGIN(cuCtxCreate_v2);
    (void)flags;
    return create(ret_ctx, device);
}

FAKE_EXPORT cu_result cuCtxCreate_v3(void **ret_ctx, void *affinity, int count, unsigned flags, cu_device device)
{
    BEGIN(cuCtxCreate_v3);
    (void)affinity;
    (void)count;
    (void)flags;
    return create(ret_ctx, device);
}

FAKE_EXPORT cu_result cuCtxCreate_v4(void **ret_ctx, void *params, unsigned flags, cu_device device)
{
    BEGIN(cuCtxCreate_v4);
    (void)params;
    (void)flags;
    return create(ret_ctx, device);
}

static cu_result destroy(void *handle)
{
    fake_lock();
    struct fake_object *ctx = fake_get(handle, FAKE_CONTEXT);
    bool is_fine = ctx && !ctx->is_dead && !ctx->is_primary;
    if (is_fine) {
        if (depth > 0 && stack[depth - 1] == ctx)
            depth--;
        end(ctx);
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_CONTEXT;
}

FAKE_EXPORT cu_result cuCtxDestroy(void *ctx)
{
    BEGIN(cuCtxDestroy);
    return destroy(ctx);
}

FAKE_EXPORT cu_result cuCtxDestroy_v2(void *ctx)
{
    BEGIN(cuCtxDestroy_v2);
    return destroy(ctx);
}

FAKE_EXPORT cu_result cuCtxAttach(void **ret_ctx, unsigned flags)
{
    BEGIN(cuCtxAttach);
    fake_lock();
    struct fake_object *ctx = fake_current();
    bool is_fine = ctx && !ctx->is_primary && ret_ctx && flags == 0;
    if (is_fine) {
        ctx->references++;
        *ret_ctx = ctx;
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuCtxDetach(void *handle)
{
    BEGIN(cuCtxDetach);
    fake_lock();
    struct fake_object *ctx = fake_get(handle, FAKE_CONTEXT);
    bool is_last = ctx && !ctx->is_dead && !ctx->is_primary && --ctx->references == 0;
    fake_unlock();
    return is_last ? destroy(handle) : ctx ? CU_SUCCESS : CU_INVALID_CONTEXT;
}

FAKE_EXPORT cu_result cuDevicePrimaryCtxRetain(void **ret_ctx, cu_device device)
{
    BEGIN(cuDevicePrimaryCtxRetain);
    if (!ret_ctx)
        return CU_INVALID_VALUE;
    if (!has(device))
        return CU_INVALID_DEVICE;
    fake_lock();
    struct fake_object *ctx = primaries[device];
    if (!ctx || ctx->is_dead) {
        primaries[device] = ctx = make(device);
        if (ctx)
            ctx->is_primary = true;
    } else {
        ctx->references++;
    }
    if (ctx)
        *ret_ctx = ctx;
    fake_unlock();
    return ctx ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

static cu_result release(cu_device device, bool all)
{
    if (!has(device))
        return CU_INVALID_DEVICE;
    fake_lock();
    struct fake_object *ctx = primaries[device];
    bool is_fine = ctx && !ctx->is_dead;
    if (is_fine && (all || --ctx->references == 0))
        end(ctx);
    fake_unlock();
    return is_fine || all ? CU_SUCCESS : CU_INVALID_CONTEXT;
}

FAKE_EXPORT cu_result cuDevicePrimaryCtxRelease(cu_device device)
{
    BEGIN(cuDevicePrimaryCtxRelease);
    return release(device, false);
}

FAKE_EXPORT cu_result cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    BEGIN(cuDevicePrimaryCtxRelease_v2);
    return release(device, false);
}

FAKE_EXPORT cu_result cuDevicePrimaryCtxReset(cu_device device)
{
    BEGIN(cuDevicePrimaryCtxReset);
    return release(device, true);
}

FAKE_EXPORT cu_result cuDevicePrimaryCtxReset_v2(cu_device device)
{
    BEGIN(cuDevicePrimaryCtxReset_v2);
    return release(device, true);
}

FAKE_EXPORT cu_result cuDevicePrimaryCtxGetState(cu_device device, unsigned *ret_flags, int *ret_active)
{
    BEGIN(cuDevicePrimaryCtxGetState);
    if (!ret_flags || !ret_active || !has(device))
        return CU_INVALID_VALUE;
    fake_lock();
    *ret_flags = 0;
    *ret_active = primaries[device] && !primaries[device]->is_dead;
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuCtxGetCurrent(void **ret_ctx)
{
    BEGIN(cuCtxGetCurrent);
    if (!ret_ctx)
        return CU_INVALID_VALUE;
    *ret_ctx = depth > 0 ? stack[depth - 1] : NULL;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuCtxSetCurrent(void *ctx)
{
    BEGIN(cuCtxSetCurrent);
    if (depth == 0)
        depth = 1;
    stack[depth - 1] = ctx;
    if (!ctx)
        depth--;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuCtxPushCurrent_v2(void *ctx)
{
    BEGIN(cuCtxPushCurrent_v2);
    if (!ctx || depth == DEPTH)
        return CU_INVALID_CONTEXT;
    stack[depth++] = ctx;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuCtxPopCurrent_v2(void **ret_ctx)
{
    BEGIN(cuCtxPopCurrent_v2);
    if (depth == 0)
        return CU_INVALID_CONTEXT;
    depth--;
    if (ret_ctx)
        *ret_ctx = stack[depth];
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuCtxGetDevice(cu_device *ret_device)
{
    BEGIN(cuCtxGetDevice);
    fake_lock();
    struct fake_object *ctx = fake_current();
    fake_unlock();
    if (!ctx)
        return CU_INVALID_CONTEXT;
    if (!ret_device)
        return CU_INVALID_VALUE;
    *ret_device = ctx->gpu;
    return CU_SUCCESS;
}

/* The real runtime needs private tables that nobody can pretend. */
FAKE_EXPORT cu_result cuGetExportTable(const void **ret_table, const void *id)
{
    (void)ret_table;
    (void)id;
    return CU_NOT_FOUND;
}

/* A green context holds the primary one. Made current it is a context that has no memory of its own. */
FAKE_EXPORT cu_result cuGreenCtxCreate(void **ret_green, void *resources, cu_device device, unsigned flags)
{
    BEGIN(cuGreenCtxCreate);
    void *primary = NULL;
    if (!ret_green || !resources || flags != 1)
        return CU_INVALID_VALUE;
    cu_result result = cuDevicePrimaryCtxRetain(&primary, device);
    if (result == CU_SUCCESS) {
        fake_lock();
        struct fake_object *green = fake_new(FAKE_CONTEXT, device);
        green->owner = primary;
        *ret_green = green;
        fake_unlock();
    }
    return result;
}

FAKE_EXPORT cu_result cuCtxFromGreenCtx(void **ret_ctx, void *green)
{
    BEGIN(cuCtxFromGreenCtx);
    fake_lock();
    struct fake_object *ctx = fake_get(green, FAKE_CONTEXT);
    bool is_fine = ctx && ctx->owner && !ctx->is_dead && ret_ctx;
    if (is_fine)
        *ret_ctx = ctx;
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGreenCtxDestroy(void *green)
{
    BEGIN(cuGreenCtxDestroy);
    fake_lock();
    struct fake_object *ctx = fake_get(green, FAKE_CONTEXT);
    bool is_fine = ctx && ctx->owner && !ctx->is_dead;
    if (is_fine)
        ctx->is_dead = true;
    fake_unlock();
    return is_fine ? release(ctx->gpu, false) : CU_INVALID_CONTEXT;
}
