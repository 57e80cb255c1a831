/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "model/ids.h"

struct err;
struct intern;

/*
 * Amounts of resources as vectors of integers over one list of dimensions.
 *
 * Dimension 0 is CPU in thousandths of a core, 1 memory in bytes, 2 GPUs in billionths of a device, 3 pods. Further ones
 * are added as nodes and pods name them: MIG profiles as counts, everything else in thousandths. Integers do not drift,
 * so adding and taking away in any order ends where it began.
 */
enum { RES_CPU, RES_MEMORY, RES_GPU, RES_PODS, RES_FIXED };
enum { RES_MAX = 64 };  // dimensions; a cluster that names more is refused

#define GPU_ONE INT64_C(1000000000)
#define GPU_HUNDREDTH (GPU_ONE / 100)

static inline double gpu_to_double(int64_t amount)
{
    return (double)amount / 1e9;
}

/* Whole devices in `amount`, towards minus infinity. */
static inline int64_t gpu_floor(int64_t amount)
{
    return amount >= 0 ? amount / GPU_ONE : -((-amount + GPU_ONE - 1) / GPU_ONE);
}

struct resources {
    uint32_t count;               // dimensions in use, at least RES_FIXED
    name_id name[RES_MAX];        // "cpu", "memory", "nvidia.com/gpu", "pods", then as discovered
    int32_t mig_slices[RES_MAX];  // g of nvidia.com/mig-<g>g.<m>gb, 0 for everything else
    int32_t mig_gigabytes[RES_MAX];
};

void resources_init(struct resources *res, struct intern *names);

/*
 * The dimension of the resource called `name`, added when it is new. A name ending in "gpu" is dimension 2.
 * Fails with -ENOSPC when there are RES_MAX dimensions already.
 */
MUST_CHECK int resources_add(struct resources *res, struct intern *names, const char *name, uint32_t *ret_dim,
                             struct err *err);

/* The same without adding: false when there is none. */
bool resources_find(const struct resources *res, const struct intern *names, const char *name, uint32_t *ret_dim);

/* Devices in `v`, in billionths: whole and fractional ones plus g for each MIG slice of g. */
int64_t resources_total_gpu(const struct resources *res, const int64_t *v);

/*
 * The three resources that queues are about. Books of queues are integers in the units above; quotas, limits and shares
 * are doubles in cores/1000, bytes and devices, -1 for unlimited.
 */
enum { SHARE_CPU, SHARE_MEMORY, SHARE_GPU, SHARE_COUNT };

struct amounts {
    int64_t v[SHARE_COUNT];
};

static inline double share_to_double(int resource, int64_t amount)
{
    return resource == SHARE_GPU ? gpu_to_double(amount) : (double)amount;
}
