/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/time.h"

struct device;
struct group;

/* What is known of one group on one of its GPUs, at one moment. */
struct group_view {
    const struct group *group;
    uint32_t gpu;  // of the group
    const struct device *device;
    uint64_t used, context, credit, limit, request;
    uint64_t wanted;      // bytes that its processes wait for
    double share_actual;  // of the GPU's time since the last look; 0 where nobody measures it
    uint64_t launches, wait_ns, traffic, pinned, killed;
    uint64_t parked;  // bytes of host memory that hold what was on the GPU
    nsec_t busy, overrun, waited;
};

struct group_view group_view_of(const struct group *group, uint32_t gpu, nsec_t now);

/* A look is over: shares are over the time since then, but not less than a second of it. */
void group_view_note_look(struct group *group, nsec_t now);
