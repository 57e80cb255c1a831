/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The binary interface of the CUDA driver library, as far as Muster speaks it: results, the layouts of the structs that
 * cross the border, and the few constants that mean something to us. It is written from the published facts of the
 * interface, so that neither the build nor a reader needs the vendor's headers. Handles are opaque pointers.
 * All of it is for 64-bit Linux. */

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef uint64_t cu_address;  // a device pointer
typedef uint64_t cu_handle;   // a VMM allocation handle

enum {
    CU_SUCCESS = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_INITIALIZED = 3,
    CU_DEINITIALIZED = 4,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_CONTEXT = 201,
    CU_INVALID_HANDLE = 400,
    CU_NOT_FOUND = 500,
    CU_NOT_READY = 600,
    CU_ILLEGAL_ADDRESS = 700,
    CU_NOT_PERMITTED = 800,
    CU_NOT_SUPPORTED = 801,
    CU_STREAM_CAPTURE_UNSUPPORTED = 900,
    CU_STREAM_CAPTURE_INVALIDATED = 901,
    CU_UNKNOWN = 999,
};

/* Streams that are numbers instead of objects: the default stream shared by all threads, and each thread's own. */
#define CU_STREAM_LEGACY ((void *)(uintptr_t)1)
#define CU_STREAM_PER_THREAD ((void *)(uintptr_t)2)

enum cu_capture { CU_CAPTURE_NONE, CU_CAPTURE_ACTIVE, CU_CAPTURE_INVALIDATED };
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 };

enum cu_proc_flags { CU_PROC_DEFAULT = 0, CU_PROC_LEGACY_STREAM = 1, CU_PROC_PER_THREAD_STREAM = 2 };
enum cu_proc_status { CU_PROC_FOUND, CU_PROC_SYMBOL_NOT_FOUND, CU_PROC_VERSION_NOT_SUFFICIENT };

struct cu_uuid {
    unsigned char bytes[16];
};

enum cu_location_type {
    CU_LOCATION_NONE,
    CU_LOCATION_DEVICE,
    CU_LOCATION_HOST,
    CU_LOCATION_HOST_NUMA,
    CU_LOCATION_HOST_NUMA_CURRENT,
    CU_LOCATION_INVISIBLE,
    CU_LOCATION_DEVICE_DOMAIN,  // a part of a device's memory: its id is the device's and, in the second byte, the part's
};

enum { CU_ALLOCATION_PINNED = 1, CU_ALLOCATION_MANAGED = 2 };

struct cu_location {
    int type;
    int id;
};

/* What cuMemCreate makes. */
struct cu_allocation_prop {
    int type;
    int handle_types;
    struct cu_location location;
    void *win32_meta;
    unsigned char compression;
    unsigned char rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
};

/* What cuMemSetAccess takes. */
struct cu_access {
    struct cu_location location;
    int flags;
};

/* What cuMemPoolCreate makes. */
struct cu_pool_props {
    int allocation_type;
    int handle_types;
    struct cu_location location;
    void *win32_security;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
};

enum cu_pool_attribute {
    CU_POOL_RELEASE_THRESHOLD = 4,
    CU_POOL_RESERVED_CURRENT = 5,
    CU_POOL_RESERVED_HIGH = 6,
    CU_POOL_USED_CURRENT = 7,
    CU_POOL_USED_HIGH = 8,
    CU_POOL_MAX_SIZE = 13,
};

enum cu_graph_memory_attribute {
    CU_GRAPH_MEMORY_USED_CURRENT,
    CU_GRAPH_MEMORY_USED_HIGH,
    CU_GRAPH_MEMORY_RESERVED_CURRENT,
    CU_GRAPH_MEMORY_RESERVED_HIGH,
};

struct cu_array_descriptor {
    size_t width;
    size_t height;
    int format;
    unsigned channels;
};

struct cu_array3d_descriptor {
    size_t width;
    size_t height;
    size_t depth;
    int format;
    unsigned channels;
    unsigned flags;
};

/* The same two as the first version of the interface had them. */
struct cu_array_descriptor_v1 {
    unsigned width;
    unsigned height;
    int format;
    unsigned channels;
};

struct cu_array3d_descriptor_v1 {
    unsigned width;
    unsigned height;
    unsigned depth;
    int format;
    unsigned channels;
    unsigned flags;
};

