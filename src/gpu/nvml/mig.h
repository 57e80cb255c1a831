/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "gpu/nvml/nvml.h"

struct err;

/*
 * GPUs that are cut into slices (MIG), as the driver has them. A slice is a GPU instance with one compute instance that
 * has all of its processors; programs open it by the UUID of the latter. The mode of a GPU is only read here.
 *
 * Drivers may lack all of this: every function then answers -ENOTSUP.
 */
enum { NVML_MIG_NAME_SIZE = 32, NVML_MIG_PROFILES_MAX = 32, NVML_MIG_PLACES_MAX = 32, NVML_MIG_INSTANCES_MAX = 64 };

/* What instances can be made. */
struct nvml_mig_profile {
    uint32_t id;
    uint32_t slices;                // of the processors
    uint32_t most;                  // instances of it at a time
    uint64_t bytes;                 // of memory
    char name[NVML_MIG_NAME_SIZE];  // "1g.10gb"; "": the driver does not say
};

/* In slices of the GPU's memory. */
struct nvml_mig_place {
    uint32_t start, size;
};

struct nvml_mig_instance {
    uint32_t id;
    uint32_t profile;
    struct nvml_mig_place place;
    bool has_compute;           // programs could open it
    char uuid[NVML_UUID_SIZE];  // "MIG-..."; "" where there is no compute instance
};

/* Whether the GPU is in the mode that allows slices. Returns 0; -ENOTSUP for GPUs and drivers that have none. */
MUST_CHECK int nvml_mig_is_on(struct nvml *nvml, uint32_t index, bool *ret_is_on, struct err *err);

/* The profiles of a GPU that is in the mode. Return how many. */
MUST_CHECK int nvml_mig_profiles(struct nvml *nvml, uint32_t index,
                                 struct nvml_mig_profile profiles[static NVML_MIG_PROFILES_MAX], struct err *err);
MUST_CHECK int nvml_mig_places(struct nvml *nvml, uint32_t index, uint32_t profile,
                               struct nvml_mig_place places[static NVML_MIG_PLACES_MAX], struct err *err);

/* Those instances of a profile that there are. Returns how many. */
MUST_CHECK int nvml_mig_instances(struct nvml *nvml, uint32_t index, uint32_t profile,
                                  struct nvml_mig_instance instances[static NVML_MIG_INSTANCES_MAX], struct err *err);

/* Makes an instance, without compute. Returns 0, or -ENOSPC when something is in its place. */
MUST_CHECK int nvml_mig_create(struct nvml *nvml, uint32_t index, uint32_t profile, struct nvml_mig_place place,
                               uint32_t *ret_id, struct err *err);

/* Gives an instance all of its processors as one compute instance: from then on programs can open it. */
MUST_CHECK int nvml_mig_create_compute(struct nvml *nvml, uint32_t index, uint32_t id, uint32_t slices,
                                       char uuid[static NVML_UUID_SIZE], struct err *err);

/* Destroys an instance and what is in it. Returns 0, also when there is none, or -EBUSY when a program uses it: then
 * nothing is changed. */
MUST_CHECK int nvml_mig_destroy(struct nvml *nvml, uint32_t index, uint32_t id, struct err *err);
