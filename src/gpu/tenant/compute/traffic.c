/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills pass, and what they moved is counted, once for each call: a copy that is captured counts when it is
 * put into the graph. */
#include "gpu/tenant/link/client.h"
#include "gpu/tenant/tenant.h"

static void count(cu_result result, uint64_t bytes)
{
    if (result != CU_SUCCESS)
        return;
    /* Whoever has one GPU has copied there. */
    struct gpu_tenant_line *line = client_line(client_gpu_count() == 1 ? 0 : tenant_current_slot(NULL));
    if (line)
        atomic_fetch_add_explicit(&line->traffic_bytes, bytes, memory_order_relaxed);
}

static uint64_t sum_of(uint64_t sizes, uint64_t length)
{
    const size_t *size = (const size_t *)(uintptr_t)sizes;
    uint64_t sum = 0;
    for (uint64_t i = 0; size && i < length; i++)
        sum += size[i];
    return sum;
}

#define EXTENT(type, at) extent_of_##type((const struct type *)(uintptr_t)(at))

static uint64_t extent_of_cu_copy_2d(const struct cu_copy_2d *copy)
{
    return copy ? copy->width * copy->height : 0;
}

static uint64_t extent_of_cu_copy_2d_v1(const struct cu_copy_2d_v1 *copy)
{
    return copy ? (uint64_t)copy->width * copy->height : 0;
}

static uint64_t extent_of_cu_copy_3d(const struct cu_copy_3d *copy)
{
    return copy ? copy->width * copy->height * copy->depth : 0;
}

static uint64_t extent_of_cu_copy_3d_v1(const struct cu_copy_3d_v1 *copy)
{
    return copy ? (uint64_t)copy->width * copy->height * copy->depth : 0;
}

static uint64_t boxes_of(uint64_t list, uint64_t length)
{
    const struct cu_copy_box *box = (const struct cu_copy_box *)(uintptr_t)list;
    uint64_t sum = 0;
    for (uint64_t i = 0; box && i < length; i++)
        sum += box[i].width * box[i].height * box[i].depth;
    return sum;
}

static uint64_t over_fabric(uint64_t list, uint64_t length)
{
    const struct cu_fabric_copy *copy = (const struct cu_fabric_copy *)(uintptr_t)list;
    uint64_t sum = 0;
    for (uint64_t i = 0; copy && i < length; i++)
        sum += copy[i].bytes;
    return sum;
}

static uint64_t decompressed(uint64_t list, uint64_t length)
{
    const struct cu_decompress *part = (const struct cu_decompress *)(uintptr_t)list;
    uint64_t sum = 0;
    for (uint64_t i = 0; part && i < length; i++)
        sum += part[i].to_bytes;
    return sum;
}

#define MOVES(handler, bytes)                              \
    int on_##handler(handler##_fn *real, PARAMS_##handler) \
    {                                                      \
        cu_result result = real(ARGS_##handler);           \
        count(result, bytes);                              \
        return result;                                     \
    }

MOVES(copy3, c)
MOVES(copy4, c)
MOVES(copy5, c)
MOVES(copy3_old, (unsigned)c)
MOVES(copy4_old, (unsigned)c)
MOVES(copy_array4, d)
MOVES(copy_array5, d)
MOVES(copy_array4_old, (unsigned)d)
MOVES(copy_array5_old, (unsigned)d)
MOVES(copy_between5, e)
MOVES(copy_between6, e)
MOVES(copy_between5_old, (unsigned)e)
MOVES(copy_2d1, EXTENT(cu_copy_2d, a))
MOVES(copy_2d2, EXTENT(cu_copy_2d, a))
MOVES(copy_2d1_old, EXTENT(cu_copy_2d_v1, a))
MOVES(copy_2d2_old, EXTENT(cu_copy_2d_v1, a))
MOVES(copy_3d1, EXTENT(cu_copy_3d, a))
MOVES(copy_3d2, EXTENT(cu_copy_3d, a))
MOVES(copy_3d1_old, EXTENT(cu_copy_3d_v1, a))
MOVES(copy_3d2_old, EXTENT(cu_copy_3d_v1, a))
MOVES(copy_box3, boxes_of(a, 1))
MOVES(copy_boxes4, boxes_of(b, a))
MOVES(copy_boxes5, boxes_of(b, a))
MOVES(copy_batch8, sum_of(c, d))
MOVES(copy_batch9, sum_of(c, d))
MOVES(fabric_copy4, over_fabric(b, a))
MOVES(decompress5, decompressed(a, b))
MOVES(prefetch4, b)
MOVES(prefetch5, b)
MOVES(prefetch_batch8, sum_of(b, c))
MOVES(set1_3, c)
MOVES(set1_4, c)
MOVES(set1_3_old, (uint64_t)(unsigned)c)
MOVES(set1_5, d *e)
MOVES(set1_6, d *e)
MOVES(set1_5_old, (uint64_t)(unsigned)d *(unsigned)e)
MOVES(set2_3, c * 2)
MOVES(set2_4, c * 2)
MOVES(set2_3_old, (uint64_t)(unsigned)c * 2)
MOVES(set2_5, d *e * 2)
MOVES(set2_6, d *e * 2)
MOVES(set2_5_old, (uint64_t)(unsigned)d *(unsigned)e * 2)
MOVES(set4_3, c * 4)
MOVES(set4_4, c * 4)
MOVES(set4_3_old, (uint64_t)(unsigned)c * 4)
MOVES(set4_5, d *e * 4)
MOVES(set4_6, d *e * 4)
MOVES(set4_5_old, (uint64_t)(unsigned)d *(unsigned)e * 4)
MOVES(write4, 4)
MOVES(write8, 8)
MOVES(write_batch4, (unsigned)b *UINT64_C(8))
