/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML shows a tenant: of three GPUs the one of its group, the second; and of the processes there its own, while a
 * stranger (TEST_STRANGER, by its number on the node) holds memory and works on the same GPU. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

enum { GPU = 1, ROOM = 16, SPIN_MS = 200 };

#define NVML(name, handler) ((handler##_fn *)nvml(#name))

static unsigned own;
static unsigned stranger;

/* Memory and 200 ms of work on the GPU that TEST_GPU names. */
static void use_gpu(void)
{
    const char *number = getenv("TEST_GPU");
    cu_result (*init)(unsigned) = (cu_result(*)(unsigned))cuda("cuInit");
    cu_result (*set_current)(void *) = (cu_result(*)(void *))cuda("cuCtxSetCurrent");
    void *ctx = NULL;
    uint64_t address = 0;
    unsigned us = SPIN_MS * 1000;
    void *params[] = {&us};
    if (init(0) != CU_SUCCESS ||
        CALL(cuDevicePrimaryCtxRetain, primary_retain)(&ctx, number ? atoi(number) : GPU) != CU_SUCCESS ||
        set_current(ctx) != CU_SUCCESS || CALL(cuMemAlloc_v2, mem_alloc)(&address, 100 * MIB) != CU_SUCCESS ||
        CALL(cuLaunchKernel, launch_kernel)(spin_function(), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) != CU_SUCCESS) {
        printf("not ok - the GPU is used\n");
        exit(1);
    }
}