/* Flags of an array whose memory comes later, piece by piece (sparse) or as a whole (deferred). */
enum { CU_ARRAY_LAYERED = 1, CU_ARRAY_CUBEMAP = 4, CU_ARRAY_SPARSE = 0x40, CU_ARRAY_DEFERRED = 0x80 };

enum { CU_MAP_OPERATION_MAP = 1, CU_MAP_OPERATION_UNMAP = 2 };

/* One piece of a sparse array that gets or loses its memory. */
struct cu_array_map {
    int resource_type;
    void *resource;
    int subresource_type;
    union {
        struct {
            unsigned level, layer, x, y, z, width, height, depth;
        } sparse;
        struct {
            unsigned layer;
            unsigned long long offset, size;
        } tail;
    } subresource;
    int operation;
    int handle_type;
    cu_handle handle;
    unsigned long long offset;
    unsigned device_mask;
    unsigned flags;
    unsigned reserved[2];
};

struct cu_launch_config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
};

/* One device's part of a cooperative launch over several devices. */
struct cu_launch_params {
    void *function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void **parameters;
};

/* Copies of two and three dimensions: of one end all is the same, and we read only the extent. */
struct cu_copy_2d {
    size_t ends[14];
    size_t width, height;
};

struct cu_copy_3d {
    size_t ends[22];
    size_t width, height, depth;
};

/* The same two as the first version of the interface had them. */
struct cu_copy_2d_v1 {
    unsigned ends[21];
    unsigned width, height;
    unsigned padding;
};

struct cu_copy_3d_v1 {
    unsigned ends[32];
    unsigned width, height, depth;
    unsigned padding;
};

/* One of many copies at once. */
struct cu_copy_box {
    uint64_t ends[10];
    size_t width, height, depth;
    int order;
    unsigned flags;
};

/* One of many copies to or from another node's memory. */
struct cu_fabric_copy {
    uint64_t ends[6];
    size_t bytes;
    unsigned flags;
    unsigned padding;
};

struct cu_decompress {
    size_t from_bytes, to_bytes;
    uint64_t rest[6];
};

enum { CU_NODE_KERNEL = 0, CU_NODE_GRAPH = 4, CU_NODE_MEM_ALLOC = 10, CU_NODE_MEM_FREE = 11 };

struct cu_mem_alloc_node {
    struct cu_pool_props props;
    const void *access;
    size_t access_count;
    size_t bytes;
    cu_address address;
};

/* What cuGraphAddNode takes: the kind of the node and one of many bodies, of which we read one. */
struct cu_node_params {
    int type;
    int reserved0[3];
    union {
        long long words[29];
        struct cu_mem_alloc_node alloc;
    };
    long long reserved2;
};

struct cu_ipc_handle {
    char bytes[64];
};

_Static_assert(sizeof(struct cu_allocation_prop) == 32, "CUmemAllocationProp");
_Static_assert(sizeof(struct cu_pool_props) == 88, "CUmemPoolProps");
_Static_assert(sizeof(struct cu_array3d_descriptor) == 40, "CUDA_ARRAY3D_DESCRIPTOR");
_Static_assert(sizeof(struct cu_array_map) == 96, "CUarrayMapInfo");
_Static_assert(sizeof(struct cu_launch_config) == 56, "CUlaunchConfig");
_Static_assert(sizeof(struct cu_launch_params) == 56, "CUDA_LAUNCH_PARAMS");
_Static_assert(sizeof(struct cu_node_params) == 256, "CUgraphNodeParams");
_Static_assert(offsetof(struct cu_mem_alloc_node, bytes) == 104, "CUDA_MEM_ALLOC_NODE_PARAMS");
_Static_assert(sizeof(struct cu_copy_2d) == 128, "CUDA_MEMCPY2D");
_Static_assert(sizeof(struct cu_copy_3d) == 200, "CUDA_MEMCPY3D");
_Static_assert(sizeof(struct cu_copy_2d_v1) == 96, "CUDA_MEMCPY2D_v1");
_Static_assert(sizeof(struct cu_copy_3d_v1) == 144, "CUDA_MEMCPY3D_v1");
_Static_assert(sizeof(struct cu_copy_box) == 112, "CUDA_MEMCPY3D_BATCH_OP");
_Static_assert(sizeof(struct cu_fabric_copy) == 64, "CUDA_FABRIC_COPY_BATCH_OP");
_Static_assert(sizeof(struct cu_decompress) == 64, "CUmemDecompressParams");
