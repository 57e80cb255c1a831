/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here is found once, at the first call into the library, and never changes afterwards; a forked child may
 * go on using it. Two threads that come first at once do the same work twice and store the same values. */
#include "gpu/tenant/driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* The oldest versions of these symbols, which every C library since 2.17 has: where a newer one was current at build
 * time the linker would ask for that. */
#if defined(__x86_64__)
#define OLDEST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST_GLIBC "GLIBC_2.17"
#else
#error "the tenant library knows x86-64 and aarch64"
#endif
__asm__(".symver dlvsym, dlvsym@" OLDEST_GLIBC);
__asm__(".symver dlopen, dlopen@" OLDEST_GLIBC);

static const char *const names[HOOK_COUNT] = {
#define X(name, handler) [HOOK_##name] = #name,
    CUDA_HOOKS(X) NVML_HOOKS(X)
#undef X
};

#define X(name, handler) int name(PARAMS_##handler);
CUDA_HOOKS(X)
NVML_HOOKS(X)
#undef X

static void *const exports[HOOK_COUNT] = {
#define X(name, handler) [HOOK_##name] = (void *)name,
    CUDA_HOOKS(X) NVML_HOOKS(X)
#undef X
};

/* A power of two well above the number of rows. */
enum { SWAPS = 1024 };
_Static_assert(HOOK_COUNT * 3 < SWAPS, "the map from real to ours stays sparse");

struct library {
    atomic_int is_loaded;
    void *handle;
};

static struct library cuda;
static struct library nvml;
static void *_Atomic reals[HOOK_COUNT];
static atomic_int swaps[SWAPS];  // from the hash of a real pointer to its row plus one
static struct driver_calls calls;
static _Atomic(dlsym_fn *) found_dlsym;

dlsym_fn *driver_dlsym(void)
{
    dlsym_fn *found = atomic_load_explicit(&found_dlsym, memory_order_relaxed);
    if (!found) {
        found = (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", OLDEST_GLIBC);
        atomic_store_explicit(&found_dlsym, found, memory_order_relaxed);
    }
    return found;
}

static void *find_in(const struct library *library, const char *name)
{
    dlsym_fn *real_dlsym = driver_dlsym();
    return library->handle && real_dlsym ? real_dlsym(library->handle, name) : NULL;
}

static size_t home_of(const void *function)
{
    return (size_t)(((uintptr_t)function >> 4) * 0x9e3779b97f4a7c15u >> 40) & (SWAPS - 1);
}

static void add_swap(void *real, int row)
{
    for (size_t at = home_of(real);; at = (at + 1) & (SWAPS - 1)) {
        int found = 0;
        if (atomic_compare_exchange_strong(&swaps[at], &found, row + 1))
            return;
        if (atomic_load(&reals[found - 1]) == real)
            return;  // names that share one address share the hook of the first
    }
}

static void find_calls(void)
{
    static const struct {
        size_t at;
        const char *names[2];
    } wanted[] = {
#define CALL(member, ...)                      \
    {                                          \
        offsetof(struct driver_calls, member), \
        {                                      \
            __VA_ARGS__                        \
        }                                      \
    }
        CALL(ctx_get_current, "cuCtxGetCurrent"),
        CALL(ctx_get_device, "cuCtxGetDevice"),
        CALL(ctx_push, "cuCtxPushCurrent_v2"),
        CALL(ctx_pop, "cuCtxPopCurrent_v2"),
        CALL(ctx_of_green, "cuCtxFromGreenCtx"),
        CALL(device_get_count, "cuDeviceGetCount"),
        CALL(device_get_uuid, "cuDeviceGetUuid_v2", "cuDeviceGetUuid"),
        CALL(primary_get_state, "cuDevicePrimaryCtxGetState"),
        CALL(default_pool, "cuDeviceGetDefaultMemPool"),
        CALL(default_pool_at, "cuMemGetDefaultMemPool"),
        CALL(current_pool, "cuDeviceGetMemPool"),
        CALL(pool_get, "cuMemPoolGetAttribute"),
        CALL(pool_trim, "cuMemPoolTrimTo"),
        CALL(pool_free, "cuMemFreeAsync"),
        CALL(graph_memory, "cuDeviceGetGraphMemAttribute"),
        CALL(graph_trim, "cuDeviceGraphMemTrim"),
        CALL(graph_nodes, "cuGraphGetNodes"),
        CALL(node_type, "cuGraphNodeGetType"),
        CALL(child_graph, "cuGraphChildGraphNodeGetGraph"),
        CALL(alloc_node, "cuGraphMemAllocNodeGetParams"),
        CALL(is_capturing, "cuStreamIsCapturing"),
        CALL(stream_device, "cuStreamGetDevice"),
        CALL(capture_mode, "cuThreadExchangeStreamCaptureMode"),
        CALL(address_reserve, "cuMemAddressReserve"),
        CALL(address_free, "cuMemAddressFree"),
        CALL(set_access, "cuMemSetAccess"),
        CALL(event_create, "cuEventCreate"),
        CALL(event_record, "cuEventRecord"),
        CALL(event_query, "cuEventQuery"),
        CALL(event_elapsed, "cuEventElapsedTime"),
        CALL(event_destroy, "cuEventDestroy_v2"),
#undef CALL
    };
    struct driver_calls all = {0};

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = find_in(&cuda, wanted[i].names[0]);
        if (!found && wanted[i].names[1])
            found = find_in(&cuda, wanted[i].names[1]);
        memcpy((char *)&all + wanted[i].at, &found, sizeof found);
    }
    calls = all;
}

