/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The names of the pretended driver: all that the tenant library hooks, and what programs need beside them. */

#include "object.h"

#define X(name, handler) int name(PARAMS_##handler);
CUDA_HOOKS(X)
#undef X

/* One row a name: its result is always an int. */
#define FAKE_OTHERS(X)                                                                                         \
    X(cuInit, unsigned flags)                                                                                  \
    X(cuDriverGetVersion, int *ret_version)                                                                    \
    X(cuDeviceGetCount, int *ret_count)                                                                        \
    X(cuDeviceGet, cu_device *ret_device, int ordinal)                                                         \
    X(cuDeviceGetUuid, struct cu_uuid *ret_uuid, cu_device device)                                             \
    X(cuDeviceGetUuid_v2, struct cu_uuid *ret_uuid, cu_device device)                                          \
    X(cuDevicePrimaryCtxGetState, cu_device device, unsigned *ret_flags, int *ret_active)                      \
    X(cuCtxGetCurrent, void **ret_ctx)                                                                         \
    X(cuCtxSetCurrent, void *ctx)                                                                              \
    X(cuCtxPushCurrent_v2, void *ctx)                                                                          \
    X(cuCtxPopCurrent_v2, void **ret_ctx)                                                                      \
    X(cuCtxGetDevice, cu_device *ret_device)                                                                   \
    X(cuCtxFromGreenCtx, void **ret_ctx, void *green)                                                          \
    X(cuMemExportToShareableHandle, void *ret_shareable, cu_handle handle, int type, unsigned long long flags) \
    X(cuMemPoolImportFromShareableHandle, void **ret_pool, void *from, int type, unsigned long long flags)     \
    X(cuIpcOpenMemHandle_v2, cu_address *ret_address, struct cu_ipc_handle handle, unsigned flags)             \
    X(cuIpcCloseMemHandle, cu_address address)                                                                 \
    X(cuImportExternalMemory, void **ret_memory, const void *description)                                      \
    X(cuExternalMemoryGetMappedBuffer, cu_address *ret_address, void *memory, const void *description)         \
    X(cuMemCreate_v2, cu_handle *ret_handle, size_t bytes, const void *prop, unsigned long long flags)         \
    X(cuMemGetDefaultMemPool, void **ret_pool, struct cu_location *location, int type)                         \
    X(cuGraphAddChildGraphNode, void **ret_node, void *graph, void *const *before, size_t count, void *child)  \
    X(cuGraphChildGraphNodeGetGraph, void *node, void **ret_graph)                                             \
    X(cuGetExportTable, const void **ret_table, const void *id)                                                \
    X(cuMemAddressReserve, cu_address *ret_address, size_t bytes, size_t alignment, cu_address wish,           \
      unsigned long long flags)                                                                                \
    X(cuMemAddressFree, cu_address address, size_t bytes)                                                      \
    X(cuMemSetAccess, cu_address address, size_t bytes, const void *access, size_t count)                      \
    X(cuDeviceGetDefaultMemPool, void **ret_pool, cu_device device)                                            \
    X(cuDeviceGetMemPool, void **ret_pool, cu_device device)                                                   \
    X(cuDeviceSetMemPool, cu_device device, void *pool)                                                        \
    X(cuMemPoolGetAttribute, void *pool, int attribute, void *ret_value)                                       \
    X(cuMemPoolSetAttribute, void *pool, int attribute, void *value)                                           \
    X(cuDeviceGetGraphMemAttribute, cu_device device, int attribute, void *ret_value)                          \
    X(cuGraphCreate, void **ret_graph, unsigned flags)                                                         \
    X(cuGraphDestroy, void *graph)                                                                             \
    X(cuGraphGetNodes, void *graph, void **nodes, size_t *count)                                               \
    X(cuGraphNodeGetType, void *node, int *ret_type)                                                           \
    X(cuGraphMemAllocNodeGetParams, void *node, struct cu_mem_alloc_node *ret_params)                          \
    X(cuStreamCreate, void **ret_stream, unsigned flags)                                                       \
    X(cuStreamQuery, void *stream)                                                                             \
    X(cuStreamGetDevice, void *stream, cu_device *ret_device)                                                  \
    X(cuStreamIsCapturing, void *stream, int *ret_status)                                                      \
    X(cuThreadExchangeStreamCaptureMode, int *mode)                                                            \
    X(cuEventCreate, void **ret_event, unsigned flags)                                                         \
    X(cuEventRecord, void *event, void *stream)                                                                \
    X(cuEventElapsedTime, float *ret_ms, void *begin, void *end)                                               \
    X(cuEventQuery, void *event)                                                                               \
    X(cuEventDestroy_v2, void *event)                                                                          \
    X(cuModuleGetFunction, void **ret_function, void *module, const char *name)

#define X(name, ...) int name(__VA_ARGS__);
FAKE_OTHERS(X)
#undef X

/* Gives memory back to its pool. */
void fake_pool_free(struct fake_range *range);
/* What a pool holds beyond its threshold goes back to the device. */
void fake_pools_release(int gpu);
/* With the lock held: a question about the device's progress, which spoils captures that forbid it. */
void fake_ask_device(void);
/* An allocation on a capturing stream becomes a node. */
struct fake_object *fake_add_alloc_node(struct fake_object *graph, uint64_t bytes);
/* Addresses that are reserved; false when there are none. */
void fake_reserve(uint64_t address, uint64_t bytes);
bool fake_unreserve(uint64_t address);
/* What lies at an address: its content, or NULL where memory has none. An error where there should be memory and is not. */
cu_result fake_touch(uint64_t address, uint64_t bytes, uint8_t **ret_content);
/* Physical memory goes back. */
void fake_drop_content(struct fake_object *block);
/* Copies and fills that are called by these names, as far as they concern memory with content. */
cu_result fake_move(const char *name, const uint64_t *words);
/* The kernel add_one. */
cu_result fake_add_one(uint64_t address);
/* Puts work on a stream. */
void fake_run(struct fake_object *stream, int64_t ns);
