/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What of NVML is about Multi-Instance GPU (MIG): a GPU that is cut into GPU instances, each of which has memory and
 * processors of its own and one or several compute instances, which programs open. See cuda.h for how this is made. */

/* Instances are asked for by the number of their profile, and profiles by an index below this; not every GPU has all. */
enum { NVML_MIG_INDEX_MAX = 32 };

enum { NVML_MIG_OFF = 0, NVML_MIG_ON = 1 };

/* The processors of a compute instance share its engines. */
enum { NVML_MIG_ENGINES_SHARED = 0 };

/* In slices of the GPU's memory for GPU instances, of its processors for compute instances. */
struct nvml_mig_extent {
    unsigned start;
    unsigned size;
};

struct nvml_mig_profile_v1 {
    unsigned id;
    unsigned is_p2p_supported;
    unsigned slices;     // of the processors
    unsigned instances;  // at most
    unsigned processors;
    unsigned copy_engines;
    unsigned decoders;
    unsigned encoders;
    unsigned jpegs;
    unsigned optical_flows;
    unsigned long long memory_mib;
};

struct nvml_mig_profile_v2 {
    unsigned version;  // NVML_MIG_PROFILE_V2, set by the caller
    unsigned id;
    unsigned is_p2p_supported;
    unsigned slices;
    unsigned instances;
    unsigned processors;
    unsigned copy_engines;
    unsigned decoders;
    unsigned encoders;
    unsigned jpegs;
    unsigned optical_flows;
    unsigned long long memory_mib;
    char name[96];
};
#define NVML_MIG_PROFILE_V2 ((unsigned)sizeof(struct nvml_mig_profile_v2) | 2u << 24)

struct nvml_mig_instance_info {
    void *device;
    unsigned id;
    unsigned profile;
    struct nvml_mig_extent place;
};

struct nvml_mig_compute_profile {
    unsigned id;
    unsigned slices;
    unsigned instances;
    unsigned processors;
    unsigned copy_engines;
    unsigned decoders;
    unsigned encoders;
    unsigned jpegs;
    unsigned optical_flows;
};

struct nvml_mig_compute_info {
    void *device;  // what programs open
    void *instance;
    unsigned id;
    unsigned profile;
    struct nvml_mig_extent place;
};

_Static_assert(sizeof(struct nvml_mig_profile_v1) == 48, "nvmlGpuInstanceProfileInfo_t");
_Static_assert(sizeof(struct nvml_mig_profile_v2) == 152, "nvmlGpuInstanceProfileInfo_v2_t");
_Static_assert(sizeof(struct nvml_mig_instance_info) == 24, "nvmlGpuInstanceInfo_t");
_Static_assert(sizeof(struct nvml_mig_compute_profile) == 36, "nvmlComputeInstanceProfileInfo_t");
_Static_assert(sizeof(struct nvml_mig_compute_info) == 32, "nvmlComputeInstanceInfo_t");
