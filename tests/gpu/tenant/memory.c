/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to take memory: refused at the limit with the right answer, charged and given back as it should. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

enum { PIECE_MIB = 64, MOST = 256, FREES_AT_LAUNCH = 1 };

/* One way to take pieces of memory, and how each is given back. */
struct way {
    const char *name;
    cu_result (*take)(uint64_t *ret_key);
    cu_result (*give)(uint64_t key);
};

static cu_result take_plain(uint64_t *ret_key)
{
    return CALL(cuMemAlloc_v2, mem_alloc)(ret_key, PIECE_MIB * MIB);
}

static cu_result give_plain(uint64_t key)
{
    return CALL(cuMemFree_v2, mem_free)(key);
}

static cu_result take_old(uint64_t *ret_key)
{
    unsigned address = (unsigned)*ret_key;
    cu_result result = CALL(cuMemAlloc, mem_alloc_v1)(&address, PIECE_MIB * MIB);
    *ret_key = result == CU_SUCCESS ? address : *ret_key;
    return result;
}

static cu_result give_old(uint64_t key)
{
    return CALL(cuMemFree, mem_free_v1)((unsigned)key);
}

static cu_result take_pitched(uint64_t *ret_key)
{
    size_t pitch = 77;
    cu_result result = CALL(cuMemAllocPitch_v2, mem_alloc_pitch)(ret_key, &pitch, 65536 - 100, 1024, 4);
    if (result != CU_SUCCESS && pitch != 77)
        check(false, "a refused call leaves the pitch alone");
    return result;
}

static cu_result take_managed(uint64_t *ret_key)
{
    return CALL(cuMemAllocManaged, mem_alloc_managed)(ret_key, PIECE_MIB * MIB, 1);
}

static cu_result take_array(uint64_t *ret_key)
{
    struct cu_array_descriptor shape = {.width = 4096, .height = 4096, .format = 0x20, .channels = 1};
    return CALL(cuArrayCreate_v2, array_create)((void **)ret_key, &shape);
}

static cu_result take_array3d(uint64_t *ret_key)
{
    struct cu_array3d_descriptor shape = {.width = 1024, .height = 1024, .depth = 16, .format = 0x20, .channels = 1};
    return CALL(cuArray3DCreate_v2, array3d_create)((void **)ret_key, &shape);
}

static cu_result take_mipmapped(uint64_t *ret_key)
{
    struct cu_array3d_descriptor shape = {.width = 4096, .height = 4096, .format = 0x20, .channels = 1};
    return CALL(cuMipmappedArrayCreate, mipmapped_create)((void **)ret_key, &shape, 1);
}

static cu_result give_array(uint64_t key)
{
    return CALL(cuArrayDestroy, array_destroy)((void *)(uintptr_t)key);
}

static cu_result give_mipmapped(uint64_t key)
{
    return CALL(cuMipmappedArrayDestroy, array_destroy)((void *)(uintptr_t)key);
}

static cu_result take_handle(uint64_t *ret_key)
{
    struct cu_allocation_prop prop = {.type = 1, .location = {CU_LOCATION_DEVICE, 0}};
    return CALL(cuMemCreate, vmm_create)(ret_key, PIECE_MIB * MIB, &prop, 0);
}

static cu_result give_handle(uint64_t key)
{
    return CALL(cuMemRelease, vmm_release)(key);
}

static cu_result take_pooled(uint64_t *ret_key)
{
    return CALL(cuMemAllocAsync, pool_alloc)(ret_key, PIECE_MIB * MIB, NULL);
}

static cu_result take_pooled_thread(uint64_t *ret_key)
{
    return CALL(cuMemAllocAsync_ptsz, pool_alloc)(ret_key, PIECE_MIB * MIB, NULL);
}

static cu_result take_from_pool(uint64_t *ret_key)
{
    static void *pool;
    struct cu_pool_props props = {.allocation_type = 1, .location = {CU_LOCATION_DEVICE, 0}};
    if (!pool && CALL(cuMemPoolCreate, pool_create)(&pool, &props) != CU_SUCCESS)
        return CU_UNKNOWN;
    return CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(ret_key, PIECE_MIB * MIB, pool, NULL);
}

static cu_result give_pooled(uint64_t key)
{
    return CALL(cuMemFreeAsync, pool_free)(key, NULL);
}

