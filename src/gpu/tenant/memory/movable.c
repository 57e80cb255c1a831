/* SPDX-License-Identifier: Apache-2.0 */
/* A block is one allocation: addresses that are reserved for it as long as it lives, and physical memory that is mapped
 * there. The handle of the memory is given back at once, so that the mapping alone holds it. */
#include "gpu/tenant/memory/movable.h"

#include <string.h>

#include "gpu/tenant/memory/movable_internal.h"
#include "gpu/tenant/park/park.h"

enum { IS_EXPORTED = 1 };
enum { ACCESS_READ_WRITE = 3 };

static const uint64_t page = UINT64_C(2) << 20;

static struct table blocks;     // address: owner is the context, extra says IS_EXPORTED
static struct table leftovers;  // freed while a capture forbade to wait for the device

void movable_forget(void)
{
    table_forget(&blocks);
    table_forget(&leftovers);
    movable_forget_away();
}

struct table *movable_blocks(void)
{
    return &blocks;
}

bool movable_is_fixed(const struct entry *block)
{
    return block->extra & IS_EXPORTED;
}

cu_result movable_map(const struct entry *block, cu_device device)
{
    vmm_create_fn *create = (vmm_create_fn *)driver_real(HOOK_cuMemCreate);
    vmm_map_fn *map = (vmm_map_fn *)driver_real(HOOK_cuMemMap);
    vmm_release_fn *release = (vmm_release_fn *)driver_real(HOOK_cuMemRelease);
    vmm_unmap_fn *unmap = (vmm_unmap_fn *)driver_real(HOOK_cuMemUnmap);
    const struct driver_calls *driver = driver_calls();
    struct cu_allocation_prop prop = {.type = CU_ALLOCATION_PINNED, .location = {CU_LOCATION_DEVICE, device}};
    struct cu_access access = {.location = {CU_LOCATION_DEVICE, device}, .flags = ACCESS_READ_WRITE};
    cu_handle handle;

    if (!create || !map || !release || !unmap || !driver->set_access)
        return CU_NOT_SUPPORTED;
    cu_result result = create(&handle, block->bytes, &prop, 0);
    if (result != CU_SUCCESS)
        return result;
    result = map(block->key, block->bytes, 0, handle, 0);
    (void)release(handle);
    if (result != CU_SUCCESS)
        return result;
    result = driver->set_access(block->key, block->bytes, &access, 1);
    if (result != CU_SUCCESS)
        (void)unmap(block->key, block->bytes);
    return result;
}

cu_result movable_unmap(const struct entry *block)
{
    vmm_unmap_fn *unmap = (vmm_unmap_fn *)driver_real(HOOK_cuMemUnmap);
    return unmap ? unmap(block->key, block->bytes) : CU_NOT_SUPPORTED;
}

/* The work of one context, in whatever state this thread is. */
static cu_result wait_for_context(uint64_t ctx)
{
    const struct driver_calls *driver = driver_calls();
    sync_stream_fn *synchronize = (sync_stream_fn *)driver_real(HOOK_cuCtxSynchronize);
    void *popped;
    if (!synchronize || !driver->ctx_push || !driver->ctx_pop)
        return CU_NOT_SUPPORTED;
    cu_result result = driver->ctx_push((void *)(uintptr_t)ctx);
    if (result != CU_SUCCESS)
        return result;
    result = synchronize(NULL);
    (void)driver->ctx_pop(&popped);
    return result;
}

/* Gives everything back; what the driver keeps stays charged. */
static void give_back(const struct entry *block)
{
    if (movable_unmap(block) != CU_SUCCESS)
        return;
    if (driver_calls()->address_free)
        (void)driver_calls()->address_free(block->key, block->bytes);
    ledger_release(block->slot, LEDGER_PLAIN, block->bytes);
}

static void sweep_leftovers(void)
{
    struct entry block;
    while (!tenant_may_capture() && table_count(&leftovers) > 0 && table_take_any(&leftovers, &block)) {
        if (wait_for_context(block.owner) == CU_SUCCESS) {
            give_back(&block);
            continue;
        }
        (void)table_put(&leftovers, &block);
        return;
    }
}

/* Small pieces share pages of the driver's; charges of whole pages are those of larger ones. */
bool movable_serve(const struct charge *charge, cu_address *ret_address, cu_result *ret_result)
{
    const struct driver_calls *driver = driver_calls();
    cu_device device;
    if (!park_is_possible() || charge->slot < 0 || charge->others || charge->bytes % page != 0 || !ret_address ||
        !driver->address_reserve || !driver->address_free || driver->ctx_get_device(&device) != CU_SUCCESS)
        return false;
    sweep_leftovers();
    struct entry block = {.bytes = charge->bytes, .owner = charge->owner, .slot = charge->slot};
    if (driver->address_reserve(&block.key, block.bytes, page, 0, 0) != CU_SUCCESS)
        return false;
    *ret_result = movable_map(&block, device);
    if (*ret_result == CU_SUCCESS && table_put(&blocks, &block)) {
        *ret_address = block.key;
        return true;
    }
    if (*ret_result == CU_SUCCESS)
        (void)movable_unmap(&block);
    (void)driver->address_free(block.key, block.bytes);
    if (*ret_result != CU_OUT_OF_MEMORY)
        return false;
    ledger_release(charge->slot, LEDGER_PLAIN, charge->bytes);
    return true;
}

bool movable_free(cu_address address, cu_result *ret_result)
{
    struct entry block;
    if (!table_take(&blocks, address, &block))
        return false;
    sweep_leftovers();
    *ret_result = wait_for_context(block.owner);
    if (*ret_result == CU_SUCCESS) {
        give_back(&block);
    } else if (tenant_may_capture()) {
        (void)table_put(&leftovers, &block);
        *ret_result = CU_SUCCESS;
    } else {
        (void)table_put(&blocks, &block);
    }
    return true;
}

void movable_drop(uint64_t ctx)
{
    struct entry block;
    while (table_take_owned(&blocks, ctx, &block) || table_take_owned(&leftovers, ctx, &block))
        give_back(&block);
}

struct search {
    uint64_t address;
    struct entry found;
};

static void look_inside(const struct entry *block, void *context)
{
    struct search *search = context;
    if (search->address - block->key < block->bytes)
        search->found = *block;
}

bool movable_contains(uint64_t address, bool is_exported)
{
    struct search search = {.address = address};
    if (!park_is_possible())
        return false;
    table_each(&blocks, look_inside, &search);
    if (search.found.key == 0)
        return false;
    if (is_exported && !(search.found.extra & IS_EXPORTED)) {
        search.found.extra |= IS_EXPORTED;
        (void)table_put(&blocks, &search.found);
    }
    return true;
}

static void add_block(const struct entry *block, void *context)
{
    struct movable_sums *sums = context;
    *(movable_is_fixed(block) ? &sums->exported : &sums->movable) += block->bytes;
}

struct movable_sums movable_sum(void)
{
    struct movable_sums sums = {0};
    table_each(&blocks, add_block, &sums);
    return sums;
}
