/* SPDX-License-Identifier: Apache-2.0 */
/* The pretended NVML: what it says is the truth of the shared state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_mig.h"
#include "gpu/abi/nvml.h"
#include "state.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

/* Handles are the numbers of GPUs, plus one. */
static int gpu_of(void *device)
{
    int gpu = (int)(uintptr_t)device - 1;
    return fake_state() && gpu >= 0 && gpu < fake_state()->gpu_count ? gpu : -1;
}

#define DECLARE(name, ...)         \
    nvml_result name(__VA_ARGS__); \
    FAKE_EXPORT nvml_result name(__VA_ARGS__)

DECLARE(nvmlInit_v2, void)
{
    int fault = fake_fault("nvmlInit_v2");
    return fault ? fault : fake_state() ? NVML_SUCCESS : NVML_DRIVER_NOT_LOADED;
}

DECLARE(nvmlInitWithFlags, unsigned flags)
{
    (void)flags;
    return nvmlInit_v2();
}

const char *nvmlErrorString(nvml_result result);
FAKE_EXPORT const char *nvmlErrorString(nvml_result result)
{
    return result == NVML_SUCCESS ? "success" : "pretended failure";
}

DECLARE(nvmlShutdown, void)
{
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetCount_v2, unsigned *ret_count)
{
    if (!ret_count || !fake_state())
        return NVML_INVALID_ARGUMENT;
    *ret_count = (unsigned)fake_state()->gpu_count;
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetHandleByIndex_v2, unsigned index, void **ret_device)
{
    if (!ret_device || !fake_state() || index >= (unsigned)fake_state()->gpu_count)
        return NVML_INVALID_ARGUMENT;
    *ret_device = (void *)(uintptr_t)(index + 1);
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetUUID, void *device, char *text, unsigned size)
{
    unsigned char u[16];
    int gpu = gpu_of(device);
    if (fake_mig_uuid(device, text, size))
        return NVML_SUCCESS;
    if (gpu < 0 || !text)
        return NVML_INVALID_ARGUMENT;
    if (size < 41)
        return NVML_INSUFFICIENT_SIZE;
    fake_uuid(gpu, u);
    (void)snprintf(text, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
                   u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetHandleByUUID, const char *uuid, void **ret_device)
{
    char text[NVML_UUID_SIZE];
    for (unsigned i = 0; uuid && ret_device && fake_state() && i < (unsigned)fake_state()->gpu_count; i++) {
        void *device = (void *)(uintptr_t)(i + 1);
        if (nvmlDeviceGetUUID(device, text, sizeof text) == NVML_SUCCESS && strcmp(text, uuid) == 0) {
            *ret_device = device;
            return NVML_SUCCESS;
        }
    }
    return NVML_NOT_FOUND;
}

DECLARE(nvmlDeviceGetCount, unsigned *ret_count)
{
    return nvmlDeviceGetCount_v2(ret_count);
}

DECLARE(nvmlDeviceGetHandleByIndex, unsigned index, void **ret_device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, ret_device);
}

/* A struct with a version, a kind (1 for text) and the text. */
DECLARE(nvmlDeviceGetHandleByUUIDV, const unsigned *uuid, void **ret_device)
{
    if (!uuid || uuid[1] != 1)
        return NVML_INVALID_ARGUMENT;
    return nvmlDeviceGetHandleByUUID((const char *)(uuid + 2), ret_device);
}

/* GPU 2 has the serial number 1002 and lies at 0000:02:00.0. */
static nvml_result by_number(const char *text, const char *start, void **ret_device)
{
    if (!text || !ret_device)
        return NVML_INVALID_ARGUMENT;
    size_t len = strlen(start);
    void *device = (void *)(uintptr_t)(strncmp(text, start, len) == 0 ? strtoul(text + len, NULL, 10) + 1 : 0);
    if (gpu_of(device) < 0)
        return NVML_NOT_FOUND;
    *ret_device = device;
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetHandleBySerial, const char *serial, void **ret_device)
{
    return by_number(serial, "100", ret_device);
}

DECLARE(nvmlDeviceGetHandleByPciBusId, const char *place, void **ret_device)
{
    return by_number(place, "0000:", ret_device);
}

DECLARE(nvmlDeviceGetHandleByPciBusId_v2, const char *place, void **ret_device)
{
    return by_number(place, "0000:", ret_device);
}

DECLARE(nvmlDeviceGetP2PStatus, void *one, void *two, int index, int *ret_status)
{
    (void)index;
    if (gpu_of(one) < 0 || gpu_of(two) < 0 || !ret_status)
        return NVML_INVALID_ARGUMENT;
    *ret_status = 0;
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetNvLinkState, void *device, unsigned link, unsigned *ret_is_active)
{
    (void)link;
    if (gpu_of(device) < 0 || !ret_is_active)
        return NVML_INVALID_ARGUMENT;
    *ret_is_active = 1;
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceSetMemoryLimits_v1, void *device, void *limits)
{
    return gpu_of(device) < 0 || !limits ? NVML_INVALID_ARGUMENT : NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetIndex, void *device, unsigned *ret_index)
{
    int gpu = gpu_of(device);
    if (gpu < 0 || !ret_index)
        return NVML_INVALID_ARGUMENT;
    *ret_index = (unsigned)gpu;
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetMinorNumber, void *device, unsigned *ret_minor)
{
    return nvmlDeviceGetIndex(device, ret_minor);
}