static void load(struct library *library, const char *renamed, const char *name, int first, int end)
{
    if (atomic_load_explicit(&library->is_loaded, memory_order_acquire))
        return;
    void *handle = dlopen(renamed, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return;  // asked again at the next call: the program may load it by another path later
    library->handle = handle;
    for (int i = first; i < end; i++) {
        void *real = find_in(library, names[i]);
        if (!real || real == exports[i])
            continue;
        atomic_store_explicit(&reals[i], real, memory_order_relaxed);
        add_swap(real, i);
    }
    if (library == &cuda)
        find_calls();
    atomic_store_explicit(&library->is_loaded, 1, memory_order_release);
}

bool driver_is_renamed(void)
{
    return dlopen(DRIVER_CUDA_RENAMED, RTLD_LAZY | RTLD_NOLOAD) || dlopen(DRIVER_NVML_RENAMED, RTLD_LAZY | RTLD_NOLOAD);
}

static void load_for(enum hook hook)
{
    if (hook < HOOK_CUDA_COUNT)
        load(&cuda, DRIVER_CUDA_RENAMED, "libcuda.so.1", 0, HOOK_CUDA_COUNT);
    else
        load(&nvml, DRIVER_NVML_RENAMED, "libnvidia-ml.so.1", HOOK_CUDA_COUNT, HOOK_COUNT);
}

void *driver_real(enum hook hook)
{
    const struct library *library = hook < HOOK_CUDA_COUNT ? &cuda : &nvml;
    if (!atomic_load_explicit(&library->is_loaded, memory_order_acquire))
        load_for(hook);
    return atomic_load_explicit(&reals[hook], memory_order_relaxed);
}

void *driver_find_common(const char *name)
{
    dlsym_fn *real_dlsym = driver_dlsym();
    void *found = real_dlsym ? real_dlsym(RTLD_DEFAULT, name) : NULL;
    if (found)
        return found;
    load_for(0);
    return find_in(&cuda, name);
}

void *driver_find_nvml(const char *name)
{
    load_for(HOOK_CUDA_COUNT);
    return find_in(&nvml, name);
}

void *driver_swap(void *function)
{
    for (size_t at = home_of(function); function; at = (at + 1) & (SWAPS - 1)) {
        int row = atomic_load(&swaps[at]) - 1;
        if (row < 0)
            break;
        if (atomic_load(&reals[row]) == function)
            return exports[row];
    }
    return function;
}

int driver_hook_of(const char *name)
{
    /* Only lookups by name come here, once for each name; nearly all others end at the first characters. */
    if (strncmp(name, "cu", 2) != 0 && strncmp(name, "nvml", 4) != 0)
        return -1;
    for (int i = 0; i < HOOK_COUNT; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

const char *driver_hook_name(enum hook hook)
{
    return names[hook];
}

void *driver_export(enum hook hook)
{
    return exports[hook];
}

bool driver_is_export(const void *function)
{
    for (int i = 0; i < HOOK_COUNT; i++) {
        if (exports[i] == function)
            return true;
    }
    return false;
}

const struct driver_calls *driver_calls(void)
{
    load_for(0);
    return &calls;
}
