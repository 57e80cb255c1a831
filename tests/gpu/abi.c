/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of the driver's interface (CUDA, NVML): as Muster has them, or with VENDOR as the vendor's header does. Both
 * say the same lines. */
#include <stddef.h>
#include <stdio.h>

#ifdef VENDOR
#define __CUDA_API_VERSION_INTERNAL
#ifdef CUDA
#include <cuda.h>
#endif
#ifdef NVML
#include <nvml.h>
#endif
#define SIZE(ours, theirs) printf(#ours " %zu\n", sizeof(theirs))
#define PLACE(ours, member, theirs, their_member) printf(#ours "." #member " %zu\n", offsetof(theirs, their_member))
#define NUMBER(ours, theirs) printf(#ours " %llu\n", (unsigned long long)(theirs))
#else
#include "gpu/abi/cuda.h"
#include "gpu/abi/nvml.h"
#include "gpu/abi/nvml_mig.h"
#define SIZE(ours, theirs) printf(#ours " %zu\n", sizeof(struct ours))
#define PLACE(ours, member, theirs, their_member) printf(#ours "." #member " %zu\n", offsetof(struct ours, member))
#define NUMBER(ours, theirs) printf(#ours " %llu\n", (unsigned long long)(ours))
#endif

#ifdef CUDA
/* Headers before 13.5 do not have it: for them the lines are ours. */
static void say_fabric(void)
{
#if defined(VENDOR) && CUDA_VERSION < 13050
    puts("cu_fabric_copy 64\ncu_fabric_copy.bytes 48");
#else
    SIZE(cu_fabric_copy, CUDA_FABRIC_COPY_BATCH_OP);
    PLACE(cu_fabric_copy, bytes, CUDA_FABRIC_COPY_BATCH_OP, size);
#endif
}