DECLARE(nvmlDeviceGetName, void *device, char *text, unsigned size)
{
    if (gpu_of(device) < 0 || !text)
        return NVML_INVALID_ARGUMENT;
    const char *name = getenv("FAKE_GPU_NAME");
    (void)snprintf(text, size, "%s", name ? name : "Pretended GPU");
    return NVML_SUCCESS;
}

DECLARE(nvmlSystemGetDriverVersion, char *text, unsigned size)
{
    if (!text)
        return NVML_INVALID_ARGUMENT;
    (void)snprintf(text, size, "580.0");
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetMemoryInfo, void *device, struct nvml_memory *ret_memory)
{
    int gpu = gpu_of(device), fault = fake_fault("nvmlDeviceGetMemoryInfo");
    if (fault)
        return fault;
    if (gpu < 0 || !ret_memory)
        return NVML_INVALID_ARGUMENT;
    ret_memory->total = fake_state()->bytes;
    ret_memory->used = fake_used(gpu);
    ret_memory->free = ret_memory->total - ret_memory->used;
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetMemoryInfo_v2, void *device, struct nvml_memory_v2 *ret_memory)
{
    int gpu = gpu_of(device), fault = fake_fault("nvmlDeviceGetMemoryInfo_v2");
    if (fault)
        return fault;
    if (gpu < 0 || !ret_memory || ret_memory->version != NVML_MEMORY_V2)
        return NVML_INVALID_ARGUMENT;
    ret_memory->total = fake_state()->bytes;
    ret_memory->reserved = 0;
    ret_memory->used = fake_used(gpu);
    ret_memory->free = ret_memory->total - ret_memory->used;
    return NVML_SUCCESS;
}

DECLARE(nvmlDeviceGetUtilizationRates, void *device, struct nvml_utilization *ret_rates)
{
    int gpu = gpu_of(device);
    if (gpu < 0 || !ret_rates)
        return NVML_INVALID_ARGUMENT;
    ret_rates->gpu = atomic_load(&fake_state()->busy_until[gpu]) > fake_now_ns() ? 100 : 0;
    ret_rates->memory = 0;
    return NVML_SUCCESS;
}

/* As the real one does, which looks and then takes its time: by FAKE_GPU_LATE microseconds. */
static void answer_late(void)
{
    const char *text = getenv("FAKE_GPU_LATE");
    long us = text ? strtol(text, NULL, 10) : 0;
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    if (us > 0)
        (void)nanosleep(&pause, NULL);
}

/* A driver that has lost its way: FAKE_GPU_NUMBERS are listed as processes besides those that there are. */
static unsigned add_numbers(struct nvml_process *processes, unsigned found, unsigned room)
{
    const char *text = getenv("FAKE_GPU_NUMBERS");
    while (text && *text && found < room) {
        char *end;
        unsigned pid = (unsigned)strtoul(text, &end, 10);
        processes[found++] =
            (struct nvml_process){.pid = pid, .used = 1 << 20, .gpu_instance = ~0u, .compute_instance = ~0u};
        text = *end ? end + 1 : end;
    }
    return found;
}

/* Processes with memory on the GPU, in the order of the state. */
static nvml_result list(void *device, unsigned *count, struct nvml_process *processes, const char *name)
{
    int gpu = gpu_of(device), fault = fake_fault(name);
    unsigned found = 0;
    if (fault)
        return fault;
    if (gpu < 0 || !count || (!processes && *count > 0))
        return NVML_INVALID_ARGUMENT;
    (void)fake_used(gpu);
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        struct fake_process *process = &fake_state()->processes[i];
        int pid = atomic_load(&process->pid);
        uint64_t used = atomic_load(&process->used[gpu]);
        if (pid <= 0 || used == 0)
            continue;
        if (found < *count)
            processes[found] =
                (struct nvml_process){.pid = (unsigned)pid,
                                      .used = used,
                                      .gpu_instance = fake_mig_instance(gpu, atomic_load(&process->slice)),
                                      .compute_instance = ~0u};
        found++;
    }
    for (unsigned i = 0; i < FAKE_SLICES; i++) {
        int pid = atomic_load(&fake_state()->slices[gpu][i].held);
        if (pid && found < *count)
            processes[found++] = (struct nvml_process){.pid = (unsigned)pid, .used = 1 << 20, .gpu_instance = i + 1};
    }
    found = add_numbers(processes, found, *count);
    nvml_result result = found > *count ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
    *count = found;
    answer_late();
    return result;
}

static nvml_result list_v1(void *device, unsigned *count, struct nvml_process_v1 *processes, const char *name)
{
    static struct nvml_process all[FAKE_PROCESSES];
    unsigned found = FAKE_PROCESSES, room = count ? *count : 0;
    nvml_result result = list(device, count ? &found : NULL, all, name);
    if (result != NVML_SUCCESS)
        return result;
    for (unsigned i = 0; processes && i < found && i < room; i++)
        processes[i] = (struct nvml_process_v1){.pid = all[i].pid, .used = all[i].used};
    *count = found;
    return found > room ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

#define PROCESSES(name)                                                               \
    DECLARE(name, void *device, unsigned *count, struct nvml_process_v1 *processes)   \
    {                                                                                 \
        return list_v1(device, count, processes, #name);                              \
    }                                                                                 \
    DECLARE(name##_v2, void *device, unsigned *count, struct nvml_process *processes) \
    {                                                                                 \
        return list(device, count, processes, #name "_v2");                           \
    }                                                                                 \
    DECLARE(name##_v3, void *device, unsigned *count, struct nvml_process *processes) \
    {                                                                                 \
        return list(device, count, processes, #name "_v3");                           \
    }

PROCESSES(nvmlDeviceGetComputeRunningProcesses)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
