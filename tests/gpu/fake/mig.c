/* SPDX-License-Identifier: Apache-2.0 */
/* The pretended NVML's slices. Profiles and places are those of the GPU that FAKE_GPU_NAME names; what fits is counted
 * here anew, in memory and in processors. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fake_mig.h"
#include "gpu/abi/nvml.h"
#include "gpu/abi/nvml_mig.h"
#include "gpu/mig/models.h"
#include "state.h"

#define FAKE_EXPORT __attribute__((visibility("default")))
#define DECLARE(name, ...)         \
    nvml_result name(__VA_ARGS__); \
    FAKE_EXPORT nvml_result name(__VA_ARGS__)

enum { PROCESSORS = 7, COMPUTE_PROFILES = 8 };

nvml_result nvmlDeviceGetIndex(void *device, unsigned *ret_index);
nvml_result nvmlDeviceGetName(void *device, char *text, unsigned size);

/* Dies at one of the steps, as FAKE_GPU_CRASH says. */
static void count(atomic_long *steps, const char *start)
{
    const char *text = getenv("FAKE_GPU_CRASH");
    size_t len = strlen(start);
    if (text && strncmp(text, start, len) == 0 && atomic_fetch_add(steps, 1) + 1 == strtol(text + len, NULL, 10))
        (void)kill(getpid(), SIGKILL);
}

static void step(void)
{
    static atomic_long steps;
    count(&steps, "step:");
}

/* Before and after a change. */
static void change(void)
{
    static atomic_long changes;
    count(&changes, "change:");
}

/* The lock ends with the process, however that ends. */
static int lock_state(void)
{
    int fd = open(getenv("FAKE_GPU_STATE"), O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX);
    return fd;
}

/* Ends every call. */
static nvml_result done(nvml_result result)
{
    step();
    return result;
}

/* Begins every call about a GPU: its number, or less than 0 with the code to answer. */
static int begin(void *device, const char *name, nvml_result *ret_code)
{
    const char *mode = getenv("FAKE_GPU_MIG");
    unsigned gpu;
    step();
    *ret_code = fake_fault(name);
    if (*ret_code == NVML_SUCCESS && (!mode || !*mode))
        *ret_code = NVML_NOT_SUPPORTED;
    if (*ret_code == NVML_SUCCESS)
        *ret_code = nvmlDeviceGetIndex(device, &gpu);
    return *ret_code == NVML_SUCCESS ? (int)gpu : -1;
}

static bool is_on(void)
{
    return strcmp(getenv("FAKE_GPU_MIG"), "on") == 0;
}

static const struct mig_model *model(void)
{
    char name[96];
    (void)nvmlDeviceGetName((void *)(uintptr_t)1, name, sizeof name);
    return mig_model_find(name, fake_state()->bytes);
}

static unsigned long long mib_of(const struct mig_profile *profile)
{
    return (fake_state()->bytes >> 20) / model()->row * profile->size;
}

DECLARE(nvmlDeviceGetMigMode, void *device, unsigned *ret_current, unsigned *ret_pending)
{
    nvml_result code;
    if (begin(device, "nvmlDeviceGetMigMode", &code) < 0)
        return code;
    *ret_current = *ret_pending = is_on() ? NVML_MIG_ON : NVML_MIG_OFF;
    return done(NVML_SUCCESS);
}

DECLARE(nvmlDeviceGetGpuInstanceProfileInfo, void *device, unsigned index, struct nvml_mig_profile_v1 *ret_profile)
{
    nvml_result code;
    if (begin(device, "nvmlDeviceGetGpuInstanceProfileInfo", &code) < 0)
        return code;
    if (!model() || index >= model()->profile_count)
        return done(NVML_NOT_SUPPORTED);
    const struct mig_profile *profile = &model()->profiles[index];
    *ret_profile = (struct nvml_mig_profile_v1){
        .id = profile->id, .slices = profile->slices, .instances = profile->most, .memory_mib = mib_of(profile)};
    return done(NVML_SUCCESS);
}

DECLARE(nvmlDeviceGetGpuInstanceProfileInfoV, void *device, unsigned index, struct nvml_mig_profile_v2 *profile)
{
    nvml_result code;
    if (begin(device, "nvmlDeviceGetGpuInstanceProfileInfoV", &code) < 0)
        return code;
    if (profile->version != NVML_MIG_PROFILE_V2)
        return done(NVML_VERSION_MISMATCH);
    if (!model() || index >= model()->profile_count)
        return done(NVML_NOT_SUPPORTED);
    profile->id = model()->profiles[index].id;
    (void)snprintf(profile->name, sizeof profile->name, "MIG %s", model()->profiles[index].name);
    return done(NVML_SUCCESS);
}

