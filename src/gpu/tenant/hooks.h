/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every name of the driver that Muster stands in front of: one row a name, all binary variants among them. The row says
 * which handler answers; variants that take the same arguments share one. Exported functions, the table of the real
 * ones, the map from real pointers to ours and the tests are all made from these rows. */

#include "gpu/abi/cuda.h"
#include "gpu/abi/nvml.h"
#include "gpu/tenant/hooks_held.h"
#include "gpu/tenant/hooks_traffic.h"

/* What each handler takes, and how it is passed on. */
#define PARAMS_get_proc const char *symbol, void **ret_function, int version, uint64_t flags
#define ARGS_get_proc symbol, ret_function, version, flags
#define PARAMS_get_proc_v2 const char *symbol, void **ret_function, int version, uint64_t flags, int *ret_status
#define ARGS_get_proc_v2 symbol, ret_function, version, flags, ret_status

#define PARAMS_ctx_create void **ret_ctx, unsigned flags, cu_device device
#define ARGS_ctx_create ret_ctx, flags, device
#define PARAMS_ctx_create_v3 void **ret_ctx, void *affinity, int count, unsigned flags, cu_device device
#define ARGS_ctx_create_v3 ret_ctx, affinity, count, flags, device
#define PARAMS_ctx_create_v4 void **ret_ctx, void *params, unsigned flags, cu_device device
#define ARGS_ctx_create_v4 ret_ctx, params, flags, device
#define PARAMS_ctx_destroy void *ctx
#define ARGS_ctx_destroy ctx
#define PARAMS_ctx_attach void **ret_ctx, unsigned flags
#define ARGS_ctx_attach ret_ctx, flags
#define PARAMS_ctx_detach void *ctx
#define ARGS_ctx_detach ctx
#define PARAMS_primary_retain void **ret_ctx, cu_device device
#define ARGS_primary_retain ret_ctx, device
#define PARAMS_primary_release cu_device device
#define ARGS_primary_release device
#define PARAMS_primary_reset cu_device device
#define ARGS_primary_reset device

#define PARAMS_green_create void **ret_green, void *resources, cu_device device, unsigned flags
#define ARGS_green_create ret_green, resources, device, flags
#define PARAMS_green_destroy void *green
#define ARGS_green_destroy green

#define PARAMS_set_limit int limit, size_t value
#define ARGS_set_limit limit, value
#define PARAMS_module_load void **ret_module, const void *image
#define ARGS_module_load ret_module, image
#define PARAMS_module_load_ex void **ret_module, const void *image, unsigned count, void *options, void **values
#define ARGS_module_load_ex ret_module, image, count, options, values
#define PARAMS_library_load                                                                                        \
    void **ret_library, const void *code, void *jit_options, void **jit_values, unsigned jit_count, void *options, \
        void **values, unsigned count
#define ARGS_library_load ret_library, code, jit_options, jit_values, jit_count, options, values, count
#define PARAMS_link_complete void *state, void **ret_code, size_t *ret_size
#define ARGS_link_complete state, ret_code, ret_size
#define PARAMS_function_load void *function
#define ARGS_function_load function

#define PARAMS_mem_alloc cu_address *ret_address, size_t bytes
#define ARGS_mem_alloc ret_address, bytes
#define PARAMS_mem_alloc_v1 unsigned *ret_address, unsigned bytes
#define ARGS_mem_alloc_v1 ret_address, bytes
#define PARAMS_mem_alloc_pitch cu_address *ret_address, size_t *ret_pitch, size_t width, size_t height, unsigned element
#define ARGS_mem_alloc_pitch ret_address, ret_pitch, width, height, element
#define PARAMS_mem_alloc_pitch_v1 \
    unsigned *ret_address, unsigned *ret_pitch, unsigned width, unsigned height, unsigned element
#define ARGS_mem_alloc_pitch_v1 ret_address, ret_pitch, width, height, element
#define PARAMS_mem_alloc_managed cu_address *ret_address, size_t bytes, unsigned flags
#define ARGS_mem_alloc_managed ret_address, bytes, flags
#define PARAMS_mem_free cu_address address
#define ARGS_mem_free address
#define PARAMS_mem_free_v1 unsigned address
#define ARGS_mem_free_v1 address

