/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/nvml/mig.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "gpu/nvml/nvml_internal.h"

enum { NVML_NOT_SUPPORTED_CODE = 3, NVML_NOT_FOUND_CODE = 6, NVML_IN_USE_CODE = 19, NVML_NO_ROOM_CODE = 23 };
enum { COMPUTE_INDEX_MAX = 16, COMPUTES_MAX = 32 };

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"nvmlDeviceGetMigMode", offsetof(struct nvml_mig_functions, mode)},
    {"nvmlDeviceGetGpuInstanceProfileInfo", offsetof(struct nvml_mig_functions, profile)},
    {"nvmlDeviceGetGpuInstanceProfileInfoV", offsetof(struct nvml_mig_functions, profile_named)},
    {"nvmlDeviceGetGpuInstancePossiblePlacements_v2", offsetof(struct nvml_mig_functions, places)},
    {"nvmlDeviceGetGpuInstances", offsetof(struct nvml_mig_functions, instances)},
    {"nvmlDeviceGetGpuInstanceById", offsetof(struct nvml_mig_functions, instance_by_id)},
    {"nvmlGpuInstanceGetInfo", offsetof(struct nvml_mig_functions, instance_info)},
    {"nvmlDeviceCreateGpuInstanceWithPlacement", offsetof(struct nvml_mig_functions, create)},
    {"nvmlGpuInstanceDestroy", offsetof(struct nvml_mig_functions, destroy)},
    {"nvmlGpuInstanceGetComputeInstanceProfileInfo", offsetof(struct nvml_mig_functions, compute_profile)},
    {"nvmlGpuInstanceGetComputeInstances", offsetof(struct nvml_mig_functions, compute_instances)},
    {"nvmlComputeInstanceGetInfo_v2", offsetof(struct nvml_mig_functions, compute_info)},
    {"nvmlGpuInstanceCreateComputeInstance", offsetof(struct nvml_mig_functions, create_compute)},
    {"nvmlComputeInstanceDestroy", offsetof(struct nvml_mig_functions, destroy_compute)},
};

void nvml_mig_load(struct nvml *nvml)
{
    bool has_all = true;

    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *address = dlsym(nvml->library, symbols[i].name);

        memcpy((char *)&nvml->mig + symbols[i].offset, &address, sizeof address);
        /* Names and places can be had from elsewhere. */
        has_all &= address || symbols[i].offset == offsetof(struct nvml_mig_functions, profile_named) ||
                   symbols[i].offset == offsetof(struct nvml_mig_functions, places);
    }
    /* Half of an interface is none: what could be made and not be found again would be lost. */
    if (!has_all)
        nvml->mig = (struct nvml_mig_functions){0};
}

static int failed(const struct nvml *nvml, int r, const char *what, struct err *err)
{
    int code = r == NVML_NO_ROOM_CODE                                  ? -ENOSPC
               : r == NVML_IN_USE_CODE                                 ? -EBUSY
               : r == NVML_NOT_SUPPORTED_CODE || r == FUNCTION_MISSING ? -ENOTSUP
                                                                       : -EIO;

    return err_set(err, code, "%s: %s", what, nvml_why(nvml, r));
}

/* The device, where the driver has the functions. */
static int find(struct nvml *nvml, uint32_t index, void **ret_device)
{
    return nvml->mig.mode ? nvml_find_device(nvml, index, ret_device) : FUNCTION_MISSING;
}

int nvml_mig_is_on(struct nvml *nvml, uint32_t index, bool *ret_is_on, struct err *err)
{
    unsigned current = NVML_MIG_OFF, pending = NVML_MIG_OFF;
    void *device = NULL;
    int r = find(nvml, index, &device);

    if (r == NVML_OK)
        r = nvml->mig.mode(device, &current, &pending);
    if (r != NVML_OK)
        return failed(nvml, r, "the MIG mode is unknown", err);
    *ret_is_on = current == NVML_MIG_ON;
    return 0;
}

/* "MIG 1g.10gb" as people write it. */
static void take_name(struct nvml_mig_profile *profile, char *name, size_t size)
{
    static const char prefix[] = "MIG ";

    nvml_clean(name, size);
    if (strncmp(name, prefix, strlen(prefix)) == 0)
        name += strlen(prefix);
    (void)snprintf(profile->name, sizeof profile->name, "%.31s", name);
}

