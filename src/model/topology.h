/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/ids.h"

enum { TOPOLOGY_LEVELS_MAX = 16 };

/* Levels from the outermost in; each is a node label. Domains are made by the engine from the nodes' labels. */
struct topology {
    name_id name;
    bool is_present;
    uint32_t level_count;
    name_id levels[TOPOLOGY_LEVELS_MAX];
    name_id aliases[TOPOLOGY_LEVELS_MAX];  // 0: none
};