DECLARE(nvmlDeviceGetGpuInstancePossiblePlacements_v2, void *device, unsigned id, struct nvml_mig_extent *places,
        unsigned *count)
{
    const struct mig_profile *profile;
    unsigned found = 0;
    nvml_result code;
    if (begin(device, "nvmlDeviceGetGpuInstancePossiblePlacements_v2", &code) < 0)
        return code;
    profile = mig_model_profile(model(), id);
    for (unsigned start = 0; profile && start < model()->row; start++) {
        if (!(profile->starts >> start & 1))
            continue;
        if (places && found < *count)
            places[found] = (struct nvml_mig_extent){start, profile->size};
        found++;
    }
    *count = found;
    return done(profile ? NVML_SUCCESS : NVML_INVALID_ARGUMENT);
}

DECLARE(nvmlDeviceGetGpuInstances, void *device, unsigned id, void **instances, unsigned *count)
{
    nvml_result code;
    int gpu = begin(device, "nvmlDeviceGetGpuInstances", &code);
    if (gpu < 0)
        return code;
    *count = 0;
    for (unsigned i = 0; i < FAKE_SLICES; i++) {
        if (fake_state()->slices[gpu][i].serial && fake_state()->slices[gpu][i].profile == id)
            instances[(*count)++] = fake_mig_handle(FAKE_MIG_INSTANCE, gpu, i);
    }
    return done(NVML_SUCCESS);
}

DECLARE(nvmlDeviceGetGpuInstanceById, void *device, unsigned id, void **ret_instance)
{
    nvml_result code;
    int gpu = begin(device, "nvmlDeviceGetGpuInstanceById", &code);
    if (gpu < 0)
        return code;
    if (id == 0 || id > FAKE_SLICES || !fake_state()->slices[gpu][id - 1].serial)
        return done(NVML_NOT_FOUND);
    *ret_instance = fake_mig_handle(FAKE_MIG_INSTANCE, gpu, id - 1);
    return done(NVML_SUCCESS);
}

static struct fake_slice *begin_instance(void *instance, int kind, const char *name, int *ret_gpu, unsigned *ret_index,
                                         nvml_result *ret_code)
{
    step();
    *ret_code = fake_fault(name);
    if (*ret_code == NVML_SUCCESS && !fake_mig_of_handle(instance, kind, ret_gpu, ret_index))
        *ret_code = NVML_INVALID_ARGUMENT;
    return *ret_code == NVML_SUCCESS ? &fake_state()->slices[*ret_gpu][*ret_index] : NULL;
}

