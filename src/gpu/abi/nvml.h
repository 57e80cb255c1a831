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
    NVML_INSUFFICIENT_RESOURCES = 23,
    NVML_VERSION_MISMATCH = 25,
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

/* The same with what is protected by confidential computing, in a list that carries its own length. */
struct nvml_process_detail {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance;
    unsigned compute_instance;
    unsigned long long used_protected;
};

struct nvml_process_details {
    unsigned version;  // NVML_PROCESS_DETAILS_V1, set by the caller
    unsigned mode;
    unsigned count;  // room in the list, and what is in it afterwards
    struct nvml_process_detail *list;
};
#define NVML_PROCESS_DETAILS_V1 ((unsigned)sizeof(struct nvml_process_details) | 1u << 24)

/* How busy a GPU is, in percent. */
struct nvml_utilization {
    unsigned gpu;
    unsigned memory;
};

/* The part of it that is one process's: the first version of the interface, and the later one. */
struct nvml_process_busy {
    unsigned pid;
    unsigned long long time_us;
    unsigned gpu;
    unsigned memory;
    unsigned encoder;
    unsigned decoder;
};

struct nvml_process_busy_v2 {
    unsigned long long time_us;
    unsigned pid;
    unsigned gpu;
    unsigned memory;
    unsigned encoder;
    unsigned decoder;
    unsigned jpeg;
    unsigned optical_flow;
};

struct nvml_processes_busy {
    unsigned version;  // NVML_PROCESSES_BUSY_V1, set by the caller
    unsigned count;    // room in the list, and what is in it afterwards
    unsigned long long since_us;
    struct nvml_process_busy_v2 *list;
};
#define NVML_PROCESSES_BUSY_V1 ((unsigned)sizeof(struct nvml_processes_busy) | 1u << 24)

/* One of the figures that are sampled, of which these are about how busy the GPU is. */
enum {
    NVML_SAMPLES_GPU = 1,
    NVML_SAMPLES_MEMORY = 2,
    NVML_SAMPLES_ENCODER = 3,
    NVML_SAMPLES_DECODER = 4,
};
enum { NVML_VALUE_UNSIGNED = 1 };

struct nvml_sample {
    unsigned long long time_us;
    union {
        double real;
        unsigned number;
        unsigned long long large;
    } value;
};

/* What a process did over its life, where accounting is switched on. */
struct nvml_accounting {
    unsigned gpu;
    unsigned memory;
    unsigned long long most_used;
    unsigned long long time_ms;
    unsigned long long start_us;
    unsigned is_running;
    unsigned reserved[5];
};

struct nvml_accounting_v2 {
    unsigned pid;  // set by the caller
    unsigned is_running;
    unsigned gpu;
    unsigned memory;
    unsigned long long most_used;
    unsigned samples;
    unsigned long long gpu_sum;
    unsigned long long memory_sum;
    unsigned long long time_ms;
    unsigned long long start_us;
};

/* Room for a GPU's UUID as text, "GPU-" and 36 characters, as the library demands it. */
enum { NVML_UUID_SIZE = 96 };

_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(struct nvml_process_detail) == 32, "nvmlProcessDetail_v1_t");
_Static_assert(sizeof(struct nvml_process_details) == 24, "nvmlProcessDetailList_v1_t");
_Static_assert(sizeof(struct nvml_process_busy) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct nvml_process_busy_v2) == 40, "nvmlProcessUtilizationInfo_v1_t");
_Static_assert(sizeof(struct nvml_processes_busy) == 24, "nvmlProcessesUtilizationInfo_v1_t");
_Static_assert(sizeof(struct nvml_sample) == 16, "nvmlSample_t");
_Static_assert(sizeof(struct nvml_accounting) == 56, "nvmlAccountingStats_t");
_Static_assert(sizeof(struct nvml_accounting_v2) == 64, "nvmlAccountingStats_v2_t");
