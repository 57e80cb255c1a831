/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "gpu/mig/layout.h"

/*
 * The profiles and places of the GPUs that are known: A100, H100, H200 and B200, as NVIDIA documents them. They stand in
 * where a driver does not say the name of a profile or its places, which older ones cannot; what the driver says wins.
 */
struct mig_model {
    const char *name;     // a part of what the driver calls the GPU
    uint32_t memory_min;  // in GiB: GPUs of one name differ in memory
    uint32_t row;         // slices of memory
    const struct mig_profile *profiles;
    uint32_t profile_count;
};

extern const struct mig_model mig_models[];
extern const uint32_t mig_model_count;

/* NULL when it is none of them. */
const struct mig_model *mig_model_find(const char *gpu_name, uint64_t gpu_bytes);
const struct mig_profile *mig_model_profile(const struct mig_model *model, uint32_t id);