#define PARAMS_array_create void **ret_array, const struct cu_array_descriptor *descriptor
#define ARGS_array_create ret_array, descriptor
#define PARAMS_array_create_v1 void **ret_array, const struct cu_array_descriptor_v1 *descriptor
#define ARGS_array_create_v1 ret_array, descriptor
#define PARAMS_array3d_create void **ret_array, const struct cu_array3d_descriptor *descriptor
#define ARGS_array3d_create ret_array, descriptor
#define PARAMS_array3d_create_v1 void **ret_array, const struct cu_array3d_descriptor_v1 *descriptor
#define ARGS_array3d_create_v1 ret_array, descriptor
#define PARAMS_mipmapped_create void **ret_array, const struct cu_array3d_descriptor *descriptor, unsigned levels
#define ARGS_mipmapped_create ret_array, descriptor, levels
#define PARAMS_array_destroy void *array
#define ARGS_array_destroy array

#define PARAMS_vmm_create \
    cu_handle *ret_handle, size_t bytes, const struct cu_allocation_prop *prop, unsigned long long flags
#define ARGS_vmm_create ret_handle, bytes, prop, flags
#define PARAMS_vmm_release cu_handle handle
#define ARGS_vmm_release handle
#define PARAMS_vmm_map cu_address address, size_t bytes, size_t offset, cu_handle handle, unsigned long long flags
#define ARGS_vmm_map address, bytes, offset, handle, flags
#define PARAMS_vmm_map_array struct cu_array_map *pieces, unsigned count, void *stream
#define ARGS_vmm_map_array pieces, count, stream
#define PARAMS_vmm_unmap cu_address address, size_t bytes
#define ARGS_vmm_unmap address, bytes
#define PARAMS_vmm_import cu_handle *ret_handle, void *from, int type
#define ARGS_vmm_import ret_handle, from, type
#define PARAMS_vmm_retain cu_handle *ret_handle, void *address
#define ARGS_vmm_retain ret_handle, address

#define PARAMS_pinned_alloc void **ret_memory, size_t bytes, unsigned flags
#define ARGS_pinned_alloc ret_memory, bytes, flags
#define PARAMS_pinned_alloc_v2 void **ret_memory, size_t bytes
#define ARGS_pinned_alloc_v2 ret_memory, bytes
#define PARAMS_pinned_alloc_v1 void **ret_memory, unsigned bytes
#define ARGS_pinned_alloc_v1 ret_memory, bytes
#define PARAMS_pinned_register void *memory, size_t bytes, unsigned flags
#define ARGS_pinned_register memory, bytes, flags
#define PARAMS_pinned_register_v1 void *memory, unsigned bytes, unsigned flags
#define ARGS_pinned_register_v1 memory, bytes, flags
#define PARAMS_pinned_end void *memory
#define ARGS_pinned_end memory

#define PARAMS_pool_alloc cu_address *ret_address, size_t bytes, void *stream
#define ARGS_pool_alloc ret_address, bytes, stream
#define PARAMS_pool_alloc_from cu_address *ret_address, size_t bytes, void *pool, void *stream
#define ARGS_pool_alloc_from ret_address, bytes, pool, stream
#define PARAMS_pool_free cu_address address, void *stream
#define ARGS_pool_free address, stream
#define PARAMS_pool_create void **ret_pool, const struct cu_pool_props *props
#define ARGS_pool_create ret_pool, props
#define PARAMS_pool_destroy void *pool
#define ARGS_pool_destroy pool
#define PARAMS_pool_trim void *pool, size_t keep
#define ARGS_pool_trim pool, keep
/* A stream, an event, a context, or for cuCtxSynchronize nothing at all: it takes no argument, and one too many in a
 * register is not looked at. */
#define PARAMS_sync_stream void *stream
#define ARGS_sync_stream stream

#define PARAMS_graph_add_alloc \
    void **ret_node, void *graph, void *const *before, size_t count, struct cu_mem_alloc_node *node
#define ARGS_graph_add_alloc ret_node, graph, before, count, node
#define PARAMS_graph_add void **ret_node, void *graph, void *const *before, size_t count, struct cu_node_params *node
#define ARGS_graph_add ret_node, graph, before, count, node
#define PARAMS_graph_add_v2 \
    void **ret_node, void *graph, void *const *before, const void *edges, size_t count, struct cu_node_params *node
