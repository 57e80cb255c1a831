/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory by handle. It lives as long as anybody refers to it, by a handle or by a mapping: a program that maps
 * a block and lets go of the handle still holds the memory. So a block counts both, and is given back when neither is
 * left. Memory on the host and memory that another process has exported are not ours to charge. */
#include "gpu/tenant/memory/movable.h"
#include "gpu/tenant/tenant.h"

#include <string.h>

/* Guards the counts in `blocks`; the tables have locks of their own. */
static struct lock lock;
static uint64_t last_block;

static struct table handles;   // handle: owner is the block
static struct table mappings;  // address: owner is the block, bytes are the mapping's
static struct table blocks;    // number: bytes as charged; owner counts handles, extra counts mappings

void vmm_forget(void)
{
    memset(&lock, 0, sizeof lock);
    table_forget(&handles);
    table_forget(&mappings);
    table_forget(&blocks);
}

static void add_block(const struct entry *block, void *context)
{
    *(uint64_t *)context += block->bytes;
}

uint64_t vmm_bytes(void)
{
    uint64_t sum = 0;
    table_each(&blocks, add_block, &sum);
    return sum;
}

/* Changes the counts of a block, and gives its memory back when none is left. */
static void refer(uint64_t number, int by_handles, int by_mappings)
{
    struct entry block;
    lock_take(&lock);
    bool is_known = table_take(&blocks, number, &block);
    bool is_over = false;
    if (is_known) {
        block.owner += (uint64_t)by_handles;
        block.extra += (uint32_t)by_mappings;
        is_over = block.owner == 0 && block.extra == 0;
        if (!is_over)
            (void)table_put(&blocks, &block);
    }
    lock_give(&lock);
    if (is_over)
        ledger_release(block.slot, LEDGER_PLAIN, block.bytes);
}

static uint64_t new_block(const struct charge *charge)
{
    lock_take(&lock);
    struct entry block = {.key = ++last_block, .bytes = charge->bytes, .slot = charge->slot, .owner = 1};
    (void)table_put(&blocks, &block);
    lock_give(&lock);
    return block.key;
}

int on_vmm_create(vmm_create_fn *real, cu_handle *ret_handle, size_t bytes, const struct cu_allocation_prop *prop,
                  unsigned long long flags)
{
    struct charge charge;
    int slot = ret_handle && prop ? tenant_location_slot(&prop->location, prop->type) : -1;
    if (!charge_begin(&charge, slot, bytes))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(ret_handle, bytes, prop, flags);
    if (charge.slot < 0 || !ret_handle)
        return result;
    if (result != CU_SUCCESS) {
        ledger_release(charge.slot, LEDGER_PLAIN, charge.bytes);
        return result;
    }
    struct entry handle = {.key = *ret_handle, .owner = new_block(&charge), .extra = 1};
    (void)table_put(&handles, &handle);
    return result;
}

/* The handle goes before the driver can give the same number to another thread. `extra` counts how often the program
 * holds it. */
int on_vmm_release(vmm_release_fn *real, cu_handle number)
{
    struct entry handle;
    lock_take(&lock);
    bool is_ours = table_take(&handles, number, &handle);
    if (is_ours && --handle.extra > 0)
        (void)table_put(&handles, &handle);
    lock_give(&lock);

    cu_result result = real(number);
    if (!is_ours)
        return result;
    if (result == CU_SUCCESS) {
        refer(handle.owner, -1, 0);
        return result;
    }
    lock_take(&lock);
    struct entry now = {.key = number, .owner = handle.owner};
    (void)table_get(&handles, number, &now);
    now.extra++;
    (void)table_put(&handles, &now);
    lock_give(&lock);
    return result;
}

struct range {
    uint64_t begin, bytes;
    struct entry found;     // that contains `begin`
    struct table *removed;  // those that begin in it go here
    bool has_changed;
};

static void find_around(const struct entry *mapping, void *context)
{
    struct range *range = context;
    if (range->begin - mapping->key < mapping->bytes)
        range->found = *mapping;
}

/* The mapping at an address, which may lie in the middle of it. */
static bool mapping_at(uint64_t address, struct entry *ret_mapping)
{
    struct range range = {.begin = address};
    if (table_get(&mappings, address, ret_mapping))
        return true;
    table_each(&mappings, find_around, &range);
    *ret_mapping = range.found;
    return range.found.key != 0;
}

/* The process holds one handle more, if it is of memory that is charged here: by its number, or by a mapping at `address`
 * (NULL: none) where all numbers of that memory have been released. */
