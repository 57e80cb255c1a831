/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The binary interface of the NVIDIA Management Library, as far as Muster speaks it; see cuda.h for how it is made. */

#include <stdint.h>

typedef int nvml_result;

enum {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_IN_USE = 19,
    NVML_UNKNOWN = 999,
};

struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct nvml_memory_v2 {
    unsigned version;  // NVML_MEMORY_V2, set by the caller
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
};
#define NVML_MEMORY_V2 ((unsigned)sizeof(struct nvml_memory_v2) | 2u << 24)

/* A process on a GPU: the first version of the interface, and what all later ones use. */
struct nvml_process_v1 {
    unsigned pid;
    unsigned long long used;
};

struct nvml_process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance;
    unsigned compute_instance;
};

struct nvml_utilization {
    unsigned gpu;
    unsigned memory;
};

/* Room for a GPU's UUID as text, "GPU-" and 36 characters, as the library demands it. */
enum { NVML_UUID_SIZE = 96 };

_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");