#define ARGS_graph_add_v2 ret_node, graph, before, edges, count, node
#define PARAMS_graph_make void **ret_exec, void *graph, void **ret_node, char *log, size_t size
#define ARGS_graph_make ret_exec, graph, ret_node, log, size
#define PARAMS_graph_make_flags void **ret_exec, void *graph, unsigned long long flags
#define ARGS_graph_make_flags ret_exec, graph, flags
#define PARAMS_graph_make_params void **ret_exec, void *graph, void *params
#define ARGS_graph_make_params ret_exec, graph, params
#define PARAMS_graph_upload void *exec, void *stream
#define ARGS_graph_upload exec, stream
#define PARAMS_graph_launch void *exec, void *stream
#define ARGS_graph_launch exec, stream
#define PARAMS_graph_exec_destroy void *exec
#define ARGS_graph_exec_destroy exec
#define PARAMS_graph_trim cu_device device
#define ARGS_graph_trim device

#define PARAMS_mem_info size_t *ret_free, size_t *ret_total
#define ARGS_mem_info ret_free, ret_total
#define PARAMS_mem_info_v1 unsigned *ret_free, unsigned *ret_total
#define ARGS_mem_info_v1 ret_free, ret_total
#define PARAMS_total_mem size_t *ret_bytes, cu_device device
#define ARGS_total_mem ret_bytes, device
#define PARAMS_total_mem_v1 unsigned *ret_bytes, cu_device device
#define ARGS_total_mem_v1 ret_bytes, device

#define PARAMS_launch_kernel                                                                                       \
    void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
        void *stream, void **params, void **extra
#define ARGS_launch_kernel function, gx, gy, gz, bx, by, bz, shared, stream, params, extra
#define PARAMS_launch_ex const struct cu_launch_config *config, void *function, void **params, void **extra
#define ARGS_launch_ex config, function, params, extra
#define PARAMS_launch_cooperative                                                                                  \
    void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
        void *stream, void **params
#define ARGS_launch_cooperative function, gx, gy, gz, bx, by, bz, shared, stream, params
#define PARAMS_launch_multi struct cu_launch_params *list, unsigned count, unsigned flags
#define ARGS_launch_multi list, count, flags
#define PARAMS_launch_old void *function
#define ARGS_launch_old function
#define PARAMS_launch_grid void *function, int width, int height
#define ARGS_launch_grid function, width, height
#define PARAMS_launch_grid_async void *function, int width, int height, void *stream
#define ARGS_launch_grid_async function, width, height, stream

#define PARAMS_stream_destroy void *stream
#define ARGS_stream_destroy stream
#define PARAMS_capture_begin_v1 void *stream
#define ARGS_capture_begin_v1 stream
#define PARAMS_capture_begin void *stream, int mode
#define ARGS_capture_begin stream, mode
#define PARAMS_capture_into void *stream, void *graph, void *const *before, const void *edges, size_t count, int mode
#define ARGS_capture_into stream, graph, before, edges, count, mode

#define PARAMS_capture_end void *stream, void **ret_graph
#define ARGS_capture_end stream, ret_graph
#define PARAMS_capture_again void *stream, int mode, void *graph, void *callback, void *data
#define ARGS_capture_again stream, mode, graph, callback, data
#define PARAMS_capture_graphics void *stream, void *params
#define ARGS_capture_graphics stream, params

#define PARAMS_checkpoint int pid, void *args
#define ARGS_checkpoint pid, args

