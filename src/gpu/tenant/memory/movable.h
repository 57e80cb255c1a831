/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Memory that can leave the GPU while its addresses stay: where the group can be parked, larger allocations are made of
 * physical memory that we map ourselves. The program sees no difference but that the older way to share memory with
 * another process (cuIpcGetMemHandle) refuses it, as it refuses all mapped memory. Whatever cannot be served in this way is
 * left to the driver and stays where it is. */

#include <stdbool.h>
#include <stdint.h>

#include "gpu/tenant/tenant.h"

/* Serves an allocation that has been charged, and settles the charge. False: the driver has to serve it. */
bool movable_serve(const struct charge *charge, cu_address *ret_address, cu_result *ret_result);

/* Frees what was served here; false when it was not. As with cuMemFree, all work of its context ends first. */
bool movable_free(cu_address address, cu_result *ret_result);

/* A context is gone, and all that was allocated in it with it. */
void movable_drop(uint64_t ctx);

/* Whether an address lies in such memory; with `is_exported` it stays on the GPU from now on. */
bool movable_contains(uint64_t address, bool is_exported);

/* How much there is. */
struct movable_sums {
    uint64_t movable, exported;
};
struct movable_sums movable_sum(void);

/* How long the steps of a move took. */
struct movable_times {
    uint32_t host_us;   // host memory mapped, or given back
    uint32_t copy_us;   // copies
    uint32_t clear_us;  // GPU memory cleared
    uint32_t map_us;    // GPU memory given back, or taken and mapped
};

/* With all calls stopped and all work ended: copies everything into the file, clears it and takes it off the GPU. All of it
 * goes or nothing. Returns how much has gone, and adds its times. The file is this function's. */
uint64_t movable_move_out(int file, uint64_t bytes, struct movable_times *ret_times);

/* Brings everything back to its addresses; `bytes` is what the account has reserved for that. Returns how much is still
 * away: 0, or all of it when the driver has not enough memory. After 0 the program may go on; the host memory is still to be
 * given back, by movable_release_host(). */
uint64_t movable_move_in(uint64_t bytes, struct movable_times *ret_times);
void movable_release_host(struct movable_times *ret_times);

/* What is away now. */
uint64_t movable_away(void);
