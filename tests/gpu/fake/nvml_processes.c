/* SPDX-License-Identifier: Apache-2.0 */
/* What the pretended NVML says about the work of processes: all that a process has run counts as if it had been in the
 * last second. */
#include <stddef.h>
#include <time.h>

#include "gpu/abi/nvml.h"
#include "state.h"

#define FAKE_EXPORT __attribute__((visibility("default")))
#define DECLARE(name, ...)         \
    nvml_result name(__VA_ARGS__); \
    FAKE_EXPORT nvml_result name(__VA_ARGS__)

nvml_result nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct nvml_process *processes);

static unsigned long long now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

static unsigned percent_of(unsigned pid, int gpu)
{
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        struct fake_process *process = &fake_state()->processes[i];
        if (atomic_load(&process->pid) == (int)pid) {
            uint64_t percent = atomic_load(&process->busy_ns[gpu]) / 10000000;
            return percent > 100 ? 100 : (unsigned)percent;
        }
    }
    return 0;
}

/* Everyone with memory there, up to what the callers here have room for. */
static nvml_result everyone(void *device, struct nvml_process all[FAKE_PROCESSES], unsigned *ret_count)
{
    *ret_count = FAKE_PROCESSES;
    return nvmlDeviceGetComputeRunningProcesses_v3(device, ret_count, all);
}

DECLARE(nvmlDeviceGetRunningProcessDetailList, void *device, struct nvml_process_details *details)
{
    struct nvml_process all[FAKE_PROCESSES];
    unsigned count;
    if (!details || details->version != NVML_PROCESS_DETAILS_V1)
        return NVML_VERSION_MISMATCH;
    nvml_result result = everyone(device, all, &count);
    for (unsigned i = 0; result == NVML_SUCCESS && details->list && i < count && i < details->count; i++)
        details->list[i] = (struct nvml_process_detail){.pid = all[i].pid, .used = all[i].used};
    if (result == NVML_SUCCESS && count > details->count)
        result = NVML_INSUFFICIENT_SIZE;
    details->count = count;
    return result;
}

DECLARE(nvmlDeviceGetAccountingPids, void *device, unsigned *count, unsigned *pids)
{
    struct nvml_process all[FAKE_PROCESSES];
    unsigned found, room = count ? *count : 0;
    if (!count)
        return NVML_INVALID_ARGUMENT;
    nvml_result result = everyone(device, all, &found);
    for (unsigned i = 0; result == NVML_SUCCESS && pids && i < found && i < room; i++)
        pids[i] = all[i].pid;
    *count = found;
    return result == NVML_SUCCESS && found > room ? NVML_INSUFFICIENT_SIZE : result;
}

static nvml_result account(void *device, unsigned pid, struct nvml_accounting *ret_stats)
{
    struct nvml_process all[FAKE_PROCESSES];
    unsigned count;
    nvml_result result = everyone(device, all, &count);
    for (unsigned i = 0; result == NVML_SUCCESS && i < count; i++) {
        if (all[i].pid == pid) {
            *ret_stats = (struct nvml_accounting){
                .gpu = percent_of(pid, (int)(uintptr_t)device - 1), .most_used = all[i].used, .is_running = 1};
            return NVML_SUCCESS;
        }
    }
    return result == NVML_SUCCESS ? NVML_NOT_FOUND : result;
}

DECLARE(nvmlDeviceGetAccountingStats, void *device, unsigned pid, struct nvml_accounting *ret_stats)
{
    return ret_stats ? account(device, pid, ret_stats) : NVML_INVALID_ARGUMENT;
}

DECLARE(nvmlDeviceGetAccountingStats_v2, void *device, struct nvml_accounting_v2 *stats)
{
    struct nvml_accounting old;
    nvml_result result = stats ? account(device, stats->pid, &old) : NVML_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *stats =
            (struct nvml_accounting_v2){.pid = stats->pid, .gpu = old.gpu, .most_used = old.most_used, .is_running = 1};
    return result;
}

/* Those that have done something, as both versions of the interface have it. */
static nvml_result busy(void *device, struct nvml_process_busy_v2 *list, unsigned *count)
{
    struct nvml_process all[FAKE_PROCESSES];
    unsigned found, busy_count = 0, room = *count;
    nvml_result result = everyone(device, all, &found);
    for (unsigned i = 0; result == NVML_SUCCESS && i < found; i++) {
        unsigned percent = percent_of(all[i].pid, (int)(uintptr_t)device - 1);
        if (percent == 0)
            continue;
        if (list && busy_count < room)
            list[busy_count] = (struct nvml_process_busy_v2){
                .time_us = now_us(), .pid = all[i].pid, .gpu = percent, .memory = percent / 2, .encoder = percent / 4};
        busy_count++;
    }
    *count = busy_count;
    if (result == NVML_SUCCESS && busy_count == 0)
        result = NVML_NOT_FOUND;
    return result == NVML_SUCCESS && (!list || busy_count > room) ? NVML_INSUFFICIENT_SIZE : result;
}

DECLARE(nvmlDeviceGetProcessUtilization, void *device, struct nvml_process_busy *list, unsigned *count,
        unsigned long long since_us)
{
    struct nvml_process_busy_v2 all[FAKE_PROCESSES];
    unsigned found = FAKE_PROCESSES, room = count ? *count : 0;
    int fault = fake_fault("nvmlDeviceGetProcessUtilization");
    if (fault || !count)
        return fault ? fault : NVML_INVALID_ARGUMENT;
    nvml_result result = busy(device, all, &found);
    for (unsigned i = 0; result == NVML_SUCCESS && list && i < found && i < room; i++)
        list[i] = (struct nvml_process_busy){.pid = all[i].pid,
                                             .time_us = all[i].time_us,
                                             .gpu = all[i].gpu,
                                             .memory = all[i].memory,
                                             .encoder = all[i].encoder};
    (void)since_us;
    *count = found;
    return result == NVML_SUCCESS && (!list || found > room) ? NVML_INSUFFICIENT_SIZE : result;
}

DECLARE(nvmlDeviceGetProcessesUtilizationInfo, void *device, struct nvml_processes_busy *info)
{
    if (!info || info->version != NVML_PROCESSES_BUSY_V1)
        return NVML_VERSION_MISMATCH;
    return busy(device, info->list, &info->count);
}

DECLARE(nvmlDeviceGetSamples, void *device, int type, unsigned long long since_us, int *ret_value_type, unsigned *count,
        struct nvml_sample *list)
{
    (void)device;
    if (!count || !ret_value_type || (list && *count == 0))
        return NVML_INVALID_ARGUMENT;
    *ret_value_type = NVML_VALUE_UNSIGNED;
    *count = 1;
    if (list)
        *list = (struct nvml_sample){.time_us = since_us + 1, .value.number = type == NVML_SAMPLES_GPU ? 100 : 50};
    return NVML_SUCCESS;
}
