/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML shows a tenant: of the memory, the same as CUDA does. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu/tenant/tenant.h"

/* "GPU-" and sixteen bytes in hexadecimal, with dashes anywhere between. */
static bool parse_uuid(const char *text, unsigned char uuid[16])
{
    unsigned digits = 0;
    if (strncmp(text, "GPU-", 4) != 0)
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

static bool look(void *device, struct ledger_view *ret_view)
{
    typedef nvml_result get_uuid_fn(void *device, char *text, unsigned size);
    get_uuid_fn *get_uuid = (get_uuid_fn *)driver_find_nvml("nvmlDeviceGetUUID");
    char text[NVML_UUID_SIZE];
    unsigned char uuid[16];
    if (!get_uuid || get_uuid(device, text, sizeof text) != NVML_SUCCESS || !parse_uuid(text, uuid))
        return false;
    int slot = ledger_slot_of(uuid);
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

/* Whether the number means a process that this one can see: in a container NVML shows the node's numbers, and those of
 * other tenants are none of its business. */
static bool is_visible(unsigned pid)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%u", pid);
    return access(path, F_OK) == 0;
}

int on_nvml_processes(nvml_processes_fn *real, void *device, unsigned *count, struct nvml_process *ret_list)
{
    nvml_result result = real(device, count, ret_list);
    unsigned kept = 0;
    if (result != NVML_SUCCESS || !count || !ret_list)
        return result;
    for (unsigned i = 0; i < *count; i++) {
        if (is_visible(ret_list[i].pid))
            ret_list[kept++] = ret_list[i];
    }
    *count = kept;
    return result;
}

int on_nvml_processes_v1(nvml_processes_v1_fn *real, void *device, unsigned *count, struct nvml_process_v1 *ret_list)
{
    nvml_result result = real(device, count, ret_list);
    unsigned kept = 0;
    if (result != NVML_SUCCESS || !count || !ret_list)
        return result;
    for (unsigned i = 0; i < *count; i++) {
        if (is_visible(ret_list[i].pid))
            ret_list[kept++] = ret_list[i];
    }
    *count = kept;
    return result;
}
