/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: they take memory from the device in large steps, keep what is freed, and let go of it when the device is waited
 * for, down to their threshold. */
#include <string.h>

#include "exports.h"

static const uint64_t step = UINT64_C(32) << 20;
static struct fake_object *current[FAKE_GPUS];

static struct fake_object *current_pool(int gpu)
{
    return current[gpu] ? current[gpu] : fake_default_pool(gpu);
}

FAKE_EXPORT cu_result cuDeviceGetDefaultMemPool(void **ret_pool, cu_device device)
{
    BEGIN(cuDeviceGetDefaultMemPool);
    if (!ret_pool || device < 0 || device >= fake_state()->gpu_count)
        return CU_INVALID_VALUE;
    fake_lock();
    *ret_pool = fake_default_pool(device);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceGetMemPool(void **ret_pool, cu_device device)
{
    BEGIN(cuDeviceGetMemPool);
    if (!ret_pool || device < 0 || device >= fake_state()->gpu_count)
        return CU_INVALID_VALUE;
    fake_lock();
    *ret_pool = current_pool(device);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceSetMemPool(cu_device device, void *pool)
{
    BEGIN(cuDeviceSetMemPool);
    fake_lock();
    struct fake_object *found = fake_get(pool, FAKE_POOL);
    if (found)
        current[device] = found;
    fake_unlock();
    return found ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemPoolCreate(void **ret_pool, const struct cu_pool_props *props)
{
    BEGIN(cuMemPoolCreate);
    if (!ret_pool || !props)
        return CU_INVALID_VALUE;
    bool is_managed = props->allocation_type == CU_ALLOCATION_MANAGED;
    fake_lock();
    struct fake_object *ctx = fake_current();
    struct fake_object *pool =
        fake_new(FAKE_POOL, props->location.type == CU_LOCATION_DEVICE          ? props->location.id
                            : props->location.type == CU_LOCATION_DEVICE_DOMAIN ? props->location.id & 0xff
                            : is_managed && ctx                                 ? ctx->gpu
                                                                                : -1);
    pool->bytes = props->max_size;
    *ret_pool = pool;
    fake_unlock();
    return CU_SUCCESS;
}

/* One for managed memory that belongs nowhere, beside those of the devices. */
FAKE_EXPORT cu_result cuMemGetDefaultMemPool(void **ret_pool, struct cu_location *location, int type)
{
    BEGIN(cuMemGetDefaultMemPool);
    static struct fake_object *managed;
    if (!ret_pool || !location)
        return CU_INVALID_VALUE;
    if (type == CU_ALLOCATION_PINNED)
        return cuDeviceGetDefaultMemPool(ret_pool, location->id);
    if (location->type != CU_LOCATION_NONE)
        return CU_NOT_SUPPORTED;
    fake_lock();
    if (!managed)
        managed = fake_new(FAKE_POOL, 0);
    *ret_pool = managed;
    fake_unlock();
    return CU_SUCCESS;
}

static bool set_reserved(struct fake_object *pool, uint64_t bytes)
{
    if (pool->gpu >= 0 && bytes > pool->reserved && !fake_take(pool->gpu, bytes - pool->reserved))
        return false;
    if (pool->gpu >= 0 && bytes < pool->reserved)
        fake_give(pool->gpu, pool->reserved - bytes);
    pool->reserved = bytes;
    return true;
}

static void shrink(struct fake_object *pool, uint64_t keep)
{
    uint64_t needed = (pool->used + step - 1) / step * step;
    uint64_t kept = needed > keep ? needed : keep;
    if (kept < pool->reserved)
        (void)set_reserved(pool, kept);
}

void fake_pools_release(int gpu)
{
    for (struct fake_object *pool = fake_objects; pool; pool = pool->next) {
        if (pool->kind == FAKE_POOL && pool->gpu == gpu)
            shrink(pool, pool->threshold);
    }
}

FAKE_EXPORT cu_result cuMemPoolDestroy(void *handle)
{
    BEGIN(cuMemPoolDestroy);
    fake_lock();
    struct fake_object *pool = fake_get(handle, FAKE_POOL);
    bool is_fine = pool && !pool->is_dead;
    if (is_fine) {
        pool->is_dead = true;
        if (pool->used == 0)
            shrink(pool, 0);
        if (pool->gpu >= 0 && current[pool->gpu] == pool)
            current[pool->gpu] = NULL;
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemPoolTrimTo(void *handle, size_t keep)
{
    BEGIN(cuMemPoolTrimTo);
    fake_lock();
    struct fake_object *pool = fake_get(handle, FAKE_POOL);
    if (pool)
        shrink(pool, keep);
    fake_unlock();
    return pool ? CU_SUCCESS : CU_INVALID_VALUE;
}

static uint64_t *attribute_of(struct fake_object *pool, int attribute)
{
    switch (attribute) {
    case CU_POOL_RELEASE_THRESHOLD:
        return &pool->threshold;
    case CU_POOL_RESERVED_CURRENT:
        return &pool->reserved;
    case CU_POOL_USED_CURRENT:
        return &pool->used;
    case CU_POOL_MAX_SIZE:
        return &pool->bytes;
    default:
        return NULL;
    }
}

FAKE_EXPORT cu_result cuMemPoolGetAttribute(void *handle, int attribute, void *ret_value)
{
    BEGIN(cuMemPoolGetAttribute);
    fake_lock();
    struct fake_object *pool = fake_get(handle, FAKE_POOL);
    uint64_t *value = pool && ret_value && !pool->is_dead ? attribute_of(pool, attribute) : NULL;
    if (value)
        memcpy(ret_value, value, sizeof *value);
    fake_unlock();
    return value ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemPoolSetAttribute(void *handle, int attribute, void *new_value)
{
    BEGIN(cuMemPoolSetAttribute);
    fake_lock();
    struct fake_object *pool = fake_get(handle, FAKE_POOL);
    bool is_fine = pool && new_value && attribute == CU_POOL_RELEASE_THRESHOLD;
    if (is_fine)
        memcpy(&pool->threshold, new_value, sizeof pool->threshold);
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

static cu_result allocate(struct fake_object *pool, uint64_t *ret_address, uint64_t bytes, void *stream_handle)
{
    struct fake_object *stream = fake_stream(stream_handle);
    if (!stream)
        return CU_INVALID_HANDLE;
    if (!ret_address || bytes == 0 || !pool)
        return CU_INVALID_VALUE;
    if (stream->capture) {
        struct fake_object *node = fake_add_alloc_node(stream->graph, bytes);
        *ret_address = fake_new_address(bytes);
        (void)node;
        return CU_SUCCESS;
    }
    uint64_t needed = (pool->used + bytes + step - 1) / step * step;
    if (pool->bytes > 0 && pool->used + bytes > pool->bytes)
        return CU_OUT_OF_MEMORY;
    if (needed > pool->reserved && !set_reserved(pool, needed))
        return CU_OUT_OF_MEMORY;
    pool->used += bytes;
    *ret_address = fake_add_range(fake_new_address(bytes), bytes, FAKE_POOLED, pool)->address;
    return CU_SUCCESS;
}

static cu_result from_current(cu_address *ret_address, size_t bytes, void *stream)
{
    fake_lock();
    struct fake_object *ctx = fake_current();
    cu_result result = ctx ? allocate(current_pool(ctx->gpu), ret_address, bytes, stream) : CU_INVALID_CONTEXT;
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuMemAllocAsync(cu_address *ret_address, size_t bytes, void *stream)
{
    BEGIN(cuMemAllocAsync);
    return from_current(ret_address, bytes, stream);
}

FAKE_EXPORT cu_result cuMemAllocAsync_ptsz(cu_address *ret_address, size_t bytes, void *stream)
{
    BEGIN(cuMemAllocAsync_ptsz);
    return from_current(ret_address, bytes, stream ? stream : CU_STREAM_PER_THREAD);
}

static cu_result from_pool(cu_address *ret_address, size_t bytes, void *handle, void *stream)
{
    fake_lock();
    struct fake_object *pool = fake_get(handle, FAKE_POOL);
    cu_result result = pool && !pool->is_dead ? allocate(pool, ret_address, bytes, stream) : CU_INVALID_VALUE;
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuMemAllocFromPoolAsync(cu_address *ret_address, size_t bytes, void *pool, void *stream)
{
    BEGIN(cuMemAllocFromPoolAsync);
    return from_pool(ret_address, bytes, pool, stream);
}

FAKE_EXPORT cu_result cuMemAllocFromPoolAsync_ptsz(cu_address *ret_address, size_t bytes, void *pool, void *stream)
{
    BEGIN(cuMemAllocFromPoolAsync_ptsz);
    return from_pool(ret_address, bytes, pool, stream ? stream : CU_STREAM_PER_THREAD);
}

void fake_pool_free(struct fake_range *range)
{
    struct fake_object *pool = range->of;
    pool->used -= range->bytes;
    fake_remove_range(range);
    if (pool->is_dead && pool->used == 0)
        shrink(pool, 0);
}

static cu_result free_async(cu_address address)
{
    fake_lock();
    struct fake_range *range = fake_find_range(address);
    cu_result result = CU_SUCCESS;
    if (range && range->memory == FAKE_POOLED)
        fake_pool_free(range);
    else
        result = CU_INVALID_VALUE;
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuMemFreeAsync(cu_address address, void *stream)
{
    BEGIN(cuMemFreeAsync);
    (void)stream;
    return free_async(address);
}

FAKE_EXPORT cu_result cuMemFreeAsync_ptsz(cu_address address, void *stream)
{
    BEGIN(cuMemFreeAsync_ptsz);
    (void)stream;
    return free_async(address);
}
