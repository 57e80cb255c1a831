/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, as CUDA tells it; and which GPUs there are. */
#include "gpu/tenant/nvml/nvml_view.h"

#include <string.h>

#include "gpu/tenant/link/client.h"
#include "gpu/tenant/tenant.h"

/* "GPU-" and sixteen bytes in hexadecimal, with dashes anywhere between. A slice of a GPU has "MIG-" there. */
static bool parse_uuid(const char *text, unsigned char uuid[16])
{
    unsigned digits = 0;
    if (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0)
        return false;
    for (text += 4; *text && digits < 32; text++) {
        unsigned value;
        if (*text >= '0' && *text <= '9')
            value = (unsigned)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            value = (unsigned)(*text - 'a' + 10);
        else if (*text == '-')
            continue;
        else
            return false;
        uuid[digits / 2] = (unsigned char)(digits % 2 ? uuid[digits / 2] | value : value << 4);
        digits++;
    }
    return digits == 32;
}

bool nvml_is_told(void)
{
    return client_control(0) || client_is_ready();
}

int nvml_slot_of(void *device)
{
    typedef nvml_result get_uuid_fn(void *device, char *text, unsigned size);
    get_uuid_fn *get_uuid = (get_uuid_fn *)driver_find_nvml("nvmlDeviceGetUUID");
    char text[NVML_UUID_SIZE];
    unsigned char uuid[16];
    if (!get_uuid || get_uuid(device, text, sizeof text) != NVML_SUCCESS || !parse_uuid(text, uuid))
        return -1;
    return ledger_slot_of(uuid);
}

static bool look(void *device, struct ledger_view *ret_view)
{
    int slot = nvml_slot_of(device);
    return slot >= 0 && ledger_look(slot, ret_view);
}

int on_nvml_memory(nvml_memory_fn *real, void *device, struct nvml_memory *ret_memory)
{
    nvml_result result = real(device, ret_memory);
    struct ledger_view view;
    if (result == NVML_SUCCESS && ret_memory && look(device, &view)) {
        ret_memory->total = view.total < ret_memory->total ? view.total : ret_memory->total;
        ret_memory->free = view.free < ret_memory->free ? view.free : ret_memory->free;
        ret_memory->used = ret_memory->total - ret_memory->free;
    }
    return result;
}

int on_nvml_memory_v2(nvml_memory_v2_fn *real, void *device, struct nvml_memory_v2 *ret_memory)
{
    nvml_result result = real(device, ret_memory);
    struct ledger_view view;
    if (result == NVML_SUCCESS && ret_memory && look(device, &view)) {
        ret_memory->total = view.total < ret_memory->total ? view.total : ret_memory->total;
        ret_memory->reserved = 0;
        ret_memory->free = view.free < ret_memory->free ? view.free : ret_memory->free;
        ret_memory->used = ret_memory->total - ret_memory->free;
    }
    return result;
}

/* Limits are the node's to set, even for a tenant that is root in its container. */
int on_nvml_set_limits(nvml_set_limits_fn *real, void *device, void *limits)
{
    (void)real;
    (void)device;
    (void)limits;
    return NVML_NO_PERMISSION;
}

/* A slice of a GPU is shown when its GPU is. */
static bool is_shown(void *device)
{
    typedef nvml_result parent_fn(void *device, void **ret_parent);
    parent_fn *get_parent = (parent_fn *)driver_find_nvml("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
    void *parent = NULL;
    int slot = nvml_slot_of(device);
    if (slot == -1 && get_parent && get_parent(device, &parent) == NVML_SUCCESS)
        slot = nvml_slot_of(parent);
    return slot != -1;
}

/* Goes through the GPUs in the driver's order, until one is `wanted` or `nth` have been shown. Returns how many of the
 * shown ones came before it. */
struct walk {
    void *wanted;
    unsigned nth;
    void *found;
};

static nvml_by_index_fn *find_by_index(void)
{
    void *found = driver_real(HOOK_nvmlDeviceGetHandleByIndex_v2);
    return (nvml_by_index_fn *)(found ? found : driver_real(HOOK_nvmlDeviceGetHandleByIndex));
}

static unsigned walk(struct walk *walk)
{
    void *get_count = driver_real(HOOK_nvmlDeviceGetCount_v2);
    get_count = get_count ? get_count : driver_real(HOOK_nvmlDeviceGetCount);
    nvml_by_index_fn *by_index = find_by_index();
    unsigned count = 0, shown = 0;
    walk->found = NULL;
    if (!get_count || !by_index || ((nvml_count_fn *)get_count)(&count) != NVML_SUCCESS)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        void *device = NULL;
        if (by_index(i, &device) != NVML_SUCCESS || !is_shown(device))
            continue;
        if (shown == walk->nth || device == walk->wanted) {
            walk->found = device;
            break;
        }
        shown++;
    }
    return shown;
}

int on_nvml_count(nvml_count_fn *real, unsigned *ret_count)
{
    nvml_result result = real(ret_count);
    struct walk all = {.nth = ~0u};
    if (result == NVML_SUCCESS && ret_count && nvml_is_told())
        *ret_count = walk(&all);
    return result;
}

int on_nvml_by_index(nvml_by_index_fn *real, unsigned index, void **ret_device)
{
    struct walk one = {.nth = index};
    if (!ret_device || !nvml_is_told())
        return real(index, ret_device);
    (void)walk(&one);
    /* The driver says what is wrong: this index, or that nobody has begun. */
    if (!one.found)
        return real(~0u, ret_device);
    *ret_device = one.found;
    return NVML_SUCCESS;
}

/* By UUID, serial number or place on the bus. */
int on_nvml_by_key(nvml_by_key_fn *real, const void *key, void **ret_device)
{
    void *device = NULL;
    if (!ret_device || !nvml_is_told())
        return real(key, ret_device);
    nvml_result result = real(key, &device);
    if (result != NVML_SUCCESS)
        return result;
    if (!is_shown(device))
        return NVML_NOT_FOUND;
    *ret_device = device;
    return result;
}

/* The same number by which it is found. */
int on_nvml_index(nvml_index_fn *real, void *device, unsigned *ret_index)
{
    nvml_result result = real(device, ret_index);
    struct walk one = {.wanted = device, .nth = ~0u};
    if (result == NVML_SUCCESS && ret_index && nvml_is_told()) {
        unsigned before = walk(&one);
        if (one.found)
            *ret_index = before;
    }
    return result;
}