static void say_cuda(void)
{
    SIZE(cu_uuid, CUuuid);
    SIZE(cu_location, CUmemLocation);
    SIZE(cu_allocation_prop, CUmemAllocationProp);
    PLACE(cu_allocation_prop, location, CUmemAllocationProp, location);
    SIZE(cu_access, CUmemAccessDesc);
    PLACE(cu_access, flags, CUmemAccessDesc, flags);
    SIZE(cu_pool_props, CUmemPoolProps);
    PLACE(cu_pool_props, location, CUmemPoolProps, location);
    PLACE(cu_pool_props, max_size, CUmemPoolProps, maxSize);
    SIZE(cu_array_descriptor, CUDA_ARRAY_DESCRIPTOR_v2);
    SIZE(cu_array3d_descriptor, CUDA_ARRAY3D_DESCRIPTOR_v2);
    PLACE(cu_array3d_descriptor, flags, CUDA_ARRAY3D_DESCRIPTOR_v2, Flags);
    SIZE(cu_array_descriptor_v1, CUDA_ARRAY_DESCRIPTOR_v1);
    SIZE(cu_array3d_descriptor_v1, CUDA_ARRAY3D_DESCRIPTOR_v1);
    SIZE(cu_array_map, CUarrayMapInfo);
    PLACE(cu_array_map, operation, CUarrayMapInfo, memOperationType);
    PLACE(cu_array_map, handle, CUarrayMapInfo, memHandle);
    SIZE(cu_launch_config, CUlaunchConfig);
    PLACE(cu_launch_config, stream, CUlaunchConfig, hStream);
    SIZE(cu_launch_params, CUDA_LAUNCH_PARAMS);
    PLACE(cu_launch_params, stream, CUDA_LAUNCH_PARAMS, hStream);
    SIZE(cu_node_params, CUgraphNodeParams);
    PLACE(cu_node_params, alloc, CUgraphNodeParams, alloc);
    PLACE(cu_mem_alloc_node, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
    SIZE(cu_copy_2d, CUDA_MEMCPY2D_v2);
    PLACE(cu_copy_2d, width, CUDA_MEMCPY2D_v2, WidthInBytes);
    SIZE(cu_copy_3d, CUDA_MEMCPY3D_v2);
    PLACE(cu_copy_3d, width, CUDA_MEMCPY3D_v2, WidthInBytes);
    SIZE(cu_copy_3d, CUDA_MEMCPY3D_PEER);
    PLACE(cu_copy_3d, width, CUDA_MEMCPY3D_PEER, WidthInBytes);
    SIZE(cu_copy_2d_v1, CUDA_MEMCPY2D_v1);
    PLACE(cu_copy_2d_v1, width, CUDA_MEMCPY2D_v1, WidthInBytes);
    SIZE(cu_copy_3d_v1, CUDA_MEMCPY3D_v1);
    PLACE(cu_copy_3d_v1, width, CUDA_MEMCPY3D_v1, WidthInBytes);
    SIZE(cu_copy_box, CUDA_MEMCPY3D_BATCH_OP);
    PLACE(cu_copy_box, width, CUDA_MEMCPY3D_BATCH_OP, extent);
    say_fabric();
    SIZE(cu_decompress, CUmemDecompressParams);
    PLACE(cu_decompress, to_bytes, CUmemDecompressParams, dstNumBytes);
    NUMBER(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    NUMBER(CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
    NUMBER(CU_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
    NUMBER(CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
    NUMBER(CU_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
    NUMBER(CU_LOCATION_HOST_NUMA, CU_MEM_LOCATION_TYPE_HOST_NUMA);
    NUMBER(CU_LOCATION_HOST_NUMA_CURRENT, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
    NUMBER(CU_ALLOCATION_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
    NUMBER(CU_POOL_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    NUMBER(CU_POOL_RESERVED_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    NUMBER(CU_POOL_USED_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    NUMBER(CU_GRAPH_MEMORY_RESERVED_CURRENT, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    NUMBER(CU_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
    NUMBER(CU_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
    NUMBER(CU_NODE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    NUMBER(CU_ARRAY_SPARSE, CUDA_ARRAY3D_SPARSE);
    NUMBER(CU_ARRAY_DEFERRED, CUDA_ARRAY3D_DEFERRED_MAPPING);
    NUMBER(CU_ARRAY_LAYERED, CUDA_ARRAY3D_LAYERED);
    NUMBER(CU_ARRAY_CUBEMAP, CUDA_ARRAY3D_CUBEMAP);
    NUMBER(CU_MAP_OPERATION_MAP, CU_MEM_OPERATION_TYPE_MAP);
    NUMBER(CU_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
    NUMBER(CU_PROC_PER_THREAD_STREAM, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    NUMBER(CU_PROC_VERSION_NOT_SUFFICIENT, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}
#endif

#ifdef NVML
static void say_nvml(void)
{
    SIZE(nvml_memory, nvmlMemory_t);
    SIZE(nvml_memory_v2, nvmlMemory_v2_t);
    PLACE(nvml_memory_v2, free, nvmlMemory_v2_t, free);
    SIZE(nvml_process_v1, nvmlProcessInfo_v1_t);
    SIZE(nvml_process, nvmlProcessInfo_v2_t);
    SIZE(nvml_process, nvmlProcessInfo_t);
    SIZE(nvml_process_detail, nvmlProcessDetail_v1_t);
    SIZE(nvml_process_details, nvmlProcessDetailList_v1_t);
    PLACE(nvml_process_details, list, nvmlProcessDetailList_v1_t, procArray);
    SIZE(nvml_utilization, nvmlUtilization_t);
    SIZE(nvml_process_busy, nvmlProcessUtilizationSample_t);
    PLACE(nvml_process_busy, gpu, nvmlProcessUtilizationSample_t, smUtil);
    SIZE(nvml_process_busy_v2, nvmlProcessUtilizationInfo_v1_t);
    PLACE(nvml_process_busy_v2, pid, nvmlProcessUtilizationInfo_v1_t, pid);
    SIZE(nvml_processes_busy, nvmlProcessesUtilizationInfo_v1_t);
    PLACE(nvml_processes_busy, list, nvmlProcessesUtilizationInfo_v1_t, procUtilArray);
    SIZE(nvml_sample, nvmlSample_t);
    SIZE(nvml_accounting, nvmlAccountingStats_t);
    SIZE(nvml_mig_extent, nvmlGpuInstancePlacement_t);
    SIZE(nvml_mig_profile_v1, nvmlGpuInstanceProfileInfo_t);
    PLACE(nvml_mig_profile_v1, slices, nvmlGpuInstanceProfileInfo_t, sliceCount);
    PLACE(nvml_mig_profile_v1, memory_mib, nvmlGpuInstanceProfileInfo_t, memorySizeMB);
    SIZE(nvml_mig_profile_v2, nvmlGpuInstanceProfileInfo_v2_t);
    PLACE(nvml_mig_profile_v2, memory_mib, nvmlGpuInstanceProfileInfo_v2_t, memorySizeMB);
    PLACE(nvml_mig_profile_v2, name, nvmlGpuInstanceProfileInfo_v2_t, name);
    SIZE(nvml_mig_instance_info, nvmlGpuInstanceInfo_t);
    PLACE(nvml_mig_instance_info, place, nvmlGpuInstanceInfo_t, placement);
    SIZE(nvml_mig_compute_profile, nvmlComputeInstanceProfileInfo_t);
    SIZE(nvml_mig_compute_info, nvmlComputeInstanceInfo_t);
    PLACE(nvml_mig_compute_info, id, nvmlComputeInstanceInfo_t, id);
    NUMBER(NVML_MIG_PROFILE_V2, nvmlGpuInstanceProfileInfo_v2);
    NUMBER(NVML_MIG_ON, NVML_DEVICE_MIG_ENABLE);
    NUMBER(NVML_MIG_ENGINES_SHARED, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED);
    NUMBER(NVML_IN_USE, NVML_ERROR_IN_USE);
    NUMBER(NVML_INSUFFICIENT_RESOURCES, NVML_ERROR_INSUFFICIENT_RESOURCES);
    NUMBER(NVML_SUCCESS, NVML_SUCCESS);
    NUMBER(NVML_INVALID_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT);
    NUMBER(NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
    NUMBER(NVML_NOT_FOUND, NVML_ERROR_NOT_FOUND);
    NUMBER(NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
    NUMBER(NVML_FUNCTION_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND);
    NUMBER(NVML_VERSION_MISMATCH, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    NUMBER(NVML_MEMORY_V2, nvmlMemory_v2);
    NUMBER(NVML_PROCESS_DETAILS_V1, nvmlProcessDetailList_v1);
    NUMBER(NVML_PROCESSES_BUSY_V1, nvmlProcessesUtilizationInfo_v1);
    NUMBER(NVML_SAMPLES_GPU, NVML_GPU_UTILIZATION_SAMPLES);
    NUMBER(NVML_SAMPLES_DECODER, NVML_DEC_UTILIZATION_SAMPLES);
    NUMBER(NVML_VALUE_UNSIGNED, NVML_VALUE_TYPE_UNSIGNED_INT);
}
#endif

int main(void)
{
#ifdef CUDA
    say_cuda();
#endif
#ifdef NVML
    say_nvml();
#endif
    return 0;
}
