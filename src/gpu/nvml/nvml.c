/* SPDX-License-Identifier: Apache-2.0 */

/* The few functions of NVML that are used, by their documented types. */
#include "gpu/nvml/nvml_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Old drivers, and what stands in for one, lack functions; only those that use them have to do without. */
static const struct {
    const char *name;
    size_t offset;
    bool is_needed;
} symbols[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init), true},
    {"nvmlShutdown", offsetof(struct nvml, shutdown), true},
    {"nvmlErrorString", offsetof(struct nvml, error_string), true},
    {"nvmlDeviceGetCount_v2", offsetof(struct nvml, device_count), true},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, device_by_index), true},
    {"nvmlDeviceGetUUID", offsetof(struct nvml, device_uuid), true},
    {"nvmlDeviceGetName", offsetof(struct nvml, device_name), false},
    {"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, device_memory), false},
    {"nvmlDeviceGetMinorNumber", offsetof(struct nvml, device_minor), false},
    {"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct nvml, device_processes), false},
    {"nvmlSystemGetDriverVersion", offsetof(struct nvml, driver_version), false},
};

const char *nvml_why(const struct nvml *nvml, int code)
{
    const char *text = code == FUNCTION_MISSING ? "the driver is too old" : nvml->error_string(code);

    return text ? text : "the driver gives no reason";
}

static int load(struct nvml *nvml, const char *library, struct err *err)
{
    unsigned int count = 0;

    nvml->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        return err_set(err, -ENODEV, "no NVIDIA driver found: %s", dlerror());
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *address = dlsym(nvml->library, symbols[i].name);

        if (!address && symbols[i].is_needed)
            return err_set(err, -EIO, "the NVIDIA driver is too old: %s has no function %s", library, symbols[i].name);
        memcpy((char *)nvml + symbols[i].offset, &address, sizeof address);
    }
    nvml_mig_load(nvml);
    int r = nvml->init();
    if (r != NVML_OK)
        return err_set(err, -EIO, "NVML cannot be initialised: %s", nvml_why(nvml, r));
    r = nvml->device_count(&count);
    if (r != NVML_OK)
        return err_set(err, -EIO, "GPUs cannot be counted: %s", nvml_why(nvml, r));
    nvml->count = count;
    nvml->devices = xcalloc(MAX(count, 1u), sizeof *nvml->devices);
    if (!nvml->driver_version || nvml->driver_version(nvml->version, sizeof nvml->version) != NVML_OK)
        nvml->version[0] = '\0';
    return 0;
}

int nvml_open(const char *library, struct nvml **ret_nvml, struct err *err)
{
    struct nvml *nvml = xcalloc(1, sizeof *nvml);
    int r = load(nvml, library, err);

    if (r < 0) {
        if (nvml->library)
            (void)dlclose(nvml->library);
        free(nvml);
        return r;
    }
    *ret_nvml = nvml;
    return 0;
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml)
        return;
    (void)nvml->shutdown();
    (void)dlclose(nvml->library);
    free(nvml->devices);
    free(nvml);
}

uint32_t nvml_gpu_count(const struct nvml *nvml)
{
    return nvml->count;
}

const char *nvml_driver_version(const struct nvml *nvml)
{
    return nvml->version;
}

int nvml_find_device(struct nvml *nvml, uint32_t index, void **ret_device)
{
    int r = NVML_OK;

    if (index >= nvml->count)
        return NVML_INVALID_ARGUMENT;
    if (!nvml->devices[index])
        r = nvml->device_by_index(index, &nvml->devices[index]);
    if (r != NVML_OK)
        nvml->devices[index] = NULL;
    *ret_device = nvml->devices[index];
    return r;
}

static int failed(struct nvml *nvml, uint32_t index, int r, struct err *err)
{
    if (index < nvml->count)
        nvml->devices[index] = NULL;
    return err_set(err, -EIO, "GPU %u: %s", index, nvml_why(nvml, r));
}

void nvml_clean(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            *text = '?';
    }
}

bool nvml_has(const struct nvml *nvml, const char *function)
{
    return dlsym(nvml->library, function) != NULL;
}

int nvml_uuid(struct nvml *nvml, uint32_t index, char uuid[static NVML_UUID_SIZE], struct err *err)
{
    void *device = NULL;
    int r = nvml_find_device(nvml, index, &device);

    if (r != NVML_OK)
        return failed(nvml, index, r, err);
    r = nvml->device_uuid(device, uuid, NVML_UUID_SIZE);
    if (r != NVML_OK)
        return err_wrap(err, failed(nvml, index, r, err), "the UUID is unknown");
    nvml_clean(uuid, NVML_UUID_SIZE);
    return uuid[0] ? 0 : err_set(err, -EIO, "GPU %u has an empty UUID", index);
}

static int32_t minor_of(const struct nvml *nvml, void *device)
{
    unsigned int minor = 0;

    if (!nvml->device_minor || nvml->device_minor(device, &minor) != NVML_OK || minor > INT32_MAX)
        return -1;
    return (int32_t)minor;
}

int nvml_gpu(struct nvml *nvml, uint32_t index, struct nvml_gpu *ret_gpu, struct err *err)
{
    struct memory_info memory = {0};
    struct nvml_gpu gpu = {0};
    void *device = NULL;
    int r = nvml_find_device(nvml, index, &device);

    if (r == NVML_OK)
        r = nvml->device_uuid(device, gpu.uuid, sizeof gpu.uuid);
    if (r == NVML_OK)
        r = nvml->device_name ? nvml->device_name(device, gpu.name, sizeof gpu.name) : FUNCTION_MISSING;
    if (r == NVML_OK)
        r = nvml->device_memory ? nvml->device_memory(device, &memory) : FUNCTION_MISSING;
    if (r != NVML_OK)
        return failed(nvml, index, r, err);
    nvml_clean(gpu.uuid, sizeof gpu.uuid);
    nvml_clean(gpu.name, sizeof gpu.name);
    gpu.total_bytes = memory.total;
    gpu.used_bytes = memory.used;
    gpu.minor = minor_of(nvml, device);
    *ret_gpu = gpu;
    return 0;
}

int nvml_used(struct nvml *nvml, uint32_t index, uint64_t *ret_bytes, struct err *err)
{
    struct memory_info memory = {0};
    void *device = NULL;
    int r = nvml_find_device(nvml, index, &device);

    if (r == NVML_OK)
        r = nvml->device_memory ? nvml->device_memory(device, &memory) : FUNCTION_MISSING;
    if (r != NVML_OK)
        return failed(nvml, index, r, err);
    *ret_bytes = memory.used;
    return 0;
}

int nvml_processes(struct nvml *nvml, uint32_t index, struct nvml_use uses[static NVML_PROCESSES_MAX])
{
    struct process_info list[NVML_PROCESSES_MAX];
    unsigned int count = NVML_PROCESSES_MAX;
    void *device = NULL;
    int r = nvml_find_device(nvml, index, &device);

    if (r == NVML_OK)
        r = nvml->device_processes ? nvml->device_processes(device, &count, list) : FUNCTION_MISSING;
    if (r != NVML_OK || count > NVML_PROCESSES_MAX)
        return failed(nvml, index, r, NULL);
    for (unsigned int i = 0; i < count; i++)
        uses[i] = (struct nvml_use){.pid = list[i].pid, .instance = list[i].gpu_instance, .bytes = list[i].used};
    return (int)count;
}