static const struct way ways[] = {
    {"cuMemAlloc_v2", take_plain, give_plain},
    {"cuMemAlloc", take_old, give_old},
    {"cuMemAllocPitch_v2", take_pitched, give_plain},
    {"cuMemAllocManaged", take_managed, give_plain},
    {"cuArrayCreate_v2", take_array, give_array},
    {"cuArray3DCreate_v2", take_array3d, give_array},
    {"cuMipmappedArrayCreate", take_mipmapped, give_mipmapped},
    {"cuMemCreate", take_handle, give_handle},
    {"cuMemAllocAsync", take_pooled, give_pooled},
    {"cuMemAllocAsync_ptsz", take_pooled_thread, give_pooled},
    {"cuMemAllocFromPoolAsync", take_from_pool, give_pooled},
    {"cuMemAllocAsync and cuMemFree", take_pooled, give_plain},
};

/* Takes until it is refused. */
static void fill(const struct way *way, uint64_t limit)
{
    const uint64_t mark = 0x5a5a5a5a;
    uint64_t keys[MOST], before = told_free(), refused = mark;
    int count = 0;
    cu_result result = CU_SUCCESS;
    while (count < MOST && (result = way->take(&keys[count])) == CU_SUCCESS)
        count++;
    check_equal((uint64_t)result, CU_OUT_OF_MEMORY, "%s is refused with the code for no memory", way->name);
    check_equal((uint64_t)count, before / (PIECE_MIB * MIB), "%s gives as many pieces as fit", way->name);
    uint64_t held = truth();
    printf("# %s: %d pieces, %llu MiB charged of %llu, the device holds %llu\n", way->name, count,
           (unsigned long long)((limit - told_free()) / MIB), (unsigned long long)(limit / MIB),
           (unsigned long long)(held / MIB));
    /* A real device's own needs are known to the daemon of the tests only roughly. */
    check(held <= limit + (is_real() ? limit / 100 : 0), "%s does not let the device hold more than the limit",
          way->name);
    check(told_free() < PIECE_MIB * MIB, "%s has used up what is free", way->name);
    (void)way->take(&refused);
    check_equal(refused, mark, "%s leaves its result alone when refused", way->name);
    for (int i = 0; i < count; i++)
        result = way->give(keys[i]) == CU_SUCCESS ? result : CU_UNKNOWN;
    check(result == CU_OUT_OF_MEMORY, "%s: all is given back", way->name);
    CALL(cuCtxSynchronize, sync_stream)(NULL);
    check_equal(told_free(), before, "%s leaves nothing charged", way->name);
}

static void limits(void)
{
    begin();
    uint64_t limit = told_total();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        uint64_t key = 0;
        /* Today's devices have no addresses that fit into the first interface. */
        if (is_real() && ways[i].take == take_old)
            check_equal((uint64_t)take_old(&key), CU_INVALID_CONTEXT, "cuMemAlloc is the driver's to refuse");
        else
            fill(&ways[i], limit);
    }
}

static void info(void)
{
    begin();
    uint64_t limit = strtoull(getenv("TEST_LIMIT"), NULL, 10);
    size_t total = 0, free_bytes = 0;
    uint64_t address = 0;
    check_equal(told_total(), limit, "cuMemGetInfo says the limit");
    check(CALL(cuDeviceTotalMem_v2, total_mem)(&total, 0) == CU_SUCCESS && total == limit,
          "cuDeviceTotalMem says the limit");
    check(CALL(cuMemGetInfo_v2, mem_info)(NULL, NULL) == CU_SUCCESS, "asking for nothing is nothing wrong");
    (void)CALL(cuMemAlloc_v2, mem_alloc)(&address, 100 * MIB);
    (void)CALL(cuMemGetInfo_v2, mem_info)(&free_bytes, &total);

    nvml_result (*start)(void) = (nvml_result(*)(void))nvml("nvmlInit_v2");
    nvml_result (*get)(unsigned, void **) = (nvml_result(*)(unsigned, void **))nvml("nvmlDeviceGetHandleByIndex_v2");
    struct nvml_memory memory = {0};
    struct nvml_memory_v2 memory2 = {.version = NVML_MEMORY_V2};
    void *device = NULL;
    check(start() == NVML_SUCCESS && get(0, &device) == NVML_SUCCESS, "NVML begins");
    check(((nvml_memory_fn *)nvml("nvmlDeviceGetMemoryInfo"))(device, &memory) == NVML_SUCCESS, "NVML says memory");
    check(((nvml_memory_v2_fn *)nvml("nvmlDeviceGetMemoryInfo_v2"))(device, &memory2) == NVML_SUCCESS,
          "NVML says memory, second version");
    check_equal(memory.total, limit, "NVML says the limit");
    check_equal(memory.free, free_bytes, "NVML and CUDA say the same is free");
    check_equal(memory.used, limit - free_bytes, "NVML says what is used");
    check_equal(memory2.total, limit, "NVML says the limit, second version");
    check_equal(memory2.free, free_bytes, "NVML and CUDA say the same is free, second version");
    struct nvml_process list[16];
    unsigned count = 16;
    check(((nvml_processes_fn *)nvml("nvmlDeviceGetComputeRunningProcesses_v3"))(device, &count, list) ==
                  NVML_SUCCESS &&
              count == 1 && list[0].pid == (unsigned)getpid(),
          "NVML lists this process, by its own number, and no other");
}

