/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own way to look functions up, which the CUDA runtime uses for all it needs. The driver answers, with its
 * rules for versions and flags; if the pointer in its answer is one that we hook, ours takes its place. Pointers that we
 * do not hook although their name says that memory or time goes through them are counted: there should be none. */
#include "gpu/tenant/tenant.h"

#include <string.h>

/* Beginnings of names that take memory or start work. What follows may be only an ending of the usual kinds. */
static bool is_gated(const char *symbol)
{
    static const char *const stems[] = {
        "cuMemAlloc",
        "cuMemAllocPitch",
        "cuMemAllocManaged",
        "cuMemAllocAsync",
        "cuMemAllocFromPoolAsync",
        "cuMemCreate",
        "cuArrayCreate",
        "cuArray3DCreate",
        "cuMipmappedArrayCreate",
        "cuMemFree",
        "cuMemFreeAsync",
        "cuMemRelease",
        "cuLaunch",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuLaunchCooperativeKernel",
        "cuLaunchGrid",
        "cuLaunchGridAsync",
        "cuGraphLaunch",
        "cuGraphAddMemAllocNode",
        "cuCtxCreate",
        "cuDevicePrimaryCtxRetain",
        "cuMemGetInfo",
        "cuDeviceTotalMem",
    };
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        size_t len = strlen(stems[i]);
        if (strncmp(symbol, stems[i], len) == 0 && (symbol[len] == '\0' || symbol[len] == '_'))
            return true;
    }
    return false;
}

static void swap(const char *symbol, void **function)
{
    void *ours = driver_swap(*function);
    if (ours == *function && is_gated(symbol))
        ledger_count_unhooked();
    *function = ours;
}

int on_get_proc(get_proc_fn *real, const char *symbol, void **ret_function, int version, uint64_t flags)
{
    cu_result result = real(symbol, ret_function, version, flags);
    if (result == CU_SUCCESS && symbol && ret_function && *ret_function)
        swap(symbol, ret_function);
    return result;
}

int on_get_proc_v2(get_proc_v2_fn *real, const char *symbol, void **ret_function, int version, uint64_t flags,
                   int *ret_status)
{
    cu_result result = real(symbol, ret_function, version, flags, ret_status);
    if (result == CU_SUCCESS && symbol && ret_function && *ret_function)
        swap(symbol, ret_function);
    return result;
}