#define CUDA_HANDLERS(X)  \
    X(get_proc)           \
    X(get_proc_v2)        \
    X(ctx_create)         \
    X(ctx_create_v3)      \
    X(ctx_create_v4)      \
    X(ctx_destroy)        \
    X(ctx_attach)         \
    X(ctx_detach)         \
    X(primary_retain)     \
    X(primary_release)    \
    X(primary_reset)      \
    X(green_create)       \
    X(green_destroy)      \
    X(set_limit)          \
    X(module_load)        \
    X(module_load_ex)     \
    X(library_load)       \
    X(link_complete)      \
    X(function_load)      \
    X(mem_alloc)          \
    X(mem_alloc_v1)       \
    X(mem_alloc_pitch)    \
    X(mem_alloc_pitch_v1) \
    X(mem_alloc_managed)  \
    X(mem_free)           \
    X(mem_free_v1)        \
    X(array_create)       \
    X(array_create_v1)    \
    X(array3d_create)     \
    X(array3d_create_v1)  \
    X(mipmapped_create)   \
    X(array_destroy)      \
    X(vmm_create)         \
    X(vmm_release)        \
    X(vmm_map)            \
    X(vmm_map_array)      \
    X(vmm_unmap)          \
    X(vmm_import)         \
    X(vmm_retain)         \
    X(pinned_alloc)       \
    X(pinned_alloc_v2)    \
    X(pinned_alloc_v1)    \
    X(pinned_register)    \
    X(pinned_register_v1) \
    X(pinned_end)         \
    X(pool_alloc)         \
    X(pool_alloc_from)    \
    X(pool_free)          \
    X(pool_create)        \
    X(pool_destroy)       \
    X(pool_trim)          \
    X(sync_stream)        \
    X(graph_add_alloc)    \
    X(graph_add)          \
    X(graph_add_v2)       \
    X(graph_make)         \
    X(graph_make_flags)   \
    X(graph_make_params)  \
    X(graph_upload)       \
    X(graph_launch)       \
    X(graph_exec_destroy) \
    X(graph_trim)         \
    X(mem_info)           \
    X(mem_info_v1)        \
    X(total_mem)          \
    X(total_mem_v1)       \
    X(launch_kernel)      \
    X(launch_ex)          \
    X(launch_cooperative) \
    X(launch_multi)       \
    X(launch_old)         \
    X(launch_grid)        \
    X(launch_grid_async)  \
    X(stream_destroy)     \
    X(capture_begin_v1)   \
    X(capture_begin)      \
    X(capture_into)       \
    X(capture_end)        \
    X(capture_again)      \
    X(capture_graphics)   \
    X(checkpoint)         \
    HELD_HANDLERS(X)      \
    TRAFFIC_HANDLERS(X)