static void vmm(void)
{
    struct cu_allocation_prop prop = {.type = 1, .location = {CU_LOCATION_DEVICE, 0}};
    struct cu_allocation_prop host = {.type = 1, .location = {CU_LOCATION_HOST_NUMA, 0}};
    cu_result (*reserve)(cu_address *, size_t, size_t, cu_address, unsigned long long) =
        (cu_result(*)(cu_address *, size_t, size_t, cu_address, unsigned long long))cuda("cuMemAddressReserve");
    cu_handle handle = 0, second = 0, third = 0;
    cu_address range = 0;
    begin();
    uint64_t before = told_free();
    check(CALL(cuMemCreate, vmm_create)(&handle, 64 * MIB, &host, 0) == CU_SUCCESS, "host memory by handle");
    check_equal(told_free(), before, "host memory is not charged");
    (void)CALL(cuMemRelease, vmm_release)(handle);

    check(CALL(cuMemCreate, vmm_create)(&handle, 64 * MIB, &prop, 0) == CU_SUCCESS, "device memory by handle");
    check_equal(told_free(), before - 64 * MIB, "a handle is charged");
    (void)reserve(&range, 256 * MIB, 0, 0, 0);
    check(CALL(cuMemMap, vmm_map)(range, 64 * MIB, 0, handle, 0) == CU_SUCCESS, "it is mapped");
    check(CALL(cuMemRelease, vmm_release)(handle) == CU_SUCCESS, "the handle is released");
    check_equal(told_free(), before - 64 * MIB, "what is mapped stays charged");
    check(CALL(cuMemRetainAllocationHandle, vmm_retain)(&second, (void *)(uintptr_t)(range + 8 * MIB)) == CU_SUCCESS,
          "a handle is taken again by an address in the middle");
    check(CALL(cuMemUnmap, vmm_unmap)(range, 64 * MIB) == CU_SUCCESS, "it is unmapped");
    check_equal(told_free(), before - 64 * MIB, "what has a handle stays charged");
    check(CALL(cuMemRelease, vmm_release)(second) == CU_SUCCESS, "that handle is released");
    check_equal(told_free(), before, "the memory is given back with the last reference");

    (void)CALL(cuMemCreate, vmm_create)(&handle, 64 * MIB, &prop, 0);
    (void)CALL(cuMemCreate, vmm_create)(&third, 64 * MIB, &prop, 0);
    (void)CALL(cuMemMap, vmm_map)(range, 64 * MIB, 0, handle, 0);
    (void)CALL(cuMemMap, vmm_map)(range + 64 * MIB, 64 * MIB, 0, third, 0);
    (void)CALL(cuMemRelease, vmm_release)(handle);
    (void)CALL(cuMemRelease, vmm_release)(third);
    check(CALL(cuMemUnmap, vmm_unmap)(range, 128 * MIB) == CU_SUCCESS, "two mappings go at once");
    check_equal(told_free(), before, "both are given back");
    (void)CALL(cuMemCreate, vmm_create)(&handle, 64 * MIB, &prop, 0);
    (void)CALL(cuMemMap, vmm_map)(range, 64 * MIB, 0, handle, 0);
    (void)CALL(cuMemRelease, vmm_release)(handle);
    /* Real drivers refuse a size that is not what was mapped, or, the newer ones, unmap what is in there, as the fake does. */
    cu_result judged = CALL(cuMemUnmap, vmm_unmap)(range, (size_t)1 << 62);
    check(judged == CU_SUCCESS || (is_real() && judged == CU_INVALID_VALUE),
          "a size beyond all memory is the driver's to judge");
    (void)(judged != CU_SUCCESS && CALL(cuMemUnmap, vmm_unmap)(range, 64 * MIB));
    check_equal(told_free(), before, "and what went is given back");
    check(is_real() || CALL(cuMemRelease, vmm_release)(12345) != CU_SUCCESS,
          "an unknown handle is the driver's to refuse");
    check(is_real() || CALL(cuMemUnmap, vmm_unmap)(range, 128 * MIB) != CU_SUCCESS,
          "an unknown mapping is the driver's to refuse");
    check_equal(told_free(), before, "neither changes the account");
}

