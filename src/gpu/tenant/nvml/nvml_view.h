/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What NVML shows a tenant: the GPUs of its group as if there were no others, and of their memory, processes and work
 * what is the group's own. Questions about links and peers between GPUs are the driver's alone. */

#include <stdbool.h>

#include "gpu/abi/nvml.h"

/* The slot of a device, -1 when it is none of the group's, LEDGER_UNKNOWN before the daemon has said. */
int nvml_slot_of(void *device);

/* Whether to show only what is the group's own: not before the daemon has said what that is. */
bool nvml_is_told(void);

/* Sums over the group's own processes in the last second, in percent of the GPU, and when they were sampled. False when
 * this driver cannot tell processes apart. */
struct nvml_own_work {
    unsigned gpu, memory, encoder, decoder;
    unsigned long long time_us;  // 0: no sample
};
bool nvml_look_at_work(void *device, struct nvml_own_work *ret_work);