#define CUDA_HOOKS(X)                                       \
    X(cuGetProcAddress, get_proc)                           \
    X(cuGetProcAddress_v2, get_proc_v2)                     \
    X(cuGetProcAddress_v2_ptsz, get_proc_v2)                \
    X(cuCtxCreate, ctx_create)                              \
    X(cuCtxCreate_v2, ctx_create)                           \
    X(cuCtxCreate_v3, ctx_create_v3)                        \
    X(cuCtxCreate_v4, ctx_create_v4)                        \
    X(cuCtxDestroy, ctx_destroy)                            \
    X(cuCtxDestroy_v2, ctx_destroy)                         \
    X(cuCtxAttach, ctx_attach)                              \
    X(cuCtxDetach, ctx_detach)                              \
    X(cuDevicePrimaryCtxRetain, primary_retain)             \
    X(cuDevicePrimaryCtxRelease, primary_release)           \
    X(cuDevicePrimaryCtxRelease_v2, primary_release)        \
    X(cuDevicePrimaryCtxReset, primary_reset)               \
    X(cuDevicePrimaryCtxReset_v2, primary_reset)            \
    X(cuGreenCtxCreate, green_create)                       \
    X(cuGreenCtxDestroy, green_destroy)                     \
    X(cuCtxSetLimit, set_limit)                             \
    X(cuModuleLoad, module_load)                            \
    X(cuModuleLoadData, module_load)                        \
    X(cuModuleLoadFatBinary, module_load)                   \
    X(cuModuleLoadDataEx, module_load_ex)                   \
    X(cuLibraryLoadData, library_load)                      \
    X(cuLibraryLoadFromFile, library_load)                  \
    X(cuLinkComplete, link_complete)                        \
    X(cuFuncLoad, function_load)                            \
    X(cuMemAlloc, mem_alloc_v1)                             \
    X(cuMemAlloc_v2, mem_alloc)                             \
    X(cuMemAllocPitch, mem_alloc_pitch_v1)                  \
    X(cuMemAllocPitch_v2, mem_alloc_pitch)                  \
    X(cuMemAllocManaged, mem_alloc_managed)                 \
    X(cuMemFree, mem_free_v1)                               \
    X(cuMemFree_v2, mem_free)                               \
    X(cuArrayCreate, array_create_v1)                       \
    X(cuArrayCreate_v2, array_create)                       \
    X(cuArray3DCreate, array3d_create_v1)                   \
    X(cuArray3DCreate_v2, array3d_create)                   \
    X(cuMipmappedArrayCreate, mipmapped_create)             \
    X(cuArrayDestroy, array_destroy)                        \
    X(cuMipmappedArrayDestroy, array_destroy)               \
    X(cuMemCreate, vmm_create)                              \
    X(cuMemRelease, vmm_release)                            \
    X(cuMemMap, vmm_map)                                    \
    X(cuMemMapArrayAsync, vmm_map_array)                    \
    X(cuMemMapArrayAsync_ptsz, vmm_map_array)               \
    X(cuMemUnmap, vmm_unmap)                                \
    X(cuMemRetainAllocationHandle, vmm_retain)              \
    X(cuMemImportFromShareableHandle, vmm_import)           \
    X(cuMemHostAlloc, pinned_alloc)                         \
    X(cuMemAllocHost, pinned_alloc_v1)                      \
    X(cuMemAllocHost_v2, pinned_alloc_v2)                   \
    X(cuMemHostRegister, pinned_register_v1)                \
    X(cuMemHostRegister_v2, pinned_register)                \
    X(cuMemFreeHost, pinned_end)                            \
    X(cuMemHostUnregister, pinned_end)                      \
    X(cuMemAllocAsync, pool_alloc)                          \
    X(cuMemAllocAsync_ptsz, pool_alloc)                     \
    X(cuMemAllocFromPoolAsync, pool_alloc_from)             \
    X(cuMemAllocFromPoolAsync_ptsz, pool_alloc_from)        \
    X(cuMemFreeAsync, pool_free)                            \
    X(cuMemFreeAsync_ptsz, pool_free)                       \
    X(cuMemPoolCreate, pool_create)                         \
    X(cuMemPoolDestroy, pool_destroy)                       \
    X(cuMemPoolTrimTo, pool_trim)                           \
    X(cuStreamSynchronize, sync_stream)                     \
    X(cuStreamSynchronize_ptsz, sync_stream)                \
    X(cuEventSynchronize, sync_stream)                      \
    X(cuCtxSynchronize, sync_stream)                        \
    X(cuCtxSynchronize_v2, sync_stream)                     \
    X(cuGraphAddMemAllocNode, graph_add_alloc)              \
    X(cuGraphAddNode, graph_add)                            \
    X(cuGraphAddNode_v2, graph_add_v2)                      \
    X(cuGraphAddNode_v3, graph_add_v2)                      \
    X(cuGraphInstantiate, graph_make)                       \
    X(cuGraphInstantiate_v2, graph_make)                    \
    X(cuGraphInstantiateWithFlags, graph_make_flags)        \
    X(cuGraphInstantiateWithParams, graph_make_params)      \
    X(cuGraphInstantiateWithParams_ptsz, graph_make_params) \
    X(cuGraphUpload, graph_upload)                          \
    X(cuGraphUpload_ptsz, graph_upload)                     \
    X(cuGraphLaunch, graph_launch)                          \
    X(cuGraphLaunch_ptsz, graph_launch)                     \
    X(cuGraphExecDestroy, graph_exec_destroy)               \
    X(cuDeviceGraphMemTrim, graph_trim)                     \
    X(cuMemGetInfo, mem_info_v1)                            \
    X(cuMemGetInfo_v2, mem_info)                            \
    X(cuDeviceTotalMem, total_mem_v1)                       \
    X(cuDeviceTotalMem_v2, total_mem)                       \
    X(cuLaunchKernel, launch_kernel)                        \
    X(cuLaunchKernel_ptsz, launch_kernel)                   \
    X(cuLaunchKernelEx, launch_ex)                          \
    X(cuLaunchKernelEx_ptsz, launch_ex)                     \
    X(cuLaunchCooperativeKernel, launch_cooperative)        \
    X(cuLaunchCooperativeKernel_ptsz, launch_cooperative)   \
    X(cuLaunchCooperativeKernelMultiDevice, launch_multi)   \
    X(cuLaunch, launch_old)                                 \
    X(cuLaunchGrid, launch_grid)                            \
    X(cuLaunchGridAsync, launch_grid_async)                 \
    X(cuStreamDestroy, stream_destroy)                      \
    X(cuStreamDestroy_v2, stream_destroy)                   \
    X(cuStreamBeginCapture, capture_begin_v1)               \
    X(cuStreamBeginCapture_ptsz, capture_begin_v1)          \
    X(cuStreamBeginCapture_v2, capture_begin)               \
    X(cuStreamBeginCapture_v2_ptsz, capture_begin)          \
    X(cuStreamBeginCaptureToGraph, capture_into)            \
    X(cuStreamBeginCaptureToGraph_ptsz, capture_into)       \
    X(cuStreamEndCapture, capture_end)                      \
    X(cuStreamEndCapture_ptsz, capture_end)                 \
    X(cuStreamBeginRecaptureToGraph, capture_again)         \
    X(cuStreamBeginRecaptureToGraph_ptsz, capture_again)    \
    X(cuStreamBeginCaptureToCig, capture_graphics)          \
    X(cuStreamBeginCaptureToCig_ptsz, capture_graphics)     \
    X(cuCheckpointProcessLock, checkpoint)                  \
    X(cuCheckpointProcessCheckpoint, checkpoint)            \
    X(cuCheckpointProcessRestore, checkpoint)               \
    X(cuCheckpointProcessUnlock, checkpoint)                \
    X(cuCheckpointProcessGetState, checkpoint)              \
    X(cuCheckpointProcessGetRestoreThreadId, checkpoint)    \
    HELD_HOOKS(X)                                           \
    TRAFFIC_HOOKS(X)