static int get_profile(const struct nvml *nvml, void *device, uint32_t number, struct nvml_mig_profile *ret_profile)
{
    struct nvml_mig_profile_v2 named = {.version = NVML_MIG_PROFILE_V2};
    struct nvml_mig_profile_v1 plain = {0};
    int r = nvml->mig.profile(device, number, &plain);

    if (r != NVML_OK)
        return r;
    *ret_profile = (struct nvml_mig_profile){.id = plain.id,
                                             .slices = plain.slices,
                                             .most = plain.instances,
                                             .bytes = (uint64_t)(uint32_t)plain.memory_mib << 20};
    if (nvml->mig.profile_named && nvml->mig.profile_named(device, number, &named) == NVML_OK && named.id == plain.id)
        take_name(ret_profile, named.name, sizeof named.name);
    return NVML_OK;
}

int nvml_mig_profiles(struct nvml *nvml, uint32_t index, struct nvml_mig_profile profiles[static NVML_MIG_PROFILES_MAX],
                      struct err *err)
{
    void *device = NULL;
    int count = 0;
    int r = find(nvml, index, &device);

    if (r != NVML_OK)
        return failed(nvml, r, "the MIG profiles are unknown", err);
    /* Indexes that this GPU does not have are refused, with one code or another. */
    for (uint32_t i = 0; i < NVML_MIG_INDEX_MAX && count < NVML_MIG_PROFILES_MAX; i++) {
        if (get_profile(nvml, device, i, &profiles[count]) == NVML_OK && profiles[count].most > 0 &&
            profiles[count].most <= NVML_MIG_INSTANCES_MAX)
            count++;
    }
    return count;
}

int nvml_mig_places(struct nvml *nvml, uint32_t index, uint32_t profile,
                    struct nvml_mig_place places[static NVML_MIG_PLACES_MAX], struct err *err)
{
    struct nvml_mig_extent found[NVML_MIG_PLACES_MAX];
    unsigned count = 0;
    void *device = NULL;
    int r = find(nvml, index, &device);

    if (r == NVML_OK && !nvml->mig.places)
        r = FUNCTION_MISSING;
    if (r == NVML_OK)
        r = nvml->mig.places(device, profile, NULL, &count);
    if (r == NVML_OK && count > ARRAY_LEN(found))
        return err_set(err, -EIO, "the driver names %u places for MIG profile %u", count, profile);
    if (r == NVML_OK && count > 0)
        r = nvml->mig.places(device, profile, found, &count);
    if (r != NVML_OK)
        return failed(nvml, r, "the places of a MIG profile are unknown", err);
    count = MIN(count, (unsigned)ARRAY_LEN(found));
    for (unsigned i = 0; i < count; i++)
        places[i] = (struct nvml_mig_place){.start = found[i].start, .size = found[i].size};
    return (int)count;
}

/* The compute instances in an instance, of whatever profile. */
static int get_computes(const struct nvml *nvml, void *instance, void *computes[static COMPUTES_MAX],
                        unsigned *ret_count)
{
    unsigned all = 0;

    for (uint32_t i = 0; i < COMPUTE_INDEX_MAX; i++) {
        struct nvml_mig_compute_profile profile;
        void *found[COMPUTES_MAX];
        unsigned count = 0;

        if (nvml->mig.compute_profile(instance, i, NVML_MIG_ENGINES_SHARED, &profile) != NVML_OK ||
            profile.instances > COMPUTES_MAX)
            continue;
        int r = nvml->mig.compute_instances(instance, profile.id, found, &count);
        if (r != NVML_OK)
            return r;
        for (unsigned j = 0; j < MIN(count, (unsigned)COMPUTES_MAX) && all < COMPUTES_MAX; j++)
            computes[all++] = found[j];
    }
    *ret_count = all;
    return NVML_OK;
}

/* From the compute instance to its handle: walking over all devices takes seconds on busy machines. */
static int get_uuid(const struct nvml *nvml, void *compute, char uuid[static NVML_UUID_SIZE])
{
    struct nvml_mig_compute_info info = {0};
    int r = nvml->mig.compute_info(compute, &info);

    if (r == NVML_OK)
        r = nvml->device_uuid(info.device, uuid, NVML_UUID_SIZE);
    if (r == NVML_OK)
        nvml_clean(uuid, NVML_UUID_SIZE);
    return r;
}

