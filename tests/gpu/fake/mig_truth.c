/* SPDX-License-Identifier: Apache-2.0 */
/* What there is of slices, in the state. */
#include <stdint.h>
#include <stdio.h>

#include "fake_mig.h"
#include "state.h"

enum { KIND_SHIFT = 20, GPU_SHIFT = 8 };

void *fake_mig_handle(int kind, int gpu, unsigned index)
{
    return (void *)((uintptr_t)kind << KIND_SHIFT | (uintptr_t)gpu << GPU_SHIFT | index);
}

bool fake_mig_of_handle(const void *handle, int kind, int *ret_gpu, unsigned *ret_index)
{
    uintptr_t bits = (uintptr_t)handle;
    *ret_gpu = (int)(bits >> GPU_SHIFT & 0xff);
    *ret_index = bits & 0xff;
    return fake_state() && bits >> KIND_SHIFT == (uintptr_t)kind && *ret_gpu < fake_state()->gpu_count &&
           *ret_index < FAKE_SLICES && fake_state()->slices[*ret_gpu][*ret_index].serial;
}

bool fake_mig_uuid(const void *device, char *text, unsigned size)
{
    int gpu;
    unsigned index;
    if (!fake_mig_of_handle(device, FAKE_MIG_DEVICE, &gpu, &index) || size < 41)
        return false;
    (void)snprintf(text, size, "MIG-%08x-4d49-4700-8000-%012x", fake_state()->slices[gpu][index].serial,
                   (unsigned)gpu << GPU_SHIFT | (index + 1));
    return true;
}

unsigned fake_mig_instance(int gpu, unsigned serial)
{
    for (unsigned i = 0; serial && i < FAKE_SLICES; i++) {
        if (fake_state()->slices[gpu][i].serial == serial)
            return i + 1;
    }
    return ~0u;
}

bool fake_mig_is_used(int gpu, unsigned index)
{
    struct fake_slice *slice = &fake_state()->slices[gpu][index];
    if (atomic_load(&slice->held))
        return true;
    (void)fake_used(gpu);
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        struct fake_process *process = &fake_state()->processes[i];
        if (atomic_load(&process->pid) > 0 && atomic_load(&process->slice) == slice->serial &&
            atomic_load(&process->used[gpu]) > 0)
            return true;
    }
    return false;
}