static void hold_again(cu_handle number, const void *address)
{
    struct entry handle = {.key = number};
    struct entry mapping;
    lock_take(&lock);
    bool is_ours = table_get(&handles, number, &handle);
    if (!is_ours && address && mapping_at((uint64_t)(uintptr_t)address, &mapping)) {
        handle.owner = mapping.owner;
        is_ours = true;
    }
    if (is_ours) {
        handle.extra++;
        (void)table_put(&handles, &handle);
    }
    lock_give(&lock);
    if (is_ours)
        refer(handle.owner, +1, 0);
}

/* Memory of a plain allocation has no handle that anybody could get hold of, also where it is mapped by us. */
int on_vmm_retain(vmm_retain_fn *real, cu_handle *ret_handle, void *address)
{
    if (movable_contains((uint64_t)(uintptr_t)address, false))
        return CU_INVALID_VALUE;
    cu_result result = real(ret_handle, address);
    if (result == CU_SUCCESS && ret_handle)
        hold_again(*ret_handle, address);
    return result;
}

/* Memory of another process is charged there. But a process may also take back what it has exported itself: then it
 * holds one handle twice. */
int on_vmm_import(vmm_import_fn *real, cu_handle *ret_handle, void *from, int type)
{
    cu_result result = real(ret_handle, from, type);
    if (result == CU_SUCCESS && ret_handle)
        hold_again(*ret_handle, NULL);
    return result;
}

int on_vmm_map(vmm_map_fn *real, cu_address address, size_t bytes, size_t offset, cu_handle number,
               unsigned long long flags)
{
    struct entry handle;
    bool is_ours = table_get(&handles, number, &handle);
    if (is_ours)
        refer(handle.owner, 0, +1);
    cu_result result = real(address, bytes, offset, number, flags);
    if (is_ours && result != CU_SUCCESS) {
        refer(handle.owner, 0, -1);
    } else if (is_ours) {
        struct entry mapping = {.key = address, .bytes = bytes, .owner = handle.owner};
        (void)table_put(&mappings, &mapping);
    }
    return result;
}

static void remove_inside(const struct entry *mapping, void *context)
{
    struct range *range = context;
    struct entry taken;
    if (mapping->key - range->begin >= range->bytes || !table_take(&mappings, mapping->key, &taken))
        return;
    (void)table_put(range->removed, &taken);
    range->has_changed = true;
}

/* Those of foreign memory are not in the table, so the walk goes by the granularity where it finds nothing; unless all that
 * are in the table are fewer steps, whatever size the program has made up. Their order changes when one goes. */
static void remove_mappings(uint64_t address, uint64_t bytes, struct table *removed)
{
    const uint64_t step = UINT64_C(2) << 20;
    if (bytes / step > table_count(&mappings)) {
        struct range range = {.begin = address, .bytes = bytes, .removed = removed};
        do {
            range.has_changed = false;
            table_each(&mappings, remove_inside, &range);
        } while (range.has_changed);
        return;
    }
    for (uint64_t at = address; at - address < bytes;) {
        struct entry mapping;
        if (table_take(&mappings, at, &mapping)) {
            (void)table_put(removed, &mapping);
            at += mapping.bytes ? mapping.bytes : step;
        } else {
            at += step;
        }
    }
}

/* One call may remove several mappings that lie side by side. */
int on_vmm_unmap(vmm_unmap_fn *real, cu_address address, size_t bytes)
{
    struct table removed = {0};
    remove_mappings(address, bytes, &removed);
    cu_result result = real(address, bytes);
    struct entry mapping;
    while (table_take_any(&removed, &mapping)) {
        if (result == CU_SUCCESS)
            refer(mapping.owner, 0, -1);
        else
            (void)table_put(&mappings, &mapping);
    }
    table_forget(&removed);
    return result;
}

/* The pieces of a sparse array keep what they are mapped to; which piece lets go of which block is the driver's to know.
 * A block that went into an array stays charged until the process ends. */
int on_vmm_map_array(vmm_map_array_fn *real, struct cu_array_map *pieces, unsigned count, void *stream)
{
    cu_result result = real(pieces, count, stream);
    for (unsigned i = 0; pieces && result == CU_SUCCESS && i < count; i++) {
        struct entry handle;
        if (pieces[i].operation == CU_MAP_OPERATION_MAP && table_get(&handles, pieces[i].handle, &handle))
            refer(handle.owner, 0, +1);
    }
    return result;
}
