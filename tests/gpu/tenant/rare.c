/* SPDX-License-Identifier: Apache-2.0 */
/* Rarer ways to take memory: contexts that are shared or green, pools of managed memory, parts of a device, graphs in
 * graphs; what grows without saying so; and what a driver of the future would bring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static cu_result set_current(void *ctx)
{
    return ((cu_result(*)(void *))cuda("cuCtxSetCurrent"))(ctx);
}

static void check_attached(void)
{
    void *ctx = NULL, *same = NULL;
    uint64_t address = 0, before = told_free();
    check(CALL(cuCtxCreate_v2, ctx_create)(&ctx, 0, 0) == CU_SUCCESS &&
              CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB) == CU_SUCCESS,
          "a context with memory");
    uint64_t with = told_free();
    check(CALL(cuCtxAttach, ctx_attach)(&same, 0) == CU_SUCCESS && same == ctx, "is attached to a second time");
    check(CALL(cuCtxDetach, ctx_detach)(ctx) == CU_SUCCESS, "and let go of");
    check_equal(told_free(), with, "which gives nothing back");
    check(CALL(cuCtxDetach, ctx_detach)(ctx) == CU_SUCCESS, "the last one lets go");
    (void)primary();
    check_equal(told_free(), before, "and context and memory are given back");
}

static void check_green(void)
{
    void *green = NULL, *ctx = NULL;
    int resources;
    uint64_t address = 0, limit = strtoull(getenv("TEST_LIMIT"), NULL, 10);
    cu_result (*from_green)(void **, void *) = (cu_result(*)(void **, void *))cuda("cuCtxFromGreenCtx");
    (void)CALL(cuDevicePrimaryCtxReset_v2, primary_reset)(0);
    check_equal(truth(), 0, "nothing is left of the primary context");
    check(CALL(cuGreenCtxCreate, green_create)(&green, &resources, 0, 1) == CU_SUCCESS, "a green context is made");
    check(from_green(&ctx, green) == CU_SUCCESS && set_current(ctx) == CU_SUCCESS, "and made current");
    uint64_t with = told_free();
    check_equal(with, limit - truth(), "the primary context that it needs is charged");
    check(CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB) == CU_SUCCESS, "memory is taken in it");
    check_equal(told_free(), with - 64 * MIB, "and charged");
    check(CALL(cuDevicePrimaryCtxRetain, primary_retain)(&ctx, 0) == CU_SUCCESS && set_current(ctx) == CU_SUCCESS,
          "the primary context has another holder");
    check(CALL(cuGreenCtxDestroy, green_destroy)(green) == CU_SUCCESS, "the green one goes");
    check_equal(told_free(), with - 64 * MIB, "its memory is still there, and charged");
    check(CALL(cuDevicePrimaryCtxRelease_v2, primary_release)(0) == CU_SUCCESS, "the last holder goes");
    check_equal(truth(), 0, "and everything with it");
    (void)primary();
    check_equal(told_free(), with, "which the account knows");
}

/* Takes 64 MiB from a pool and gives it back. */
static void check_pool(void *pool, const char *what)
{
    cu_result (*trim)(void *, size_t) = (cu_result(*)(void *, size_t))cuda("cuMemPoolTrimTo");
    uint64_t address = 0, before = told_free();
    check(CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&address, 64 * MIB, pool, NULL) == CU_SUCCESS, "%s gives",
          what);
    check_equal(told_free(), before - 64 * MIB, "and is charged");
    check(CALL(cuMemFreeAsync, pool_free)(address, NULL) == CU_SUCCESS && trim(pool, 0) == CU_SUCCESS, "it takes back");
    check_equal(told_free(), before, "and is given back");
}

static void check_pools(void)
{
    cu_result (*get)(void *, int, void *) = (cu_result(*)(void *, int, void *))cuda("cuMemPoolGetAttribute");
    cu_result (*default_at)(void **, struct cu_location *, int) =
        (cu_result(*)(void **, struct cu_location *, int))cuda("cuMemGetDefaultMemPool");
    static const struct {
        const char *what;
        struct cu_pool_props props;
    } pools[] = {
        {"a pool", {.allocation_type = CU_ALLOCATION_PINNED, .location = {CU_LOCATION_DEVICE, 0}}},
        {"a pool on a part of the device",
         {.allocation_type = CU_ALLOCATION_PINNED, .location = {CU_LOCATION_DEVICE_DOMAIN, 1 << 8}}},
        {"a pool of managed memory", {.allocation_type = CU_ALLOCATION_MANAGED, .location = {CU_LOCATION_DEVICE, 0}}},
        {"a pool of managed memory without a place", {.allocation_type = CU_ALLOCATION_MANAGED}},
    };
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        void *pool = NULL;
        check(CALL(cuMemPoolCreate, pool_create)(&pool, &pools[i].props) == CU_SUCCESS, "%s is made", pools[i].what);
        check_pool(pool, pools[i].what);
        (void)CALL(cuMemPoolDestroy, pool_destroy)(pool);
    }
    void *pool = NULL;
    struct cu_location nowhere = {CU_LOCATION_NONE, 0};
    (void)default_at(&pool, &nowhere, CU_ALLOCATION_MANAGED);
    check_pool(pool, "the default pool of managed memory");

    uint64_t size = 1;
    struct cu_pool_props props = pools[0].props;
    (void)CALL(cuMemPoolCreate, pool_create)(&pool, &props);
    check(get(pool, CU_POOL_MAX_SIZE, &size) == CU_SUCCESS && size == 0,
          "a pool may follow the limit when that is raised");
    props.max_size = 64 * MIB;
    (void)CALL(cuMemPoolCreate, pool_create)(&pool, &props);
    check(get(pool, CU_POOL_MAX_SIZE, &size) == CU_SUCCESS && size == 64 * MIB, "one that wants to be small is");
}