static int get_instance(const struct nvml *nvml, void *handle, struct nvml_mig_instance *ret_instance)
{
    struct nvml_mig_instance_info info = {0};
    void *computes[COMPUTES_MAX];
    unsigned count = 0;
    int r = nvml->mig.instance_info(handle, &info);

    if (r == NVML_OK)
        r = get_computes(nvml, handle, computes, &count);
    if (r != NVML_OK)
        return r;
    *ret_instance = (struct nvml_mig_instance){
        .id = info.id, .profile = info.profile, .place = {info.place.start, info.place.size}, .has_compute = count > 0};
    return count > 0 ? get_uuid(nvml, computes[0], ret_instance->uuid) : NVML_OK;
}

int nvml_mig_instances(struct nvml *nvml, uint32_t index, uint32_t profile,
                       struct nvml_mig_instance instances[static NVML_MIG_INSTANCES_MAX], struct err *err)
{
    void *handles[NVML_MIG_INSTANCES_MAX];
    unsigned count = 0;
    void *device = NULL;
    int r = find(nvml, index, &device);

    if (r == NVML_OK)
        r = nvml->mig.instances(device, profile, handles, &count);
    count = MIN(count, (unsigned)NVML_MIG_INSTANCES_MAX);
    for (unsigned i = 0; r == NVML_OK && i < count; i++)
        r = get_instance(nvml, handles[i], &instances[i]);
    return r == NVML_OK ? (int)count : failed(nvml, r, "the MIG instances are unknown", err);
}

int nvml_mig_create(struct nvml *nvml, uint32_t index, uint32_t profile, struct nvml_mig_place place, uint32_t *ret_id,
                    struct err *err)
{
    const struct nvml_mig_extent extent = {.start = place.start, .size = place.size};
    struct nvml_mig_instance_info info = {0};
    void *device = NULL, *handle = NULL;
    int r = find(nvml, index, &device);

    if (r == NVML_OK)
        r = nvml->mig.create(device, profile, &extent, &handle);
    if (r != NVML_OK)
        return failed(nvml, r, "a MIG instance cannot be created", err);
    r = nvml->mig.instance_info(handle, &info);
    if (r != NVML_OK) {
        (void)nvml->mig.destroy(handle);
        return failed(nvml, r, "a created MIG instance cannot be read", err);
    }
    *ret_id = info.id;
    return 0;
}

int nvml_mig_create_compute(struct nvml *nvml, uint32_t index, uint32_t id, uint32_t slices,
                            char uuid[static NVML_UUID_SIZE], struct err *err)
{
    struct nvml_mig_compute_profile profile = {0};
    void *device = NULL, *instance = NULL, *compute = NULL;
    int r = find(nvml, index, &device);
    bool is_found = false;

    if (r == NVML_OK)
        r = nvml->mig.instance_by_id(device, id, &instance);
    for (uint32_t i = 0; r == NVML_OK && i < COMPUTE_INDEX_MAX && !is_found; i++)
        is_found = nvml->mig.compute_profile(instance, i, NVML_MIG_ENGINES_SHARED, &profile) == NVML_OK &&
                   profile.slices == slices;
    if (r == NVML_OK && !is_found)
        return err_set(err, -EIO, "MIG instance %u has no compute profile with all of its %u slices", id, slices);
    if (r == NVML_OK)
        r = nvml->mig.create_compute(instance, profile.id, &compute);
    if (r == NVML_OK)
        r = get_uuid(nvml, compute, uuid);
    return r == NVML_OK ? 0 : failed(nvml, r, "a MIG compute instance cannot be created", err);
}

int nvml_mig_destroy(struct nvml *nvml, uint32_t index, uint32_t id, struct err *err)
{
    void *computes[COMPUTES_MAX];
    unsigned count = 0;
    void *device = NULL, *instance = NULL;
    int r = find(nvml, index, &device);

    if (r == NVML_OK)
        r = nvml->mig.instance_by_id(device, id, &instance);
    if (r == NVML_NOT_FOUND_CODE)
        return 0;
    if (r == NVML_OK)
        r = get_computes(nvml, instance, computes, &count);
    for (unsigned i = 0; r == NVML_OK && i < count; i++)
        r = nvml->mig.destroy_compute(computes[i]);
    if (r == NVML_OK)
        r = nvml->mig.destroy(instance);
    return r == NVML_OK ? 0 : failed(nvml, r, "a MIG instance cannot be removed", err);
}
