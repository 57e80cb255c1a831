/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reservation/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"

/* The part of NVML's interface that is used; its codes are 0 for success. */
typedef struct nvml_device *nvml_device;

struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, nvml_device *device);
    int (*uuid)(nvml_device device, char *uuid, unsigned length);
    const char *(*error)(int code);
};

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init)},
    {"nvmlShutdown", offsetof(struct nvml, shutdown)},
    {"nvmlDeviceGetCount_v2", offsetof(struct nvml, count)},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, handle)},
    {"nvmlDeviceGetUUID", offsetof(struct nvml, uuid)},
    {"nvmlErrorString", offsetof(struct nvml, error)},
};

static int load(void *library, const char *path, struct nvml *nvml, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        void *symbol = dlsym(library, functions[i].name);

        if (!symbol)
            return err_set(err, -ENOENT, "%s has no function %s: the driver is too old", path, functions[i].name);
        memcpy((char *)nvml + functions[i].offset, &symbol, sizeof symbol);
    }
    return 0;
}

static int fail(const struct nvml *nvml, int code, const char *what, struct err *err)
{
    const char *text = nvml->error(code);

    return err_set(err, -EIO, "%s: %s", what, text ? text : "the driver does not say why");
}

static int ask(const struct nvml *nvml, char *uuid, struct err *err)
{
    unsigned count = 0;
    nvml_device device = NULL;
    int code = nvml->count(&count);

    if (code != 0)
        return fail(nvml, code, "GPUs cannot be counted", err);
    if (count == 0)
        return err_set(err, -ENODEV, "no GPU can be seen: the pod has to ask for nvidia.com/gpu: 1");
    if (count > 1)
        return err_set(err, -EEXIST,
                       "%u GPUs can be seen instead of one: the container runtime does not keep GPUs apart", count);
    code = nvml->handle(0, &device);
    if (code != 0)
        return fail(nvml, code, "the GPU cannot be looked at", err);
    code = nvml->uuid(device, uuid, GPU_UUID_MAX);
    if (code != 0)
        return fail(nvml, code, "the GPU does not tell its UUID", err);
    uuid[GPU_UUID_MAX - 1] = '\0';
    return uuid[0] ? 0 : err_set(err, -EIO, "the GPU has an empty UUID");
}

int nvml_only_gpu(const char *library, char uuid[static GPU_UUID_MAX], struct err *err)
{
    struct nvml nvml = {0};
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        return err_set(err, -ENOENT, "NVIDIA's management library cannot be opened: %s", dlerror());
    int r = load(handle, library, &nvml, err);
    if (r == 0) {
        BUG_ON(!nvml.init || !nvml.shutdown);
        int code = nvml.init();

        if (code == 0) {
            r = ask(&nvml, uuid, err);
            (void)nvml.shutdown();
        } else {
            r = fail(&nvml, code, "NVIDIA's management library cannot be started", err);
        }
    }
    (void)dlclose(handle);
    return r;
}