/* NVML: which GPUs a tenant sees, and what of their memory, processes and work. */
#define PARAMS_nvml_memory void *device, struct nvml_memory *ret_memory
#define ARGS_nvml_memory device, ret_memory
#define PARAMS_nvml_memory_v2 void *device, struct nvml_memory_v2 *ret_memory
#define ARGS_nvml_memory_v2 device, ret_memory
#define PARAMS_nvml_set_limits void *device, void *limits
#define ARGS_nvml_set_limits device, limits

#define PARAMS_nvml_count unsigned *ret_count
#define ARGS_nvml_count ret_count
#define PARAMS_nvml_by_index unsigned index, void **ret_device
#define ARGS_nvml_by_index index, ret_device
#define PARAMS_nvml_by_key const void *key, void **ret_device
#define ARGS_nvml_by_key key, ret_device
#define PARAMS_nvml_index void *device, unsigned *ret_index
#define ARGS_nvml_index device, ret_index

#define PARAMS_nvml_processes_v1 void *device, unsigned *count, struct nvml_process_v1 *ret_list
#define ARGS_nvml_processes_v1 device, count, ret_list
#define PARAMS_nvml_processes void *device, unsigned *count, struct nvml_process *ret_list
#define ARGS_nvml_processes device, count, ret_list
#define PARAMS_nvml_details void *device, struct nvml_process_details *details
#define ARGS_nvml_details device, details
#define PARAMS_nvml_accounting void *device, unsigned pid, struct nvml_accounting *ret_stats
#define ARGS_nvml_accounting device, pid, ret_stats
#define PARAMS_nvml_accounting_v2 void *device, struct nvml_accounting_v2 *stats
#define ARGS_nvml_accounting_v2 device, stats
#define PARAMS_nvml_accounting_pids void *device, unsigned *count, unsigned *ret_pids
#define ARGS_nvml_accounting_pids device, count, ret_pids

#define PARAMS_nvml_process_busy \
    void *device, struct nvml_process_busy *ret_list, unsigned *count, unsigned long long since_us
#define ARGS_nvml_process_busy device, ret_list, count, since_us
#define PARAMS_nvml_processes_busy void *device, struct nvml_processes_busy *busy
#define ARGS_nvml_processes_busy device, busy
#define PARAMS_nvml_utilization void *device, struct nvml_utilization *ret_rates
#define ARGS_nvml_utilization device, ret_rates
#define PARAMS_nvml_samples                                                                    \
    void *device, int type, unsigned long long since_us, int *ret_value_type, unsigned *count, \
        struct nvml_sample *ret_list
