/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays for textures. The driver says how large one is only for those whose memory comes later, so the size is computed
 * from the shape: rows of 64 bytes, in groups of eight, as the hardware lays them out. */
#include "gpu/tenant/tenant.h"

static uint64_t element_bytes(int format, unsigned channels)
{
    static const struct {
        int format;
        unsigned bytes;  // of one channel
    } sizes[] = {{0x01, 1}, {0x02, 2}, {0x03, 4}, {0x08, 1}, {0x09, 2}, {0x0a, 4}, {0x10, 2}, {0x20, 4}};
    /* Packed, normalised and compressed formats: no element of any of them takes more than this. */
    const unsigned most = 16;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].format == format)
            return (uint64_t)sizes[i].bytes * (channels ? channels : 1);
    }
    return format >= 0xc0 && format <= 0xcb ? 8 : most;
}

static uint64_t level_bytes(const struct cu_array3d_descriptor *shape, unsigned level)
{
    uint64_t width = shape->width >> level, height = shape->height >> level, depth = shape->depth;
    uint64_t row, plane, bytes;

    /* Layers do not get fewer towards the small end of a pyramid. */
    if (!(shape->flags & (CU_ARRAY_LAYERED | CU_ARRAY_CUBEMAP)))
        depth >>= level;
    width = width ? width : 1;
    height = height ? (height + 7) / 8 * 8 : 1;
    depth = depth ? depth : 1;
    if (__builtin_mul_overflow(width, element_bytes(shape->format, shape->channels), &row) || row > UINT64_MAX - 63 ||
        __builtin_mul_overflow((row + 63) / 64 * 64, height, &plane) || __builtin_mul_overflow(plane, depth, &bytes))
        return UINT64_MAX;
    return bytes;
}

static uint64_t array_bytes(const struct cu_array3d_descriptor *shape, unsigned levels)
{
    const uint64_t page = 64 << 10;
    uint64_t sum = 0;

    if (shape->flags & (CU_ARRAY_SPARSE | CU_ARRAY_DEFERRED))
        return 0;
    for (unsigned level = 0; level < levels && level < 32; level++) {
        if (__builtin_add_overflow(sum, level_bytes(shape, level), &sum))
            return UINT64_MAX;
    }
    return sum > UINT64_MAX - page ? UINT64_MAX : (sum + page - 1) / page * page;
}

static uint64_t key_of(void *const *ret_array, cu_result result)
{
    return result == CU_SUCCESS ? (uint64_t)(uintptr_t)*ret_array : 0;
}

/* Whether the array is wanted at all, or only asked for with a missing argument: the driver says what is wrong then. */
static bool begin(struct charge *charge, void **ret_array, const struct cu_array3d_descriptor *shape, unsigned levels)
{
    return charge_begin_current(charge, ret_array && shape ? array_bytes(shape, levels) : 0);
}

int on_array_create(array_create_fn *real, void **ret_array, const struct cu_array_descriptor *flat)
{
    struct charge charge;
    struct cu_array3d_descriptor shape = {0};
    if (flat)
        shape = (struct cu_array3d_descriptor){
            .width = flat->width, .height = flat->height, .format = flat->format, .channels = flat->channels};
    if (!begin(&charge, ret_array, flat ? &shape : NULL, 1))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_array, flat);
    charge_settle(&charge, result, &tenant_tables.arrays, key_of(ret_array, result));
    return result;
}

int on_array_create_v1(array_create_v1_fn *real, void **ret_array, const struct cu_array_descriptor_v1 *flat)
{
    struct charge charge;
    struct cu_array3d_descriptor shape = {0};
    if (flat)
        shape = (struct cu_array3d_descriptor){
            .width = flat->width, .height = flat->height, .format = flat->format, .channels = flat->channels};
    if (!begin(&charge, ret_array, flat ? &shape : NULL, 1))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_array, flat);
    charge_settle(&charge, result, &tenant_tables.arrays, key_of(ret_array, result));
    return result;
}

int on_array3d_create(array3d_create_fn *real, void **ret_array, const struct cu_array3d_descriptor *shape)
{
    struct charge charge;
    if (!begin(&charge, ret_array, shape, 1))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_array, shape);
    charge_settle(&charge, result, &tenant_tables.arrays, key_of(ret_array, result));
    return result;
}

int on_array3d_create_v1(array3d_create_v1_fn *real, void **ret_array, const struct cu_array3d_descriptor_v1 *old)
{
    struct charge charge;
    struct cu_array3d_descriptor shape = {0};
    if (old)
        shape = (struct cu_array3d_descriptor){.width = old->width,
                                               .height = old->height,
                                               .depth = old->depth,
                                               .format = old->format,
                                               .channels = old->channels,
                                               .flags = old->flags};
    if (!begin(&charge, ret_array, old ? &shape : NULL, 1))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_array, old);
    charge_settle(&charge, result, &tenant_tables.arrays, key_of(ret_array, result));
    return result;
}

int on_mipmapped_create(mipmapped_create_fn *real, void **ret_array, const struct cu_array3d_descriptor *shape,
                        unsigned levels)
{
    struct charge charge;
    if (!begin(&charge, ret_array, shape, levels))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_array, shape, levels);
    charge_settle(&charge, result, &tenant_tables.arrays, key_of(ret_array, result));
    return result;
}

int on_array_destroy(array_destroy_fn *real, void *array)
{
    struct entry entry;
    bool is_ours = table_take(&tenant_tables.arrays, (uint64_t)(uintptr_t)array, &entry);
    cu_result result = real(array);
    if (is_ours && result == CU_SUCCESS)
        charge_release(&entry);
    else if (is_ours)
        (void)table_put(&tenant_tables.arrays, &entry);
    return result;
}