static void check_domain(void)
{
    struct cu_allocation_prop prop = {.type = CU_ALLOCATION_PINNED, .location = {CU_LOCATION_DEVICE_DOMAIN, 1 << 8}};
    cu_handle handle = 0;
    uint64_t before = told_free();
    check(CALL(cuMemCreate, vmm_create)(&handle, 64 * MIB, &prop, 0) == CU_SUCCESS, "memory on a part of the device");
    check_equal(told_free(), before - 64 * MIB, "is charged");
    check(CALL(cuMemRelease, vmm_release)(handle) == CU_SUCCESS, "and released");
    check_equal(told_free(), before, "and given back");
}

/* What is somebody else's is charged to them; what is our own stays charged as long as anybody here holds it. */
static void check_shared(void)
{
    cu_result (*export)(void *, cu_handle, int, unsigned long long) =
        (cu_result(*)(void *, cu_handle, int, unsigned long long))cuda("cuMemExportToShareableHandle");
    cu_result (*open)(cu_address *, struct cu_ipc_handle, unsigned) =
        (cu_result(*)(cu_address *, struct cu_ipc_handle, unsigned))cuda("cuIpcOpenMemHandle_v2");
    cu_result (*close)(cu_address) = (cu_result(*)(cu_address))cuda("cuIpcCloseMemHandle");
    cu_result (*import_pool)(void **, void *, int, unsigned long long) =
        (cu_result(*)(void **, void *, int, unsigned long long))cuda("cuMemPoolImportFromShareableHandle");
    cu_result (*import_memory)(void **, const void *) =
        (cu_result(*)(void **, const void *))cuda("cuImportExternalMemory");
    cu_result (*map_buffer)(cu_address *, void *, const void *) =
        (cu_result(*)(cu_address *, void *, const void *))cuda("cuExternalMemoryGetMappedBuffer");
    struct cu_allocation_prop prop = {.type = CU_ALLOCATION_PINNED, .location = {CU_LOCATION_DEVICE, 0}};
    cu_handle handle = 0, again = 0;
    void *shareable = NULL, *pool = NULL, *memory = NULL;
    cu_address address = 0;
    uint64_t before = told_free();

    check(CALL(cuMemCreate, vmm_create)(&handle, 64 * MIB, &prop, 0) == CU_SUCCESS &&
              export(&shareable, handle, 1, 0) == CU_SUCCESS &&
              CALL(cuMemImportFromShareableHandle, vmm_import)(&again, shareable, 1) == CU_SUCCESS,
          "memory is exported and taken back");
    check(CALL(cuMemRelease, vmm_release)(handle) == CU_SUCCESS, "one of the two handles goes");
    check_equal(told_free(), before - 64 * MIB, "and the memory stays charged");
    check(CALL(cuMemRelease, vmm_release)(again) == CU_SUCCESS, "the other goes");
    check_equal(told_free(), before, "and the memory with it");

    check(CALL(cuMemImportFromShareableHandle, vmm_import)(&handle, &prop, 1) == CU_SUCCESS,
          "memory of another process");
    check_equal(told_free(), before, "is not charged here");
    check(CALL(cuMemRelease, vmm_release)(handle) == CU_SUCCESS, "and goes");
    check(open(&address, (struct cu_ipc_handle){{0}}, 0) == CU_SUCCESS, "the same by the older interface");
    check_equal(told_free(), before, "is not charged here");
    check(close(address) == CU_SUCCESS, "and goes");
    check(import_pool(&pool, &prop, 1, 0) == CU_SUCCESS &&
              CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&address, 64 * MIB, pool, NULL) == CU_SUCCESS,
          "a pool of another process");
    check_equal(told_free(), before, "is not charged here");
    check(CALL(cuMemFreeAsync, pool_free)(address, NULL) == CU_SUCCESS, "and takes back");
    check(import_memory(&memory, &prop) == CU_SUCCESS && map_buffer(&address, memory, &prop) == CU_SUCCESS,
          "memory of another interface");
    check_equal(told_free(), before, "is not charged here");
}