static void pools(void)
{
    begin();
    uint64_t before = told_free(), threshold = UINT64_MAX, first = 0, second = 0;
    struct cu_pool_props props = {.allocation_type = 1, .location = {CU_LOCATION_DEVICE, 0}};
    void *pool = NULL;
    cu_result (*set)(void *, int, void *) = (cu_result(*)(void *, int, void *))cuda("cuMemPoolSetAttribute");
    check(CALL(cuMemPoolCreate, pool_create)(&pool, &props) == CU_SUCCESS, "a pool is made");
    (void)set(pool, CU_POOL_RELEASE_THRESHOLD, &threshold);
    check(CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&first, 10 * MIB, pool, NULL) == CU_SUCCESS,
          "it gives memory");
    check_equal(told_free(), before - 32 * MIB, "what the pool has reserved is charged, not what was asked");
    check(CALL(cuMemFreeAsync, pool_free)(first, NULL) == CU_SUCCESS, "it takes memory back");
    CALL(cuCtxSynchronize, sync_stream)(NULL);
    check_equal(told_free(), before - 32 * MIB, "what the pool keeps stays charged");
    check(CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&first, 20 * MIB, pool, NULL) == CU_SUCCESS,
          "it gives it again");
    check_equal(told_free(), before - 32 * MIB, "what fits into the pool costs nothing more");
    (void)CALL(cuMemFreeAsync, pool_free)(first, NULL);
    check(CALL(cuMemPoolTrimTo, pool_trim)(pool, 0) == CU_SUCCESS, "the pool is trimmed");
    check_equal(told_free(), before, "what it let go of is given back");

    (void)CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&first, 10 * MIB, pool, NULL);
    (void)CALL(cuMemFreeAsync, pool_free)(first, NULL);
    check(CALL(cuMemAlloc_v2, mem_alloc)(&second, before - 16 * MIB) == CU_SUCCESS,
          "what lies unused in a pool is given up for other memory");
    (void)CALL(cuMemFree_v2, mem_free)(second);

    (void)CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&first, 10 * MIB, pool, NULL);
    check(CALL(cuMemPoolDestroy, pool_destroy)(pool) == CU_SUCCESS, "the pool is destroyed");
    check_equal(told_free(), before - 32 * MIB, "what is in use outlives its pool");
    check(CALL(cuMemFreeAsync, pool_free)(first, NULL) == CU_SUCCESS, "it is freed");
    check_equal(told_free(), before, "the charge goes with the last allocation");
    check(CALL(cuMemFreeAsync, pool_free)(0x1234000, NULL) != CU_SUCCESS,
          "an unknown pointer is the driver's to refuse");
}

static void contexts(void)
{
    void *ctx = NULL;
    uint64_t address = 0;
    begin();
    uint64_t before = told_free();
    check(CALL(cuCtxCreate_v2, ctx_create)(&ctx, 0, 0) == CU_SUCCESS, "a second context is made");
    check(told_free() < before, "it is charged");
    (void)CALL(cuMemAlloc_v2, mem_alloc)(&address, 100 * MIB);
    check(CALL(cuCtxDestroy_v2, ctx_destroy)(ctx) == CU_SUCCESS, "it is destroyed with memory in it");
    check_equal(told_free(), before, "its own charge and its memory are given back");
    (void)CALL(cuMemAlloc_v2, mem_alloc)(&address, 100 * MIB);
    check(CALL(cuDevicePrimaryCtxReset_v2, primary_reset)(0) == CU_SUCCESS, "the primary context is reset");
    check(primary() != NULL, "and made again");
    check_equal(told_free(), before, "nothing of it stays charged");
    check(CALL(cuMemFree_v2, mem_free)(address) != CU_SUCCESS, "its memory is gone");
    check_equal(told_free(), before, "freeing it late changes nothing");
}

