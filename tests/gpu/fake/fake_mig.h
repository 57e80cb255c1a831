/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The slices of the pretended GPUs, for all files of the pretended NVML. */
#include <stdbool.h>

/* The UUID of a slice's compute instance by its handle; false when it is no such handle. */
bool fake_mig_uuid(const void *device, char *text, unsigned size);

/* The number of the slice on the GPU that has the serial number; ~0u: none. */
unsigned fake_mig_instance(int gpu, unsigned serial);

/* Whether a process uses a slice. */
bool fake_mig_is_used(int gpu, unsigned index);

/* Handles: what they are of, the GPU, and the index of the slice. */
enum { FAKE_MIG_INSTANCE = 1, FAKE_MIG_COMPUTE = 2, FAKE_MIG_DEVICE = 3 };
void *fake_mig_handle(int kind, int gpu, unsigned index);
bool fake_mig_of_handle(const void *handle, int kind, int *ret_gpu, unsigned *ret_index);
