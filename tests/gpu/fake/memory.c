/* SPDX-License-Identifier: Apache-2.0 */
/* Memory by pointer, arrays, and physical memory by handle. */
#include "exports.h"

static cu_result allocate(uint64_t *ret_address, uint64_t bytes, enum fake_memory memory)
{
    fake_lock();
    struct fake_object *ctx = fake_current();
    cu_result result = CU_SUCCESS;
    uint64_t taken = fake_rounded(bytes);
    if (!ctx)
        result = CU_INVALID_CONTEXT;
    else if (!ret_address || bytes == 0)
        result = CU_INVALID_VALUE;
    else if (bytes > UINT64_C(1) << 48 || !fake_take(ctx->gpu, taken))
        result = CU_OUT_OF_MEMORY;
    else
        *ret_address = fake_add_range(fake_new_address(bytes), taken, memory, ctx)->address;
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuMemAlloc_v2(cu_address *ret_address, size_t bytes)
{
    BEGIN(cuMemAlloc_v2);
    return allocate(ret_address, bytes, FAKE_PLAIN);
}

/* The first interface has addresses of 32 bits; the pretended one keeps them apart by their own numbers. */
static unsigned short_address(uint64_t address)
{
    return (unsigned)(address >> 9);
}

static struct fake_range *find_short(unsigned address)
{
    struct fake_range *range = fake_ranges;
    while (range && short_address(range->address) != address)
        range = range->next;
    return range;
}

FAKE_EXPORT cu_result cuMemAlloc(unsigned *ret_address, unsigned bytes)
{
    uint64_t address = 0;
    BEGIN(cuMemAlloc);
    cu_result result = allocate(ret_address ? &address : NULL, bytes, FAKE_PLAIN);
    if (result == CU_SUCCESS)
        *ret_address = short_address(address);
    return result;
}

FAKE_EXPORT cu_result cuMemAllocManaged(cu_address *ret_address, size_t bytes, unsigned flags)
{
    BEGIN(cuMemAllocManaged);
    (void)flags;
    return allocate(ret_address, bytes, FAKE_MANAGED);
}

FAKE_EXPORT cu_result cuMemAllocPitch_v2(cu_address *ret_address, size_t *ret_pitch, size_t width, size_t height,
                                         unsigned element)
{
    BEGIN(cuMemAllocPitch_v2);
    (void)element;
    if (!ret_pitch || width == 0 || height == 0)
        return CU_INVALID_VALUE;
    size_t pitch = (width + 511) / 512 * 512;
    cu_result result = allocate(ret_address, pitch * height, FAKE_PLAIN);
    if (result == CU_SUCCESS)
        *ret_pitch = pitch;
    return result;
}

FAKE_EXPORT cu_result cuMemAllocPitch(unsigned *ret_address, unsigned *ret_pitch, unsigned width, unsigned height,
                                      unsigned element)
{
    BEGIN(cuMemAllocPitch);
    (void)element;
    uint64_t address = 0;
    if (!ret_pitch || width == 0 || height == 0)
        return CU_INVALID_VALUE;
    unsigned pitch = (width + 511) / 512 * 512;
    cu_result result = allocate(ret_address ? &address : NULL, (uint64_t)pitch * height, FAKE_PLAIN);
    if (result == CU_SUCCESS) {
        *ret_address = short_address(address);
        *ret_pitch = pitch;
    }
    return result;
}

static cu_result give(struct fake_range *range)
{
    if (!range || range->memory == FAKE_MAPPED)
        return CU_INVALID_VALUE;
    if (range->memory == FAKE_POOLED) {
        fake_pool_free(range);
        return CU_SUCCESS;
    }
    fake_give(range->gpu, range->bytes);
    fake_remove_range(range);
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuMemFree_v2(cu_address address)
{
    BEGIN(cuMemFree_v2);
    if (address == 0)
        return CU_SUCCESS;
    fake_lock();
    cu_result result = give(fake_find_range(address));
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuMemFree(unsigned address)
{
    BEGIN(cuMemFree);
    fake_lock();
    cu_result result = give(find_short(address));
    fake_unlock();
    return result;
}

static cu_result make_array(void **ret_array, uint64_t width, uint64_t height, uint64_t depth, unsigned channels,
                            unsigned flags, unsigned levels)
{
    uint64_t bytes = 0;
    fake_lock();
    struct fake_object *ctx = fake_current();
    cu_result result = CU_SUCCESS;
    for (unsigned i = 0; i < levels; i++) {
        uint64_t w = width >> i ? width >> i : 1, h = height >> i ? height >> i : 1, d = depth >> i ? depth >> i : 1;
        bytes += w * 4 * (channels ? channels : 1) * h * d;
    }
    bytes = flags & (CU_ARRAY_SPARSE | CU_ARRAY_DEFERRED) ? 0 : (bytes + 65535) / 65536 * 65536;
    if (!ctx)
        result = CU_INVALID_CONTEXT;
    else if (!ret_array || width == 0)
        result = CU_INVALID_VALUE;
    else if (!fake_take(ctx->gpu, bytes))
        result = CU_OUT_OF_MEMORY;
    if (result == CU_SUCCESS) {
        struct fake_object *array = fake_new(FAKE_ARRAY, ctx->gpu);
        array->ctx = ctx;
        array->bytes = bytes;
        *ret_array = array;
    }
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuArrayCreate(void **ret_array, const struct cu_array_descriptor_v1 *shape)
{
    BEGIN(cuArrayCreate);
    return shape ? make_array(ret_array, shape->width, shape->height, 0, shape->channels, 0, 1) : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuArrayCreate_v2(void **ret_array, const struct cu_array_descriptor *shape)
{
    BEGIN(cuArrayCreate_v2);
    return shape ? make_array(ret_array, shape->width, shape->height, 0, shape->channels, 0, 1) : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuArray3DCreate(void **ret_array, const struct cu_array3d_descriptor_v1 *shape)
{
    BEGIN(cuArray3DCreate);
    return shape ? make_array(ret_array, shape->width, shape->height, shape->depth, shape->channels, shape->flags, 1)
                 : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuArray3DCreate_v2(void **ret_array, const struct cu_array3d_descriptor *shape)
{
    BEGIN(cuArray3DCreate_v2);
    return shape ? make_array(ret_array, shape->width, shape->height, shape->depth, shape->channels, shape->flags, 1)
                 : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMipmappedArrayCreate(void **ret_array, const struct cu_array3d_descriptor *shape,
                                             unsigned levels)
{
    BEGIN(cuMipmappedArrayCreate);
    return shape && levels > 0
               ? make_array(ret_array, shape->width, shape->height, shape->depth, shape->channels, shape->flags, levels)
               : CU_INVALID_VALUE;
}

static cu_result destroy_array(void *handle)
{
    fake_lock();
    struct fake_object *array = fake_get(handle, FAKE_ARRAY);
    if (array && !array->is_dead)
        fake_give(array->gpu, array->bytes);
    if (array)
        fake_delete(array);
    fake_unlock();
    return array ? CU_SUCCESS : CU_INVALID_HANDLE;
}

FAKE_EXPORT cu_result cuArrayDestroy(void *array)
{
    BEGIN(cuArrayDestroy);
    return destroy_array(array);
}

FAKE_EXPORT cu_result cuMipmappedArrayDestroy(void *array)
{
    BEGIN(cuMipmappedArrayDestroy);
    return destroy_array(array);
}

/* Physical memory: it goes when neither handles nor mappings are left. */
static void drop_block(struct fake_object *block)
{
    if (block->references > 0 || block->mappings > 0)
        return;
    fake_drop_content(block);
    if (block->gpu >= 0)
        fake_give(block->gpu, block->bytes);
    fake_delete(block);
}

FAKE_EXPORT cu_result cuMemCreate(cu_handle *ret_handle, size_t bytes, const struct cu_allocation_prop *prop,
                                  unsigned long long flags)
{
    BEGIN(cuMemCreate);
    (void)flags;
    const uint64_t page = UINT64_C(2) << 20;
    if (!ret_handle || !prop || bytes == 0 || bytes % page)
        return CU_INVALID_VALUE;
    int gpu = prop->location.type == CU_LOCATION_DEVICE          ? prop->location.id
              : prop->location.type == CU_LOCATION_DEVICE_DOMAIN ? prop->location.id & 0xff
                                                                 : -1;
    fake_lock();
    bool is_there = gpu < 0 || fake_take(gpu, bytes);
    if (is_there) {
        struct fake_object *block = fake_new(FAKE_BLOCK, gpu);
        block->bytes = bytes;
        block->references = 1;
        *ret_handle = (cu_handle)(uintptr_t)block;
    }
    fake_unlock();
    return is_there ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

FAKE_EXPORT cu_result cuMemRelease(cu_handle handle)
{
    BEGIN(cuMemRelease);
    fake_lock();
    struct fake_object *block = fake_get((void *)(uintptr_t)handle, FAKE_BLOCK);
    bool is_fine = block && block->references > 0;
    if (is_fine) {
        block->references--;
        drop_block(block);
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemAddressReserve(cu_address *ret_address, size_t bytes, size_t alignment, cu_address wish,
                                          unsigned long long flags)
{
    BEGIN(cuMemAddressReserve);
    (void)alignment;
    (void)wish;
    (void)flags;
    if (!ret_address || bytes == 0)
        return CU_INVALID_VALUE;
    fake_lock();
    *ret_address = fake_new_address(bytes);
    fake_reserve(*ret_address, bytes);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuMemAddressFree(cu_address address, size_t bytes)
{
    BEGIN(cuMemAddressFree);
    (void)bytes;
    fake_lock();
    (void)fake_unreserve(address);
    fake_unlock();
    return address ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemMap(cu_address address, size_t bytes, size_t offset, cu_handle handle,
                               unsigned long long flags)
{
    BEGIN(cuMemMap);
    (void)flags;
    fake_lock();
    struct fake_object *block = fake_get((void *)(uintptr_t)handle, FAKE_BLOCK);
    bool is_fine = block && address && !fake_find_range(address) && offset + bytes <= block->bytes;
    if (is_fine) {
        fake_add_range(address, bytes, FAKE_MAPPED, block);
        block->mappings++;
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemSetAccess(cu_address address, size_t bytes, const void *access, size_t count)
{
    BEGIN(cuMemSetAccess);
    (void)bytes;
    (void)count;
    return address && access ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemUnmap(cu_address address, size_t bytes)
{
    BEGIN(cuMemUnmap);
    bool found = false;
    fake_lock();
    struct fake_range *next;
    for (struct fake_range *range = fake_ranges; range; range = next) {
        next = range->next;
        if (range->memory != FAKE_MAPPED || range->address - address >= bytes)
            continue;
        struct fake_object *block = range->of;
        fake_remove_range(range);
        block->mappings--;
        drop_block(block);
        found = true;
    }
    fake_unlock();
    return found ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuMemRetainAllocationHandle(cu_handle *ret_handle, void *address)
{
    BEGIN(cuMemRetainAllocationHandle);
    fake_lock();
    struct fake_range *range = fake_ranges;
    while (range && (range->memory != FAKE_MAPPED || (uint64_t)(uintptr_t)address - range->address >= range->bytes))
        range = range->next;
    bool is_fine = ret_handle && range;
    if (is_fine) {
        range->of->references++;
        *ret_handle = (cu_handle)(uintptr_t)range->of;
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

static cu_result map_array(const struct cu_array_map *pieces, unsigned count)
{
    if (!pieces || count == 0)
        return CU_INVALID_VALUE;
    fake_lock();
    for (unsigned i = 0; i < count; i++) {
        struct fake_object *block = fake_get((void *)(uintptr_t)pieces[i].handle, FAKE_BLOCK);
        if (block && pieces[i].operation == CU_MAP_OPERATION_MAP)
            block->mappings++;
    }
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuMemMapArrayAsync(struct cu_array_map *pieces, unsigned count, void *stream)
{
    BEGIN(cuMemMapArrayAsync);
    (void)stream;
    return map_array(pieces, count);
}

FAKE_EXPORT cu_result cuMemMapArrayAsync_ptsz(struct cu_array_map *pieces, unsigned count, void *stream)
{
    BEGIN(cuMemMapArrayAsync_ptsz);
    (void)stream;
    return map_array(pieces, count);
}