static void graphs(void)
{
    cu_result (*create)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuGraphCreate");
    cu_result (*make_stream)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuStreamCreate");
    cu_result (*end)(void *, void **) = (cu_result(*)(void *, void **))cuda("cuStreamEndCapture");
    cu_result (*nodes)(void *, void **, size_t *) = (cu_result(*)(void *, void **, size_t *))cuda("cuGraphGetNodes");
    struct cu_mem_alloc_node node = {.props = {.allocation_type = 1, .location = {CU_LOCATION_DEVICE, 0}},
                                     .bytes = 128 * MIB};
    void *graph = NULL, *exec = NULL, *added = NULL, *stream = NULL;
    uint64_t address = 0;
    begin();
    uint64_t before = told_free();
    check(create(&graph, 0) == CU_SUCCESS &&
              CALL(cuGraphAddMemAllocNode, graph_add_alloc)(&added, graph, NULL, 0, &node) == CU_SUCCESS &&
              CALL(cuGraphInstantiateWithFlags, graph_make_flags)(&exec, graph, FREES_AT_LAUNCH) == CU_SUCCESS,
          "a graph with memory is made");
    check_equal(told_free(), before, "it costs nothing yet");
    check(CALL(cuGraphLaunch, graph_launch)(exec, NULL) == CU_SUCCESS, "it runs");
    check_equal(told_free(), before - 128 * MIB, "its memory is charged");
    check(CALL(cuGraphLaunch, graph_launch)(exec, NULL) == CU_SUCCESS, "it runs again");
    check_equal(told_free(), before - 128 * MIB, "and is charged once");
    /* What a graph has allocated and not freed belongs to the program. */
    check(!is_real() || CALL(cuMemFree_v2, mem_free)(node.address) == CU_SUCCESS, "its memory is freed");
    check(CALL(cuGraphExecDestroy, graph_exec_destroy)(exec) == CU_SUCCESS &&
              CALL(cuDeviceGraphMemTrim, graph_trim)(0) == CU_SUCCESS,
          "it is destroyed and its memory trimmed");
    check_equal(told_free(), before, "which gives it back");

    node.bytes = before + 64 * MIB;
    (void)create(&graph, 0);
    (void)CALL(cuGraphAddMemAllocNode, graph_add_alloc)(&added, graph, NULL, 0, &node);
    (void)CALL(cuGraphInstantiate_v2, graph_make)(&exec, graph, NULL, NULL, 0);
    check_equal((uint64_t)CALL(cuGraphLaunch, graph_launch)(exec, NULL), CU_OUT_OF_MEMORY,
                "a graph that does not fit is refused");
    check_equal((uint64_t)CALL(cuGraphUpload, graph_upload)(exec, NULL), CU_OUT_OF_MEMORY, "and so is its upload");
    check_equal(told_free(), before, "which costs nothing");

    size_t count = 0;
    unsigned us = 10;
    void *params[] = {&us};
    (void)make_stream(&stream, 0);
    check(CALL(cuStreamBeginCapture_v2, capture_begin)(stream, 0) == CU_SUCCESS, "a capture begins");
    for (int i = 0; i < 3; i++)
        (void)CALL(cuLaunchKernel, launch_kernel)(spin_function(), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
    (void)CALL(cuMemAllocAsync, pool_alloc)(&address, 64 * MIB, stream);
    check_equal(told_free(), before, "an allocation into a capture costs nothing yet");
    check(end(stream, &graph) == CU_SUCCESS && nodes(graph, NULL, &count) == CU_SUCCESS, "the capture ends");
    check_equal(count, 4, "nothing was put into the capture that the program did not");
    uint64_t instantiation[4] = {0};
    check(CALL(cuGraphInstantiateWithParams, graph_make_params)(&exec, graph, instantiation) == CU_SUCCESS &&
              CALL(cuGraphLaunch, graph_launch)(exec, stream) == CU_SUCCESS,
          "the captured graph runs");
    check_equal(told_free(), before - 64 * MIB, "and its memory is charged");
}

/* Missing arguments are the driver's to refuse, and faults of the driver leave nothing charged. */
static void nulls(void)
{
    begin();
    uint64_t before = told_free(), address = 0;
    check(CALL(cuMemAlloc_v2, mem_alloc)(NULL, MIB) == CU_INVALID_VALUE, "cuMemAlloc without a result");
    check(CALL(cuMemAlloc_v2, mem_alloc)(&address, 0) == CU_INVALID_VALUE, "cuMemAlloc of nothing");
    check(CALL(cuMemAllocPitch_v2, mem_alloc_pitch)(NULL, NULL, 1, 1, 4) == CU_INVALID_VALUE, "cuMemAllocPitch");
    check(CALL(cuMemAllocManaged, mem_alloc_managed)(NULL, MIB, 1) == CU_INVALID_VALUE, "cuMemAllocManaged");
    check(CALL(cuArrayCreate_v2, array_create)(NULL, NULL) == CU_INVALID_VALUE, "cuArrayCreate");
    check(CALL(cuArray3DCreate_v2, array3d_create)(NULL, NULL) == CU_INVALID_VALUE, "cuArray3DCreate");
    check(CALL(cuMipmappedArrayCreate, mipmapped_create)(NULL, NULL, 1) == CU_INVALID_VALUE, "cuMipmappedArrayCreate");
    check(CALL(cuMemCreate, vmm_create)(NULL, MIB, NULL, 0) == CU_INVALID_VALUE, "cuMemCreate");
    check(CALL(cuMemAllocAsync, pool_alloc)(NULL, MIB, NULL) == CU_INVALID_VALUE, "cuMemAllocAsync");
    check(CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(NULL, MIB, NULL, NULL) == CU_INVALID_VALUE,
          "cuMemAllocFromPoolAsync");
    check(CALL(cuMemPoolCreate, pool_create)(NULL, NULL) == CU_INVALID_VALUE, "cuMemPoolCreate");
    check(CALL(cuMemRetainAllocationHandle, vmm_retain)(NULL, NULL) == CU_INVALID_VALUE, "cuMemRetainAllocationHandle");
    check(CALL(cuGraphInstantiateWithFlags, graph_make_flags)(NULL, NULL, 0) == CU_INVALID_VALUE, "cuGraphInstantiate");
    check(CALL(cuGraphAddNode_v2, graph_add_v2)(NULL, NULL, NULL, NULL, 0, NULL) == CU_INVALID_VALUE, "cuGraphAddNode");
    check(CALL(cuLaunchKernelEx, launch_ex)(NULL, NULL, NULL, NULL) == CU_INVALID_VALUE, "cuLaunchKernelEx");
    check(CALL(cuDevicePrimaryCtxRetain, primary_retain)(NULL, 0) == CU_INVALID_VALUE, "cuDevicePrimaryCtxRetain");
    check(CALL(cuCtxCreate_v4, ctx_create_v4)(NULL, NULL, 0, 0) == CU_INVALID_VALUE, "cuCtxCreate");
    check(CALL(cuMemFree_v2, mem_free)(0) == CU_SUCCESS, "cuMemFree of nothing");
    check(CALL(cuMemFree_v2, mem_free)(0x4242424242) != CU_SUCCESS, "cuMemFree of what is unknown");
    check(CALL(cuCheckpointProcessLock, checkpoint)(1, NULL) == CU_NOT_PERMITTED, "checkpoints are not for tenants");
    check_equal(told_free(), before, "none of this is charged");
}

/* With FAKE_GPU_FAULT: the driver itself fails. */
static void faults(void)
{
    begin();
    uint64_t before = told_free(), key = 99;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        key = 99;
        cu_result result = ways[i].take(&key);
        check_equal((uint64_t)result, 719, "%s: the driver's own error comes through", ways[i].name);
    }
    check_equal(told_free(), before, "what the driver refused is not charged");
}

const struct test_case memory_cases[] = {
    {"limits", limits}, {"info", info},   {"vmm", vmm},       {"pools", pools}, {"contexts", contexts},
    {"graphs", graphs}, {"nulls", nulls}, {"faults", faults}, {NULL, NULL},
};
