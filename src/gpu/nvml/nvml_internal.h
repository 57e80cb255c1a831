/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "gpu/abi/nvml_mig.h"
#include "gpu/nvml/nvml.h"

/* What the files of this folder share. */

enum { NVML_OK = 0, NVML_INVALID_ARGUMENT = 2, NVML_VERSION_SIZE = 80 };

/* No code of NVML's: it lacks the function. */
enum { FUNCTION_MISSING = -1 };

struct memory_info {
    unsigned long long total, free, used;
};

struct process_info {
    unsigned int pid;
    unsigned long long used;
    unsigned int gpu_instance, compute_instance;
};

/* NULL where the driver lacks them, as old ones do. */
struct nvml_mig_functions {
    int (*mode)(void *, unsigned *, unsigned *);
    int (*profile)(void *, unsigned, struct nvml_mig_profile_v1 *);
    int (*profile_named)(void *, unsigned, struct nvml_mig_profile_v2 *);
    int (*places)(void *, unsigned, struct nvml_mig_extent *, unsigned *);
    int (*instances)(void *, unsigned, void **, unsigned *);
    int (*instance_by_id)(void *, unsigned, void **);
    int (*instance_info)(void *, struct nvml_mig_instance_info *);
    int (*create)(void *, unsigned, const struct nvml_mig_extent *, void **);
    int (*destroy)(void *);
    int (*compute_profile)(void *, unsigned, unsigned, struct nvml_mig_compute_profile *);
    int (*compute_instances)(void *, unsigned, void **, unsigned *);
    int (*compute_info)(void *, struct nvml_mig_compute_info *);
    int (*create_compute)(void *, unsigned, void **);
    int (*destroy_compute)(void *);
};

struct nvml {
    void *library;
    uint32_t count;
    void **devices;  // handles, as they have been asked for; NULL: not yet, or it was good for nothing any more
    char version[NVML_VERSION_SIZE];
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*device_count)(unsigned int *);
    int (*device_by_index)(unsigned int, void **);
    int (*device_uuid)(void *, char *, unsigned int);
    int (*device_name)(void *, char *, unsigned int);
    int (*device_memory)(void *, struct memory_info *);
    int (*device_minor)(void *, unsigned int *);
    int (*device_processes)(void *, unsigned int *, struct process_info *);
    int (*driver_version)(char *, unsigned int);
    struct nvml_mig_functions mig;
};

/* What the driver says about a code of its own. */
const char *nvml_why(const struct nvml *nvml, int code);

/* A handle is good until NVML ends, so that a look costs no lookup. One that has failed, as after a reset of the GPU, is
 * asked for again the next time. */
int nvml_find_device(struct nvml *nvml, uint32_t index, void **ret_device);

/* Texts of the driver go into JSON and onto terminals. */
void nvml_clean(char *text, size_t size);

/* mig.c */
void nvml_mig_load(struct nvml *nvml);