#define INSTANCE(name, handle, kind)                                                                \
    int gpu;                                                                                        \
    unsigned index;                                                                                 \
    nvml_result code;                                                                               \
    struct fake_slice *slice = begin_instance(handle, FAKE_MIG_##kind, #name, &gpu, &index, &code); \
    if (!slice)                                                                                     \
    return code

DECLARE(nvmlGpuInstanceGetInfo, void *instance, struct nvml_mig_instance_info *ret_info)
{
    INSTANCE(nvmlGpuInstanceGetInfo, instance, INSTANCE);
    *ret_info = (struct nvml_mig_instance_info){.device = (void *)(uintptr_t)(gpu + 1),
                                                .id = index + 1,
                                                .profile = slice->profile,
                                                .place = {slice->start, slice->size}};
    return done(NVML_SUCCESS);
}

/* Memory, processors and the number of the profile's instances, with what is there. */
static bool has_room(int gpu, const struct mig_profile *profile, unsigned start)
{
    unsigned processors = profile->slices, same = 1;
    for (unsigned i = 0; i < FAKE_SLICES; i++) {
        const struct fake_slice *other = &fake_state()->slices[gpu][i];
        if (!other->serial)
            continue;
        if (start < other->start + other->size && other->start < start + profile->size)
            return false;
        processors += other->processors;
        same += other->profile == profile->id;
    }
    return processors <= PROCESSORS && same <= profile->most;
}

DECLARE(nvmlDeviceCreateGpuInstanceWithPlacement, void *device, unsigned id, const struct nvml_mig_extent *place,
        void **ret_instance)
{
    nvml_result code;
    int gpu = begin(device, "nvmlDeviceCreateGpuInstanceWithPlacement", &code);
    const struct mig_profile *profile = gpu < 0 || !is_on() ? NULL : mig_model_profile(model(), id);
    if (gpu < 0)
        return code;
    if (!profile || place->size != profile->size || place->start >= 32 || !(profile->starts >> place->start & 1))
        return done(NVML_INVALID_ARGUMENT);
    change();
    int lock = lock_state();
    unsigned index = 0;
    while (index < FAKE_SLICES && fake_state()->slices[gpu][index].serial)
        index++;
    code = index < FAKE_SLICES && has_room(gpu, profile, place->start) ? NVML_SUCCESS : NVML_INSUFFICIENT_RESOURCES;
    if (code == NVML_SUCCESS) {
        fake_state()->slices[gpu][index] = (struct fake_slice){.serial = ++fake_state()->last_serial,
                                                               .profile = id,
                                                               .start = place->start,
                                                               .size = place->size,
                                                               .processors = profile->slices};
        *ret_instance = fake_mig_handle(FAKE_MIG_INSTANCE, gpu, index);
    }
    close(lock);
    change();
    return done(code);
}

DECLARE(nvmlGpuInstanceDestroy, void *instance)
{
    INSTANCE(nvmlGpuInstanceDestroy, instance, INSTANCE);
    if (slice->compute || fake_mig_is_used(gpu, index))
        return done(NVML_IN_USE);
    change();
    int lock = lock_state();
    *slice = (struct fake_slice){0};
    close(lock);
    change();
    return done(NVML_SUCCESS);
}

/* Index N is of N + 1 slices, where there are as many. */
DECLARE(nvmlGpuInstanceGetComputeInstanceProfileInfo, void *instance, unsigned number, unsigned engines,
        struct nvml_mig_compute_profile *ret_profile)
{
    INSTANCE(nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, INSTANCE);
    if (number >= COMPUTE_PROFILES || number >= slice->processors || engines != NVML_MIG_ENGINES_SHARED)
        return done(NVML_NOT_SUPPORTED);
    *ret_profile = (struct nvml_mig_compute_profile){
        .id = 100 + number, .slices = number + 1, .instances = slice->processors / (number + 1)};
    return done(NVML_SUCCESS);
}

DECLARE(nvmlGpuInstanceGetComputeInstances, void *instance, unsigned id, void **computes, unsigned *count)
{
    INSTANCE(nvmlGpuInstanceGetComputeInstances, instance, INSTANCE);
    *count = slice->compute && id == 99 + slice->processors;
    if (*count)
        computes[0] = fake_mig_handle(FAKE_MIG_COMPUTE, gpu, index);
    return done(NVML_SUCCESS);
}

DECLARE(nvmlGpuInstanceCreateComputeInstance, void *instance, unsigned id, void **ret_compute)
{
    INSTANCE(nvmlGpuInstanceCreateComputeInstance, instance, INSTANCE);
    if (id != 99 + slice->processors)
        return done(NVML_INVALID_ARGUMENT);
    if (slice->compute)
        return done(NVML_INSUFFICIENT_RESOURCES);
    change();
    slice->compute = 1;
    change();
    *ret_compute = fake_mig_handle(FAKE_MIG_COMPUTE, gpu, index);
    return done(NVML_SUCCESS);
}

DECLARE(nvmlComputeInstanceGetInfo_v2, void *compute, struct nvml_mig_compute_info *ret_info)
{
    INSTANCE(nvmlComputeInstanceGetInfo_v2, compute, COMPUTE);
    *ret_info = (struct nvml_mig_compute_info){.device = fake_mig_handle(FAKE_MIG_DEVICE, gpu, index),
                                               .instance = fake_mig_handle(FAKE_MIG_INSTANCE, gpu, index),
                                               .profile = 99 + slice->processors,
                                               .place = {0, slice->processors}};
    return done(NVML_SUCCESS);
}

DECLARE(nvmlComputeInstanceDestroy, void *compute)
{
    INSTANCE(nvmlComputeInstanceDestroy, compute, COMPUTE);
    if (fake_mig_is_used(gpu, index))
        return done(NVML_IN_USE);
    change();
    slice->compute = 0;
    change();
    return done(NVML_SUCCESS);
}