/* Somebody else on the GPU, until its standard input ends. */
static void be_stranger(void)
{
    char byte;
    use_gpu();
    printf("ready\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

static void check_gpus(void **ret_device)
{
    static const char *const counts[] = {"nvmlDeviceGetCount", "nvmlDeviceGetCount_v2"};
    static const char *const indexes[] = {"nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2"};
    typedef nvml_result uuid_fn(void *, char *, unsigned);
    char uuid[NVML_UUID_SIZE] = "", other[NVML_UUID_SIZE];
    void *device = NULL, *untouched = (void *)&device;
    unsigned number = 9;
    for (int i = 0; i < 2; i++) {
        unsigned count = 0;
        device = NULL;
        void *none = untouched;
        check(((nvml_count_fn *)nvml(counts[i]))(&count) == NVML_SUCCESS && count == 1, "%s counts the group's",
              counts[i]);
        nvml_by_index_fn *by_index = (nvml_by_index_fn *)nvml(indexes[i]);
        check(by_index(0, &device) == NVML_SUCCESS && device, "%s finds the first", indexes[i]);
        check(by_index(1, &none) == NVML_INVALID_ARGUMENT && none == untouched, "%s finds no second", indexes[i]);
    }
    *ret_device = device;
    check(((uuid_fn *)nvml("nvmlDeviceGetUUID"))(device, uuid, sizeof uuid) == NVML_SUCCESS &&
              strcmp(uuid + strlen(uuid) - 2, "01") == 0,
          "it is the group's GPU (%s)", uuid);
    check(NVML(nvmlDeviceGetIndex, nvml_index)(device, &number) == NVML_SUCCESS && number == 0,
          "its number is the one by which it is found");
    memcpy(other, uuid, sizeof uuid);
    other[strlen(other) - 1] = '2';
    struct {
        unsigned version, type;
        char text[NVML_UUID_SIZE];
    } own_key = {.type = 1}, other_key = {.type = 1};
    memcpy(own_key.text, uuid, sizeof uuid);
    memcpy(other_key.text, other, sizeof uuid);
    const struct {
        const char *name;
        const void *own, *other;
    } ways[] = {
        {"nvmlDeviceGetHandleByUUID", uuid, other},
        {"nvmlDeviceGetHandleByUUIDV", &own_key, &other_key},
        {"nvmlDeviceGetHandleBySerial", "1001", "1002"},
        {"nvmlDeviceGetHandleByPciBusId", "0000:01:00.0", "0000:02:00.0"},
        {"nvmlDeviceGetHandleByPciBusId_v2", "0000:01:00.0", "0000:00:00.0"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        void *found = NULL, *none = untouched;
        nvml_by_key_fn *by_key = (nvml_by_key_fn *)nvml(ways[i].name);
        check(by_key(ways[i].own, &found) == NVML_SUCCESS && found == device, "%s finds it", ways[i].name);
        check(by_key(ways[i].other, &none) == NVML_NOT_FOUND && none == untouched, "%s finds no other", ways[i].name);
    }
    static const char *const links[] = {"nvmlDeviceGetP2PStatus", "nvmlDeviceGetNvLinkState"};
    for (size_t i = 0; i < 2; i++) {
        Dl_info info;
        check(dladdr(nvml(links[i]), &info) && !strstr(info.dli_fname, "libmuster-gpu"), "%s is the driver's own",
              links[i]);
    }
}

static void check_lists(void *device)
{
    static const char *const old_names[] = {"nvmlDeviceGetComputeRunningProcesses",
                                            "nvmlDeviceGetGraphicsRunningProcesses",
                                            "nvmlDeviceGetMPSComputeRunningProcesses"};
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        struct nvml_process_v1 old[ROOM];
        unsigned count = 0;
        nvml_processes_v1_fn *get_old = (nvml_processes_v1_fn *)nvml(old_names[i]);
        check(get_old(device, &count, NULL) == NVML_INSUFFICIENT_SIZE && count == 1, "%s counts one", old_names[i]);
        count = ROOM;
        check(get_old(device, &count, old) == NVML_SUCCESS && count == 1 && old[0].pid == own && old[0].used > 0,
              "%s lists this process by its own number", old_names[i]);
        for (int version = 2; version <= 3; version++) {
            struct nvml_process list[ROOM];
            (void)snprintf(name, sizeof name, "%s_v%d", old_names[i], version);
            nvml_processes_fn *get = (nvml_processes_fn *)nvml(name);
            count = 0;
            check(get(device, &count, NULL) == NVML_INSUFFICIENT_SIZE && count == 1, "%s counts one", name);
            count = 1;
            check(get(device, &count, list) == NVML_SUCCESS && count == 1 && list[0].pid == own && list[0].used > 0,
                  "%s lists this process by its own number", name);
        }
    }
    struct nvml_process_detail details[ROOM];
    struct nvml_process_details all = {.version = NVML_PROCESS_DETAILS_V1, .count = ROOM, .list = details};
    nvml_details_fn *get_details = NVML(nvmlDeviceGetRunningProcessDetailList, nvml_details);
    check(get_details(device, &all) == NVML_SUCCESS && all.count == 1 && details[0].pid == own, "so do the details");
    all.version++;
    check(get_details(device, &all) == NVML_VERSION_MISMATCH, "details of a version to come are not passed on unseen");
}

static void check_accounting(void *device)
{
    unsigned pids[ROOM], count = ROOM;
    struct nvml_accounting stats = {0};
    struct nvml_accounting_v2 stats_v2 = {.pid = own};
    check(NVML(nvmlDeviceGetAccountingPids, nvml_accounting_pids)(device, &count, pids) == NVML_SUCCESS && count == 1 &&
              pids[0] == own,
          "accounting knows this process by its own number");
    nvml_accounting_fn *account = NVML(nvmlDeviceGetAccountingStats, nvml_accounting);
    check(account(device, own, &stats) == NVML_SUCCESS && stats.most_used > 0, "and what it did");
    check(account(device, stranger, &stats) == NVML_NOT_FOUND, "and of a stranger nothing");
    nvml_accounting_v2_fn *account_v2 = NVML(nvmlDeviceGetAccountingStats_v2, nvml_accounting_v2);
    check(account_v2(device, &stats_v2) == NVML_SUCCESS && stats_v2.pid == own && stats_v2.most_used > 0,
          "the second version as well");
    stats_v2.pid = stranger;
    check(account_v2(device, &stats_v2) == NVML_NOT_FOUND && stats_v2.pid == stranger, "and of a stranger nothing");
}

static void check_work(void *device)
{
    struct nvml_process_busy busy[ROOM];
    struct nvml_process_busy_v2 busy_v2[ROOM];
    struct nvml_processes_busy all = {.version = NVML_PROCESSES_BUSY_V1, .count = ROOM, .list = busy_v2};
    struct nvml_utilization rates = {0};
    struct nvml_sample samples[ROOM];
    unsigned count = 0;
    int type = 0;
    nvml_process_busy_fn *get = NVML(nvmlDeviceGetProcessUtilization, nvml_process_busy);
    check(get(device, NULL, &count, 0) == NVML_INSUFFICIENT_SIZE && count == 1, "one process is at work");
    count = ROOM;
    check(get(device, busy, &count, 0) == NVML_SUCCESS && count == 1 && busy[0].pid == own &&
              busy[0].gpu == SPIN_MS / 10,
          "it is this one");
    nvml_processes_busy_fn *get_all = NVML(nvmlDeviceGetProcessesUtilizationInfo, nvml_processes_busy);
    check(get_all(device, &all) == NVML_SUCCESS && all.count == 1 && busy_v2[0].pid == own &&
              busy_v2[0].gpu == SPIN_MS / 10,
          "the later version says the same");
    all.version++;
    check(get_all(device, &all) == NVML_VERSION_MISMATCH, "a version to come is not passed on unseen");
    check(NVML(nvmlDeviceGetUtilizationRates, nvml_utilization)(device, &rates) == NVML_SUCCESS &&
              rates.gpu == SPIN_MS / 10 && rates.memory == SPIN_MS / 20,
          "the GPU is as busy as this tenant keeps it (%u %%)", rates.gpu);
    nvml_samples_fn *sample = NVML(nvmlDeviceGetSamples, nvml_samples);
    count = ROOM;
    check(sample(device, NVML_SAMPLES_GPU, 0, &type, &count, samples) == NVML_SUCCESS && count == 1 &&
              type == NVML_VALUE_UNSIGNED && samples[0].value.number == SPIN_MS / 10,
          "samples say the same");
    count = ROOM;
    check(sample(device, NVML_SAMPLES_GPU, ~0ull, &type, &count, samples) == NVML_NOT_FOUND,
          "and none from the future");
    count = ROOM;
    check(sample(device, 0, 7, &type, &count, samples) == NVML_SUCCESS && samples[0].time_us == 8,
          "samples of power are the GPU's");
    check(NVML(nvmlDeviceSetMemoryLimits_v1, nvml_set_limits)(device, &rates) == NVML_NO_PERMISSION,
          "a tenant sets no limits");
}

static void view(void)
{
    nvml_result (*start)(void) = (nvml_result(*)(void))nvml("nvmlInit_v2");
    void *device = NULL;
    own = (unsigned)getpid();
    stranger = (unsigned)strtoul(getenv("TEST_STRANGER"), NULL, 10);
    use_gpu();
    check(start() == NVML_SUCCESS, "NVML begins");
    check_gpus(&device);
    check_lists(device);
    check_accounting(device);
    check_work(device);
}

const struct test_case nvml_cases[] = {{"view", view}, {"stranger", be_stranger}, {NULL, NULL}};