#define ARGS_nvml_samples device, type, since_us, ret_value_type, count, ret_list

#define NVML_HANDLERS(X)    \
    X(nvml_memory)          \
    X(nvml_memory_v2)       \
    X(nvml_set_limits)      \
    X(nvml_count)           \
    X(nvml_by_index)        \
    X(nvml_by_key)          \
    X(nvml_index)           \
    X(nvml_processes_v1)    \
    X(nvml_processes)       \
    X(nvml_details)         \
    X(nvml_accounting)      \
    X(nvml_accounting_v2)   \
    X(nvml_accounting_pids) \
    X(nvml_process_busy)    \
    X(nvml_processes_busy)  \
    X(nvml_utilization)     \
    X(nvml_samples)

#define NVML_HOOKS(X)                                             \
    X(nvmlDeviceGetMemoryInfo, nvml_memory)                       \
    X(nvmlDeviceGetMemoryInfo_v2, nvml_memory_v2)                 \
    X(nvmlDeviceSetMemoryLimits_v1, nvml_set_limits)              \
    X(nvmlDeviceGetCount, nvml_count)                             \
    X(nvmlDeviceGetCount_v2, nvml_count)                          \
    X(nvmlDeviceGetHandleByIndex, nvml_by_index)                  \
    X(nvmlDeviceGetHandleByIndex_v2, nvml_by_index)               \
    X(nvmlDeviceGetHandleBySerial, nvml_by_key)                   \
    X(nvmlDeviceGetHandleByUUID, nvml_by_key)                     \
    X(nvmlDeviceGetHandleByUUIDV, nvml_by_key)                    \
    X(nvmlDeviceGetHandleByPciBusId, nvml_by_key)                 \
    X(nvmlDeviceGetHandleByPciBusId_v2, nvml_by_key)              \
    X(nvmlDeviceGetIndex, nvml_index)                             \
    X(nvmlDeviceGetComputeRunningProcesses, nvml_processes_v1)    \
    X(nvmlDeviceGetComputeRunningProcesses_v2, nvml_processes)    \
    X(nvmlDeviceGetComputeRunningProcesses_v3, nvml_processes)    \
    X(nvmlDeviceGetGraphicsRunningProcesses, nvml_processes_v1)   \
    X(nvmlDeviceGetGraphicsRunningProcesses_v2, nvml_processes)   \
    X(nvmlDeviceGetGraphicsRunningProcesses_v3, nvml_processes)   \
    X(nvmlDeviceGetMPSComputeRunningProcesses, nvml_processes_v1) \
    X(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvml_processes) \
    X(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvml_processes) \
    X(nvmlDeviceGetRunningProcessDetailList, nvml_details)        \
    X(nvmlDeviceGetAccountingStats, nvml_accounting)              \
    X(nvmlDeviceGetAccountingStats_v2, nvml_accounting_v2)        \
    X(nvmlDeviceGetAccountingPids, nvml_accounting_pids)          \
    X(nvmlDeviceGetProcessUtilization, nvml_process_busy)         \
    X(nvmlDeviceGetProcessesUtilizationInfo, nvml_processes_busy) \
    X(nvmlDeviceGetUtilizationRates, nvml_utilization)            \
    X(nvmlDeviceGetSamples, nvml_samples)

/* The number of each name, in the order of the rows: CUDA's first. */
enum hook {
#define X(name, handler) HOOK_##name,
    CUDA_HOOKS(X) HOOK_CUDA_COUNT,
    HOOK_CUDA_LAST = HOOK_CUDA_COUNT - 1,
    NVML_HOOKS(X) HOOK_COUNT,
#undef X
};

/* A real function's type, and the handler that stands in front of it: on_x(real, arguments...). */
#define X(handler)                              \
    typedef int handler##_fn(PARAMS_##handler); \
    int on_##handler(handler##_fn *real, PARAMS_##handler);
CUDA_HANDLERS(X)
NVML_HANDLERS(X)
#undef X
