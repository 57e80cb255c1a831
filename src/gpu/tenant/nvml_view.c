/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML shows a tenant: of the memory, the same as CUDA does. */
#include <string.h>

#include "gpu/tenant/client.h"
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

/* The list as this tenant may see it: its group's processes, by the numbers that they have here. In a container NVML shows
 * the node's numbers; other tenants are none of its business. */
#define KEEP_OWN(count, list)                                   \
    do {                                                        \
        unsigned kept_ = 0;                                     \
        for (unsigned i_ = 0; i_ < *(count); i_++) {            \
            unsigned own_pid_ = client_own_pid((list)[i_].pid); \
            if (own_pid_ == 0)                                  \
                continue;                                       \
            (list)[kept_] = (list)[i_];                         \
            (list)[kept_++].pid = own_pid_;                     \
        }                                                       \
        *(count) = kept_;                                       \
    } while (0)

int on_nvml_processes(nvml_processes_fn *real, void *device, unsigned *count, struct nvml_process *ret_list)
{
    nvml_result result = real(device, count, ret_list);
    if (result == NVML_SUCCESS && count && ret_list && client_is_ready())
        KEEP_OWN(count, ret_list);
    return result;
}

int on_nvml_processes_v1(nvml_processes_v1_fn *real, void *device, unsigned *count, struct nvml_process_v1 *ret_list)
{
    nvml_result result = real(device, count, ret_list);
    if (result == NVML_SUCCESS && count && ret_list && client_is_ready())
        KEEP_OWN(count, ret_list);
    return result;
}