static void check_graphs(void)
{
    cu_result (*create)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuGraphCreate");
    cu_result (*add_child)(void **, void *, void *const *, size_t, void *) =
        (cu_result(*)(void **, void *, void *const *, size_t, void *))cuda("cuGraphAddChildGraphNode");
    void *outer = NULL, *inner = NULL, *node = NULL, *exec = NULL;
    uint64_t limit = strtoull(getenv("TEST_LIMIT"), NULL, 10);
    struct cu_node_params params = {.type = CU_NODE_MEM_ALLOC, .alloc.bytes = 2 * limit};
    (void)create(&outer, 0);
    (void)create(&inner, 0);
    check(CALL(cuGraphAddNode_v3, graph_add_v2)(&node, inner, NULL, NULL, 0, &params) == CU_SUCCESS &&
              add_child(&node, outer, NULL, 0, inner) == CU_SUCCESS &&
              CALL(cuGraphInstantiateWithFlags, graph_make_flags)(&exec, outer, 0) == CU_SUCCESS,
          "a graph in a graph asks for too much");
    uint64_t before = truth();
    check_equal((uint64_t)CALL(cuGraphLaunch, graph_launch)(exec, NULL), CU_OUT_OF_MEMORY, "it is refused");
    check_equal(truth(), before, "before the driver has taken anything");
    (void)CALL(cuGraphExecDestroy, graph_exec_destroy)(exec);
}

static void rare(void)
{
    begin();
    check_attached();
    check_domain();
    check_pools();
    check_shared();
    check_graphs();
    check_green();
}

static uint64_t free_on(cu_device device)
{
    void *ctx = NULL;
    (void)CALL(cuDevicePrimaryCtxRetain, primary_retain)(&ctx, device);
    (void)set_current(ctx);
    return told_free();
}

/* Two GPUs of one group: the pages of managed memory may come to either. */
static void two_gpus(void)
{
    cu_result (*init)(unsigned) = (cu_result(*)(unsigned))cuda("cuInit");
    cu_address address = 0;
    (void)init(0);
    uint64_t first = free_on(0), second = free_on(1);
    check(CALL(cuMemAllocManaged, mem_alloc_managed)(&address, 64 * MIB, 1) == CU_SUCCESS, "managed memory is made");
    check_equal(free_on(0), first - 64 * MIB, "it is charged on the first GPU");
    check_equal(free_on(1), second - 64 * MIB, "and on the second");
    check(CALL(cuMemFree_v2, mem_free)(address) == CU_SUCCESS, "and freed");
    check(free_on(0) == first && free_on(1) == second, "which gives it back on both");
    check(CALL(cuMemAlloc_v2, mem_alloc)(&address, 128 * MIB) == CU_SUCCESS, "plain memory is made on the second");
    second = free_on(1);
    check_equal(free_on(0), first, "and charged there alone");
    cu_address more = 77;
    check(CALL(cuMemAllocManaged, mem_alloc_managed)(&more, first - 64 * MIB, 1) == CU_OUT_OF_MEMORY && more == 77,
          "managed memory that one of them has no room for is refused");
    check(free_on(0) == first && free_on(1) == second, "and leaves nothing charged");
}

/* Ten modules and a limit, as fast as it goes. */
static void growth(void)
{
    void *module = NULL;
    begin();
    for (int i = 0; i < 10; i++)
        check(CALL(cuModuleLoadData, module_load)(&module, "code") == CU_SUCCESS, "a module is loaded");
    check(CALL(cuLibraryLoadData, library_load)(&module, "code", NULL, NULL, 0, NULL, NULL, 0) == CU_SUCCESS,
          "a library is loaded");
    check(CALL(cuCtxSetLimit, set_limit)(0, 4096) == CU_SUCCESS, "a limit is set");
    check(CALL(cuModuleLoadData, module_load)(&module, NULL) == CU_INVALID_VALUE, "no module is no module");
}

/* The same until its standard input ends, for a daemon that looks. */
static void grow(void)
{
    void *module = NULL;
    begin();
    printf("%s\n", CALL(cuModuleLoadData, module_load)(&module, "code") == CU_SUCCESS ? "ready" : "failed");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

/* A variant that no version of this library knows. */
static void unhooked(void)
{
    void *now = NULL, *then = NULL;
    int status = -1;
    begin();
    (void)CALL(cuGetProcAddress_v2, get_proc_v2)("cuMemCreate", &now, 13000, 0, &status);
    check(now == cuda("cuMemCreate"), "what is known is ours");
    (void)CALL(cuGetProcAddress_v2, get_proc_v2)("cuMemCreate", &then, 99000, 0, &status);
    check(status == CU_PROC_FOUND && then && then != now, "what is not known is the driver's");
    (void)CALL(cuGetProcAddress_v2, get_proc_v2)("cuDeviceGetCount", &then, 99000, 0, &status);
    check(status == CU_PROC_FOUND, "what nobody hooks is nothing to speak of");
}

const struct test_case rare_cases[] = {{"rare", rare}, {"two_gpus", two_gpus}, {"growth", growth},
                                       {"grow", grow}, {"unhooked", unhooked}, {NULL, NULL}};
