/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/shapes/labels.h"

/* A PersistentVolumeClaim, as far as placement needs it. */
struct volume {
    name_id name;
    name_id namespace;
    bool is_present;
    bool is_bound;
    bool is_lost;
    bool waits_for_consumer;
    const struct selector *node_terms;  // of the volume, or those it may get, in state->kept; none: every node
    uint32_t node_term_count;
};
