/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "model/ids.h"

/* A pod to be evicted, as it is before the search. */
struct victim {
    pod_id pod;
    node_id node;
    double freed;  // GPUs that its queue gets back
};

/* Victims that go together: what one step of eviction takes from a gang, or several such steps in one. */
struct victim_group {
    gang_id gang;
    uint32_t count;
    const struct victim *victims;
};

struct victim_groups VEC_OF(struct victim_group);
